"""Documents in Arrow batches."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dedup.document import Document
from dedup.sites.rest import Rest

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

_ROWS = 512
_BYTES = 4 * 2**20


def documents_of(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[list[int], list[Document]]]:
    """Cut rows of `GIVEN` into portions that are worked on at once; without rows of no text."""
    numbers: list[int] = []
    documents: list[Document] = []
    size = 0
    for batch in batches:
        for row in _rows(batch):
            text = row["text"]
            if text is None:
                continue
            if documents and (len(documents) == _ROWS or size + len(text) > _BYTES):
                yield numbers, documents
                numbers, documents, size = [], [], 0
            numbers.append(row["number"])
            documents.append(
                Document(
                    id=str(row["number"]),
                    text=text,
                    url=row["url"] or None,
                    title=row["title"] or "",
                    body=row["body"],
                    heading=row["heading"] or "",
                    own_title=row["own_title"],
                    source=row["source"] or "given",
                    key=row["group"] or "",
                    rest=None if row["rest"] is None else Rest.from_bytes(row["rest"]),
                )
            )
            size += len(text)
    if documents:
        yield numbers, documents


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for start in range(0, batch.num_rows, _ROWS):
        yield from batch.slice(start, _ROWS).to_pylist()
