"""Passages on Arrow batches: windows, those that repeat others, and texts without them.

A *block* has windows of one part of all hashes: `hashes` and `places` are arrays of 64-bit numbers
as bytes. A *stretch* is a `dedup.text.passages.Stretch` of the row at `place`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup.collection.changed_rows import line_with_text
from dedup.collection.portions import portions
from dedup.text.known_passages import KnownPassages
from dedup.text.passages import (
    Stretch,
    Units,
    passages_of,
    placed_windows,
    repeated,
    stretches,
    text_at,
    texts_at,
)

BLOCKS = pa.schema([("part", pa.int32()), ("hashes", pa.binary()), ("places", pa.binary())])

REPEATED = pa.schema([("part", pa.int32()), ("places", pa.binary()), ("firsts", pa.binary())])
"""Of windows that repeat others, grouped by their rows."""

STRETCHES = pa.schema(
    [
        ("place", pa.int64()),
        ("start", pa.int64()),
        ("n_windows", pa.int64()),
        ("source", pa.int64()),
        ("source_place", pa.int64()),
    ]
)

DIGESTS = pa.schema([("source", pa.int64()), ("n_windows", pa.int64()), ("digest", pa.binary())])

FOUND = pa.schema(
    [
        ("place", pa.int64()),
        ("starts", pa.list_(pa.int64())),
        ("ends", pa.list_(pa.int64())),
        ("sources", pa.list_(pa.int64())),
        ("main", pa.int64()),
        ("rest", pa.string()),
        ("characters", pa.int64()),
    ]
)
"""The passages of a row: where they begin and end, and the places of the rows that have them first.
`main`: the row that has the longest one; `rest`: the text without them, null where no word is left;
`characters`: how many it is shorter."""

CHANGED = pa.schema([("place", pa.int64()), ("value", pa.string()), ("rest", pa.string())])

KNOWN = pa.schema([("place", pa.int64()), ("known", pa.int64())])

_PORTION_BYTES = 4 * 2**20


def blocks(batches: Iterator[pa.RecordBatch], width: int, parts: int) -> Iterator[pa.RecordBatch]:
    """Hash the windows of texts: `place` and `text`; a part has the hashes of one remainder."""
    for numbers, texts in _texts(batches):
        found = list(placed_windows(numbers, texts, width))
        hashes, places = (np.concatenate(each) for each in zip(*found, strict=True))
        yield _parted(hashes % np.uint64(parts), (hashes, places), BLOCKS)


def repeated_in(table: pa.Table, width: int, parts: int) -> pa.Table:
    """Find the windows of a part that repeat others; they are parted by their rows."""
    hashes, places = (_numbers(table.column(name)) for name in ("hashes", "places"))
    order = np.argsort(hashes)
    places, firsts = repeated(hashes[order], places[order], width)
    part = texts_at(places) % np.uint64(parts)
    return pa.Table.from_batches([_parted(part, (places, firsts), REPEATED)])


def stretches_in(table: pa.Table) -> pa.Table:
    """Join the repeated windows of some rows."""
    places, firsts = (_numbers(table.column(name)) for name in ("places", "firsts"))
    order = np.argsort(places)
    rows = [
        (place, *each, text_at(each.source))
        for place, found in stretches(places[order], firsts[order])
        for each in found
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(STRETCHES)
    return pa.table([pa.array(column, pa.int64()) for column in columns], schema=STRETCHES)


def digests(batches: Iterator[pa.RecordBatch], width: int) -> Iterator[pa.RecordBatch]:
    """Give a digest for what stretches repeat: `text`, `sources` and `counts` of each source."""
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            units = Units(row["text"])
            for source, count in zip(row["sources"], row["counts"], strict=True):
                digest = units.digest(source, count + width - 1)
                rows.append({"source": source, "n_windows": count, "digest": digest})
        yield pa.RecordBatch.from_pylist(rows, DIGESTS)


def passages_in(batches: Iterator[pa.RecordBatch], width: int) -> Iterator[pa.RecordBatch]:
    """Find passages: `place`, `text` and `stretches`, each with the digest of what it repeats."""
    for batch in batches:
        rows = (_passages(row, width) for row in batch.to_pylist())
        yield pa.RecordBatch.from_pylist([row for row in rows if row is not None], FOUND)


def _passages(row: dict[str, object], width: int) -> dict[str, object] | None:
    text = str(row["text"])
    units = Units(text)
    found: Any = row["stretches"]
    sound = [
        Stretch(each["start"], each["n_windows"], each["source"])
        for each in sorted(found, key=lambda each: each["start"])
        if units.digest(each["start"], each["n_windows"] + width - 1) == each["digest"]
    ]
    if not sound:
        return None
    passages = passages_of(text, sound, width)
    starts, ends, sources = zip(*passages.listed, strict=True)
    return {
        "place": row["place"],
        "starts": starts,
        "ends": ends,
        "sources": sources,
        "main": passages.main,
        "rest": passages.rest,
        "characters": len(text) - len(passages.rest or ""),
    }


def changed_lines(batches: Iterator[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Lines of JSON, `value`, with what is in `rest` in the column of the text.

    Args:
        batches: where `rest` is null, the line stays.
        name: of the column; lines of pages of archives may have `text` in its place.
    """
    for batch in batches:
        rows = zip(*(batch.column(each).to_pylist() for each in CHANGED.names), strict=True)
        found = [
            (place, line if rest is None else _changed(line, rest, name), rest)
            for place, line, rest in rows
        ]
        columns = zip(*found, strict=True) if found else [()] * len(CHANGED)
        yield pa.record_batch(
            [pa.array(column, kind) for column, kind in zip(columns, CHANGED.types, strict=True)],
            CHANGED,
        )


def _changed(line: str, rest: str, name: str) -> str:
    try:
        return line_with_text(line, rest, name)
    except ValueError:
        return line_with_text(line, rest, "text")


def known_in(batches: Iterator[pa.RecordBatch], known: KnownPassages) -> Iterator[pa.RecordBatch]:
    """Find the rows, of `place` and `text`, that hold a passage of a known text."""
    for numbers, texts in _texts(batches):
        found = zip(numbers, known.find(texts), strict=True)
        rows = [{"place": place, "known": each} for place, each in found if each is not None]
        yield pa.RecordBatch.from_pylist(rows, KNOWN)


def _texts(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[list[int], list[str]]]:
    rows = (
        row
        for batch in batches
        for row in zip(
            batch.column("place").to_pylist(), batch.column("text").to_pylist(), strict=True
        )
    )
    for part in portions(rows, lambda row: len(row[1]), n_bytes=_PORTION_BYTES):
        yield [place for place, _ in part], [text for _, text in part]


def _parted(
    part: NDArray[np.uint64], columns: tuple[NDArray[np.uint64], ...], schema: pa.Schema
) -> pa.RecordBatch:
    """A row for each part, with the numbers that are in it as bytes."""
    order = np.argsort(part, kind="stable")
    numbers, starts = np.unique(part[order], return_index=True)
    bounds = [*starts.tolist(), len(order)]
    pieces = [
        [column[order[start:stop]].tobytes() for start, stop in pairwise(bounds)]
        for column in columns
    ]
    return pa.record_batch([pa.array(numbers.astype(np.int32)), *map(pa.array, pieces)], schema)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(column.to_pylist()), np.uint64)
