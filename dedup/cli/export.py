"""`dedup export JOB`: unique pages and duplicate records as JSON Lines."""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.progress import track

from dedup.cli.console import ERRORS
from dedup.files import create_text
from dedup.store import SqliteStore


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("export", help="a job's unique pages and its duplicates")
    parser.add_argument("job", type=Path, metavar="JOB", help="the job's folder")
    parser.add_argument(
        "-o",
        dest="pages",
        type=Path,
        metavar="PAGES",
        help="where the pages go, .jsonl, .jsonl.gz or .jsonl.zst (default: JOB/pages.jsonl)",
    )
    parser.add_argument(
        "-d",
        dest="duplicates",
        type=Path,
        metavar="DUPLICATES",
        help="where the duplicate records go (default: JOB/duplicates.jsonl)",
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    # Without -o and -d both go to the job's folder; with one of them, only that one is written.
    is_default = options.pages is None and options.duplicates is None
    pages = options.job / "pages.jsonl" if is_default else options.pages
    duplicates = options.job / "duplicates.jsonl" if is_default else options.duplicates
    for path in filter(None, (pages, duplicates)):
        _check_ending(path)
    store = SqliteStore(options.job / "crawl.sqlite", read_only=True)
    try:
        if pages is not None:
            _write(pages, store.pages(), "pages", store.count("pages"))
        if duplicates is not None:
            _write(duplicates, store.duplicates(), "duplicates", store.count("duplicates"))
    finally:
        store.close()


def _write(path: Path, rows: Iterable[Mapping[str, Any]], name: str, total: int) -> None:
    count = 0
    with create_text(path) as file:
        for row in track(rows, name, total=total, console=ERRORS, transient=True):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    ERRORS.print(f"{count:,} {name} in {path}")


def _check_ending(path: Path) -> None:
    if not path.name.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
        raise ValueError(f"the file's ending must be .jsonl, .jsonl.gz or .jsonl.zst, got {path}")
