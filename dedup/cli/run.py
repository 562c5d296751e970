"""`dedup run IN`: deduplicate a collection that exists already, as a stream."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dedup.cli.console import ERRORS, plain
from dedup.collection import Broken, Row, learn_sites, read_documents
from dedup.deduplicator import Deduplicator
from dedup.document import Document
from dedup.export import check_ending
from dedup.files import create_text
from dedup.store import open_store
from dedup.templates.site import Site

_MAX_BROKEN_SHOWN = 10
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "run", help="deduplicate JSON Lines, Parquet (`id` or `url`, `text` or `html`) or WARC"
    )
    parser.add_argument(
        "input",
        type=Path,
        metavar="IN",
        help=".parquet, .warc or .wet, or JSON Lines; compressed or not",
    )
    parser.add_argument(
        "-o",
        dest="unique",
        type=Path,
        metavar="UNIQUE",
        help="unique documents, .jsonl, .jsonl.gz or .jsonl.zst",
    )
    parser.add_argument(
        "-d", dest="duplicates", type=Path, metavar="DUPLICATES", help="what was dropped, and why"
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    for path in filter(None, (options.unique, options.duplicates)):
        check_ending(path, _ENDINGS)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="dedup-"))
        store = open_store(folder, keep_bodies=False, group_seconds=60)
        stack.callback(store.close)
        unique = stack.enter_context(create_text(options.unique)) if options.unique else None
        dropped = (
            stack.enter_context(create_text(options.duplicates)) if options.duplicates else None
        )
        deduplicator = Deduplicator(store=store)
        counts = {"unique": 0, "duplicates": 0}
        sites = _learn_sites(options.input)
        pairs, documents = _tee(_documents(options.input, sites, counts))
        for (row, document), verdict in zip(
            pairs, deduplicator.process_many(documents), strict=True
        ):
            if verdict.match is None:
                counts["unique"] += 1
                if unique is not None:
                    unique.write(_json_line(row))
            else:
                counts["duplicates"] += 1
                if dropped is not None:
                    original = store.document(verdict.match.original)
                    record = {
                        "id": document.id,
                        "url": document.url,
                        "duplicate_of": original.id,
                        "duplicate_of_url": original.url,
                        "stage": verdict.match.stage,
                        "distance": verdict.match.distance,
                        "resemblance": verdict.match.resemblance,
                        "first_seen": None,
                    }
                    dropped.write(_json_line(record))
    ERRORS.print(", ".join(f"{count:,} {name}" for name, count in counts.items()))


def _tee(
    pairs: Iterable[tuple[Row, Document]],
) -> tuple[Iterator[tuple[Row, Document]], Iterator[Document]]:
    """The pairs, and their documents alone; kept are those that only one has read."""
    first, second = tee(pairs)
    return first, (document for _, document in second)


def _learn_sites(path: Path) -> dict[str, Site]:
    """The templates of the collection's hosts; none where the input can be read only once."""
    if not path.is_file():
        return {}
    with _progress() as progress:
        progress.add_task(f"{path.name}: templates", total=None)
        return learn_sites(path)


def _documents(
    path: Path, sites: Mapping[str, Site], counts: dict[str, int]
) -> Iterator[tuple[Row, Document]]:
    """(row, document) of each; broken rows are reported, counted and passed over."""
    with _progress() as progress:
        task = progress.add_task(path.name, total=None)
        for found in read_documents(path, sites):
            progress.advance(task)
            if not isinstance(found, Broken):
                yield found
                continue
            counts["broken rows"] = counts.get("broken rows", 0) + 1
            if counts["broken rows"] <= _MAX_BROKEN_SHOWN:
                progress.console.print(plain(f"{path}, {found.place}: {found.reason}"))


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=ERRORS,
        transient=True,
        disable=not ERRORS.is_terminal,
    )


def _json_line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, default=str) + "\n"
