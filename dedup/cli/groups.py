"""`dedup groups JOB`: copies on several hosts, and who was first."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from dedup.cli.arguments import add_job, add_json
from dedup.cli.console import ERRORS, output_console
from dedup.cli.targets import check_targets, target, written
from dedup.collection.formats import format_to_write
from dedup.collection.writing.kinds import TIMESTAMP, Kind
from dedup.export.tables import write_table
from dedup.groups.hosts import HostPair, host_pairs
from dedup.groups.listing import Group, groups
from dedup.store import open_store
from dedup.terminal.plain import plain, plain_json
from dedup.times import iso_time

_COPY: Mapping[str, Kind] = {
    "url": "string",
    "host": "string",
    "published": "string",
    "first_seen": TIMESTAMP,
}
_GROUP: Mapping[str, Kind] = {
    "first": "string",
    "basis": "string",
    "grounds": ["string"],
    "n_pages": "int64",
    "pages": [_COPY],
}
_PAIR: Mapping[str, Kind] = {
    **dict.fromkeys(("host", "other"), "string"),
    **dict.fromkeys(("pages", "copied", "first", "unknown"), "int64"),
    "median_days": "float64",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the pages that are on several hosts, and guess which of them was first, by canonical"
        " links, sources that texts name, and declared dates. Each guess has its grounds."
    )
    add_job(parser)
    parser.add_argument(
        "--hosts", action="store_true", help="list pairs of hosts: which seems to copy the other"
    )
    parser.add_argument(
        "-o",
        dest="path",
        type=target,
        metavar="FILE",
        help="write to this file, in a format of `dedup export`: .jsonl, .csv, .parquet, …",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    add_json(parser)


def execute(options: argparse.Namespace) -> None:
    if options.path is not None:
        _check(options)
    with open_store(options.job, read_only=True) as store:
        found = groups(store)
        if options.hosts:
            pairs = host_pairs(found)
            _show(options, (each._asdict() for each in pairs), _PAIR, "pairs of hosts")
            if options.path is None and not options.json:
                _print_pairs(pairs)
        else:
            _show(options, map(_row, found), _GROUP, "groups")
            if options.path is None and not options.json:
                _print_groups(found)


def _check(options: argparse.Namespace) -> None:
    """Raise ValueError or OSError if the file cannot be written."""
    if options.json:
        raise ValueError("--json writes to standard output: leave -o out, or name a .jsonl file")
    if format_to_write(options.path) == "warc":
        raise ValueError(f"-o must be a table such as .jsonl or .csv, got {str(options.path)!r}")
    check_targets({"-o": options.path}, {}, overwrite=options.overwrite)


def _show(
    options: argparse.Namespace,
    rows: Iterable[dict[str, Any]],
    columns: Mapping[str, Kind],
    what: str,
) -> None:
    """Write rows where the options say so."""
    if options.path is not None:
        counted = _Counted(rows)
        with written(options.path) as path:
            write_table(path, counted, columns)
        ERRORS.print(f"{counted.count:,} {what} in {options.path}")
    elif options.json:
        print(plain_json(list(rows)))


class _Counted:
    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Any:
        for row in self._rows:
            self.count += 1
            yield row


def _row(group: Group) -> dict[str, Any]:
    found = group.guess
    return {
        "first": None if found.first is None else found.first.url,
        "basis": found.basis,
        "grounds": found.grounds,
        "n_pages": group.n_pages,
        "pages": [
            {
                "url": each.url,
                "host": each.host,
                "published": each.published,
                "first_seen": iso_time(each.first_seen),
            }
            for each in group.pages
        ],
    }


def _print_groups(found: Iterable[Group]) -> None:
    console = output_console()
    n_groups = 0
    for n_groups, group in enumerate(found, 1):  # noqa: B007 -- it is used below
        first, basis, grounds = group.guess
        what = "unknown" if first is None else f"{first.url} ({basis})"
        lines = [f"{group.n_pages:,} pages; first: {what}"]
        lines += [f"  {each.url}" for each in group.pages[:_SHOWN]]
        if group.n_pages > _SHOWN:
            lines.append(f"  and {group.n_pages - _SHOWN:,} more")
        lines += [f"  - {each}" for each in grounds]
        console.print(*(Text(plain(line)) for line in lines), "", sep="\n")
    if not n_groups:
        print("no page is on several hosts")


_SHOWN = 10


def _print_pairs(pairs: Iterable[HostPair]) -> None:
    table = Table("host", "other host", box=None)
    for name in ("pages", "copied from it", "first here", "unknown", "median days later"):
        table.add_column(name, justify="right")
    for each in pairs:
        days = "" if each.median_days is None else f"{each.median_days:g}"
        counts = (f"{n:,}" for n in (each.pages, each.copied, each.first, each.unknown))
        table.add_row(*(Text(plain(cell)) for cell in (each.host, each.other, *counts, days)))
    if table.row_count:
        output_console().print(table)
    else:
        print("no page is on several hosts")
