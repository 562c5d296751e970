"""`dedup changes JOB`: what has changed on a job's pages since an earlier visit."""

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table
from rich.text import Text

from dedup.changes import Change, Changes, as_row, moment
from dedup.changes.feeds import atom, markdown
from dedup.cli.arguments import add_job, add_json
from dedup.cli.console import ERRORS, output_console
from dedup.cli.paths import check_paths
from dedup.collection.formats import format_to_write
from dedup.collection.writing.kinds import TIMESTAMP, Kind
from dedup.collection.writing.outputs import check_outputs
from dedup.export.tables import write_table
from dedup.files import replacing
from dedup.store import JobStore, open_store
from dedup.terminal.plain import plain, plain_json
from dedup.times import iso_time

_COLUMNS: Mapping[str, Kind] = {
    **dict.fromkeys(("url", "change"), "string"),
    "seen_at": TIMESTAMP,
    "moved_to": "string",
    "share": "float64",
    "came": ["string"],
    "went": ["string"],
    "note": "string",
}
_FEEDS = (".atom", ".md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the pages of a job that are new, changed, gone, back or moved since an earlier visit."
    )
    add_job(parser)
    parser.add_argument(
        "--since",
        metavar="WHEN",
        help="an ISO 8601 date or time, or the number of a refresh: what it and later ones found"
        " (default: what the last visit found)",
    )
    parser.add_argument(
        "-o",
        dest="path",
        type=Path,
        metavar="FILE",
        help="write to this file: .jsonl, .csv, .md or .atom",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    add_json(parser)


def execute(options: argparse.Namespace) -> None:
    if options.path is not None:
        _check(options)
    with (
        open_store(options.job, read_only=True) as store,
        TemporaryDirectory(prefix="dedup-") as folder,
    ):
        found = Changes(store, moment(store, options.since, name="--since"), Path(folder))
        if options.path is not None:
            _write(options, store, found)
        elif options.json:
            print(plain_json([as_row(each) for each in found.rows()]))
        else:
            _print(found.rows())


def _check(options: argparse.Namespace) -> None:
    """Raise ValueError or OSError if the file cannot be written."""
    if options.json:
        raise ValueError("--json writes to standard output: leave -o out, or name a .jsonl file")
    check_paths({"-o": str(options.path)})
    if options.path.suffix not in _FEEDS and not _is_table(options.path):
        raise ValueError(f"-o must end in .jsonl, .csv, .md or .atom, got {str(options.path)!r}")
    check_outputs({"-o": str(options.path)}, {}, overwrite=options.overwrite)


def _is_table(path: Path) -> bool:
    try:
        return format_to_write(path) != "warc"
    except ValueError:
        return False


def _write(options: argparse.Namespace, store: JobStore, found: Changes) -> None:
    path, counts = options.path, Counter[str]()
    rows = _counted(found.rows(), counts)
    if path.suffix in _FEEDS:
        name = options.job.name if isinstance(options.job, Path) else store.job.rpartition("#")[2]
        updated = found.refreshes[-1].began if found.refreshes else time.time()
        if path.suffix == ".atom":
            lines = atom(rows, name, updated)
        else:
            lines = markdown(rows, name, found.since)
        with replacing(path) as part, part.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in lines)
    else:
        write_table(path, map(as_row, rows), _COLUMNS)
    told = ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items())) or "no change"
    ERRORS.print(f"{told} in {path}")


def _counted(rows: Iterable[Change], counts: Counter[str]) -> Iterator[Change]:
    for row in rows:
        counts[row.change] += 1
        yield row


def _print(rows: Iterable[Change]) -> None:
    table = Table("change", "share", "seen", "URL", "what", box=None)
    for each in rows:
        share = "" if each.share is None else f"{each.share:.1%}"
        signs = [f"+ {line}" for line in each.came[:1]] + [f"- {line}" for line in each.went[:1]]
        moved = f"now {each.moved_to}" if each.moved_to else ""
        what = " ".join(filter(None, [each.note, moved, *signs]))
        cells = each.change, share, iso_time(each.seen_at)[:16], each.url, what
        table.add_row(*(Text(plain(cell)) for cell in cells))
    if table.row_count:
        output_console().print(table)
    else:
        print("no change")
