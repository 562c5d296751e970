"""`dedup stats JOB`: a job's counts."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from dedup.report.table import summary_table
from dedup.store import SqliteStore, summarise


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("stats", help="the counts of a job, running or not")
    parser.add_argument("job", type=Path, metavar="JOB", help="the job's folder")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    store = SqliteStore(options.job / "crawl.sqlite", read_only=True)
    try:
        account = summarise(store.database.connection)
    finally:
        store.close()
    if options.json:
        print(json.dumps(account, ensure_ascii=False, indent=2))
    else:
        Console(highlight=False).print(summary_table(account, options.job))
