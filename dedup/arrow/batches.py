"""Documents in Arrow batches."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dedup.collection.portions import PORTION_ROWS, portions
from dedup.document import Document
from dedup.sites.second_look import Rest

GIVEN = pa.schema(
    [
        ("number", pa.int64()),
        ("text", pa.large_string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("group", pa.string()),
        ("heading", pa.string()),
        ("own_title", pa.string()),
        ("source", pa.string()),
        ("body", pa.binary()),
        ("rest", pa.binary()),
    ]
)
"""What is asked of a row: its number, the lower the earlier; only rows of one group are compared.
From `heading` on: of pages of markup, see `Document`; `body` is the SHA-256 of theirs, which stands
for it; `rest` is what `Rest.to_bytes` gives. All but number and text may be null."""

_BYTES = 4 * 2**20


def documents_of(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[list[int], list[Document]]]:
    """Cut rows of `GIVEN` into portions that are worked on at once; without rows of no text."""
    rows = (row for batch in batches for row in _rows(batch) if row["text"] is not None)
    for part in portions(rows, lambda row: len(row["text"]), n_bytes=_BYTES):
        yield [row["number"] for row in part], list(map(_document, part))


def _document(row: dict[str, Any]) -> Document:
    return Document(
        id=str(row["number"]),
        text=row["text"],
        url=row["url"] or None,
        title=row["title"] or "",
        body=row["body"],
        heading=row["heading"] or "",
        own_title=row["own_title"],
        source=row["source"] or "given",
        key=row["group"] or "",
        rest=None if row["rest"] is None else Rest.from_bytes(row["rest"]),
    )


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for start in range(0, batch.num_rows, PORTION_ROWS):
        yield from batch.slice(start, PORTION_ROWS).to_pylist()
