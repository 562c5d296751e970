"""`dedup export JOB --pieces 400`: the texts of pages in pieces, for search indexes."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dedup.cli.console import ERRORS
from dedup.cli.export_repeated import left_out, told
from dedup.cli.progress import counting, showing_progress
from dedup.cli.targets import Target, check_targets, written
from dedup.collection.formats import format_to_write
from dedup.collection.sources import Source, find_sources
from dedup.export.pieces import CHANGES, PIECES, PieceOptions, piece_rows
from dedup.export.tables import write_table
from dedup.extras import load_extra
from dedup.pieces import Count, count_words
from dedup.store import JobStore, job_file
from dedup.store.selection import Selection

_NOT_WITH = {
    "-d": "duplicates",
    "--failed": "failed",
    "--fields": "fields",
    "--partition": "partition",
    "--dataset": "dataset",
}
_MORE = {
    "--pieces-tokens": "tokens",
    "--pieces-without-near": "without_near",
    "--pieces-since": "pieces_since",
}
"""Options that need `--pieces`."""


def add_piece_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pieces")
    group.add_argument(
        "--pieces",
        type=_size,
        metavar="N",
        help="instead of pages, write pieces of their texts with at most N words (Chinese:"
        " characters), each once, to the file of -o (default: JOB/pieces.jsonl, or"
        " NAME-pieces.jsonl)",
    )
    group.add_argument(
        "--pieces-tokens",
        dest="tokens",
        type=Path,
        metavar="FILE",
        help="count tokens instead of words, by this tokenizer.json of a model",
    )
    group.add_argument(
        "--pieces-without-near",
        dest="without_near",
        action="store_true",
        help="of pieces that are near duplicates, write one",
    )
    group.add_argument(
        "--pieces-since",
        metavar="TIME|FILE",
        help="only what has changed since a time, or since the export of pieces in a file, with a"
        " column `change`: add or delete",
    )


def asks_for_pieces(options: argparse.Namespace) -> bool:
    """Are pieces to be exported?

    Raises:
        ValueError: options do not go together.
    """
    if options.pieces is None:
        for option, name in _MORE.items():
            if getattr(options, name):
                raise ValueError(f"{option} needs --pieces N")
        return False
    for option, name in _NOT_WITH.items():
        if getattr(options, name) is not None:
            raise ValueError(
                f"--pieces writes one file with columns of its own: leave {option} out"
            )
    return True


def export_pieces(store: JobStore, options: argparse.Namespace, chosen: Selection) -> None:
    """Write the file of pieces.

    Raises:
        ValueError: an option, or a file that it names, is invalid.
        OSError: a file cannot be read or written.
        ModuleNotFoundError: an extra is missing.
    """
    path: Target = options.pages or job_file(options.job, "pieces.jsonl")
    if format_to_write(path) == "warc":
        raise ValueError(f"pieces cannot be written to a WARC file, got {path}")
    is_own = options.pages is None and isinstance(options.job, Path)  # a file of the job's folder
    measure = count_words if options.tokens is None else count_tokens(options.tokens)
    with TemporaryDirectory(prefix="dedup-") as folder:
        since = None if options.pieces_since is None else _since(options.pieces_since, Path(folder))
        if isinstance(since, float) and options.without_repeated is not None:
            raise ValueError(
                "--without-repeated cannot tell what was repeated at a time; give --pieces-since"
                f" the file of an export with the same options, got {options.pieces_since!r}"
            )
        if isinstance(since, float) and options.only_allowed:
            raise ValueError(
                "--only-allowed with --pieces-since needs the file of an earlier export, got"
                f" {options.pieces_since!r}: what was declared at a time is not known"
            )
        read = {"--pieces-since": [since.path]} if isinstance(since, Source) else {}
        check_targets({"-o": path}, read, overwrite=options.overwrite or is_own)
        change = left_out(store, options.without_repeated, chosen)
        how = PieceOptions(options.pieces, measure, options.without_near, since, change)
        counts = Counter[str]()
        with _progress(store.exports.count("pages", chosen)) as advance:
            rows = piece_rows(store, how, Path(folder), chosen, on_page=advance)
            with written(path) as part:
                write_table(part, _counted(rows, counts), PIECES if since is None else CHANGES)
    ERRORS.print(f"{_told(counts, has_changes=since is not None)} in {path}{told(change)}")


def count_tokens(path: Path) -> Count:
    """How many tokens a text has, by the `tokenizer.json` of a model.

    Raises:
        ValueError: the file is something else.
        OSError: it cannot be read.
        ModuleNotFoundError: the extra `tokens` is missing.
    """
    tokenizers = load_extra("tokenizers", extra="tokens", purpose="--pieces-tokens")
    try:
        tokenizer = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except OSError:
        raise
    except Exception as error:  # it raises this very class
        why = f"--pieces-tokens must be the tokenizer.json of a model, got {str(path)!r} ({error})"
        raise ValueError(why) from error
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], object]]:
    done = count(1)
    with showing_progress("pages", total, counting("pages")) as show:
        yield lambda: show(next(done))


def _counted(rows: Iterable[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        counts[row.get("change", "")] += 1
        yield row


def _told(counts: Counter[str], *, has_changes: bool) -> str:
    if not has_changes:
        return f"{counts.total():,} pieces"
    return f"{counts['add']:,} pieces to add and {counts['delete']:,} to delete"


def _size(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a number of words, 1 or more, got {text!r}")
    return int(text)


def _since(text: str, folder: Path) -> float | Source:
    """A time, or else a file.

    Raises:
        ValueError: there is no such file.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        if not Path(text).is_file():
            raise ValueError(
                f"--pieces-since must be an ISO 8601 date or time, or a file, got {text!r}"
            ) from None
        (source,) = find_sources([text], folder)
        return source
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
