"""`dedup copy FOLDER postgresql://…/DATABASE#NAME`: copy a job into PostgreSQL."""

import argparse
from pathlib import Path

from dedup.cli.console import ERRORS
from dedup.errors import StateError
from dedup.extras import require_extra
from dedup.store import SqliteStore, job_exists, store_path
from dedup.store.postgresql import parse_place, without_password


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Copy a job from its folder into PostgreSQL, completely or not at all. The folder is"
        " unchanged; resume with -s DEDUP_STORE=postgresql://…/DATABASE -a job=NAME."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a job that is not in use")
    parser.add_argument("target", metavar="postgresql://…/DATABASE#NAME", help="a new job")


def execute(options: argparse.Namespace) -> None:
    require_extra("psycopg", extra="postgresql", purpose="dedup copy")
    from dedup.store.postgresql.copying import copy_job

    place = parse_place(options.target)
    if not job_exists(options.folder):
        raise StateError(options.folder, "job not found", "Check the name of the job")
    with SqliteStore(store_path(options.folder)) as store, ERRORS.status("Copying the job …"):
        counts = copy_job(store, place)
    rows = (
        f"{counts['pages']:,} pages, {counts['duplicates']:,} duplicates, {counts['urls']:,} URLs"
    )
    ERRORS.print(f"{rows} copied to {without_password(options.target)}", soft_wrap=True)
