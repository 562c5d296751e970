"""`dedup run IN`: deduplicate a collection that exists already, as a stream."""

import argparse
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dedup.cli.console import ERRORS
from dedup.deduplicator import Deduplicator
from dedup.document import Document
from dedup.files import create_text, open_text
from dedup.html import extract_text, parse_page
from dedup.store import SqliteStore

_MAX_BAD_LINES_SHOWN = 10


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "run", help="deduplicate JSON Lines (`id` or `url`, `text` or `html`)"
    )
    parser.add_argument(
        "input", type=Path, metavar="IN", help=".jsonl, plain or compressed by gzip or zstd"
    )
    parser.add_argument("-o", dest="unique", type=Path, metavar="UNIQUE", help="unique documents")
    parser.add_argument(
        "-d", dest="duplicates", type=Path, metavar="DUPLICATES", help="what was dropped, and why"
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="dedup-"))
        store = SqliteStore(Path(folder) / "run.sqlite", keep_bodies=False, group_seconds=60)
        stack.callback(store.close)
        unique = stack.enter_context(create_text(options.unique)) if options.unique else None
        dropped = (
            stack.enter_context(create_text(options.duplicates)) if options.duplicates else None
        )
        deduplicator = Deduplicator(store=store)
        counts = {"unique": 0, "duplicates": 0}
        lines, documents = _tee(_documents(options.input, counts))
        for (line, document), verdict in zip(
            lines, deduplicator.process_many(documents), strict=True
        ):
            if verdict.match is None:
                counts["unique"] += 1
                if unique is not None:
                    unique.write(line.rstrip("\n") + "\n")
            else:
                counts["duplicates"] += 1
                if dropped is not None:
                    original = store.document(verdict.match.original)
                    row = {
                        "id": document.id,
                        "url": document.url,
                        "duplicate_of": original.id,
                        "duplicate_of_url": original.url,
                        "stage": verdict.match.stage,
                        "distance": verdict.match.distance,
                        "resemblance": verdict.match.resemblance,
                        "first_seen": None,
                    }
                    dropped.write(json.dumps(row, ensure_ascii=False) + "\n")
    ERRORS.print(", ".join(f"{count:,} {name}" for name, count in counts.items()))


def _tee(
    pairs: Iterable[tuple[str, Document]],
) -> tuple[Iterator[tuple[str, Document]], Iterator[Document]]:
    """The pairs, and their documents alone; kept are those that only one has read."""
    first, second = tee(pairs)
    return first, (document for _, document in second)


def _documents(path: Path, counts: dict[str, int]) -> Iterator[tuple[str, Document]]:
    """(line, document) of each line; broken lines are reported, counted and passed over."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=ERRORS,
        transient=True,
    )
    with open_text(path) as file, progress:
        task = progress.add_task(path.name, total=None)
        for number, line in enumerate(file, start=1):
            progress.update(task, completed=number)
            if not line.strip():
                continue
            try:
                document = _document(line, number)
            except (ValueError, RecursionError) as error:
                counts["broken lines"] = counts.get("broken lines", 0) + 1
                if counts["broken lines"] <= _MAX_BAD_LINES_SHOWN:
                    progress.console.print(f"{path}, line {number}: {error}", markup=False)
                continue
            yield line, document


def _document(line: str, number: int) -> Document:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object, found {type(row).__name__}")
    url = row.get("url")
    title = row.get("title") or ""
    text = row.get("text")
    if not isinstance(text, str):
        html = row.get("html")
        if not isinstance(html, str):
            raise ValueError("expected a field `text` or `html` that is a string")
        text = extract_text(html)
        title = title or parse_page(html, str(url or "")).title
    name = row.get("id", url)
    return Document(
        id=str(number if name is None else name),
        text=text,
        url=url if isinstance(url, str) else None,
        title=str(title),
    )
