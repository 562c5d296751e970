"""Which pairs are duplicates: decided by the second check, as on one machine."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dedup.arrow.batches import documents_of
from dedup.arrow.pairing import NO_DISTANCE, prefix_tokens
from dedup.batch import analyse
from dedup.collection.rules import STAGES, Rules
from dedup.detectors.second_check import SecondCheck, comparable_text
from dedup.document import Document

COMPARED = pa.schema(
    [
        ("number", pa.int64()),
        ("text_digest", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("group", pa.string()),
        ("heading", pa.string()),
        ("own_title", pa.string()),
        ("source", pa.string()),
        ("copy_digest", pa.binary()),
        ("is_traditional", pa.bool_()),
        ("shingles", pa.binary()),
    ]
)
"""What is compared of a row. `text_digest`: SHA-256 of the normal text with single spaces, which
stands for the text; empty for an empty one. `copy_digest`: SHA-256 of the body and the text as it
is; null where there is no body. `shingles`: 8 bytes each, little-endian."""

TOKENS = pa.schema([("number", pa.int64()), ("tokens", pa.list_(pa.int64()))])

VERIFIED = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.int64()),
        ("stage", pa.int8()),
        ("distance", pa.int32()),
        ("resemblance", pa.float64()),
    ]
)
"""Pairs that are duplicates. `stage`: the place in `STAGES` of the first stage that says so."""

_BODY, _TEXT, _SIMHASH = (STAGES.index(name) for name in ("body", "text", "simhash"))


def comparable(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Compute what is compared of rows of `batches.GIVEN`."""
    for numbers, documents in documents_of(batches):
        analyse(documents)
        yield pa.record_batch(
            [
                pa.array(numbers, pa.int64()),
                pa.array([_text_digest(each) for each in documents], pa.string()),
                pa.array([each.url for each in documents], pa.string()),
                pa.array([each.title for each in documents], pa.string()),
                pa.array([each.key for each in documents], pa.string()),
                pa.array([each.heading for each in documents], pa.string()),
                pa.array([each.own_title for each in documents], pa.string()),
                pa.array([each.source for each in documents], pa.string()),
                pa.array([_copy_digest(each) for each in documents], pa.binary()),
                pa.array([each.is_traditional for each in documents], pa.bool_()),
                pa.array([each.shingles.astype("<u8").tobytes() for each in documents]),
            ],
            schema=COMPARED,
        )


def tokens(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Compute of rows of `COMPARED` the tokens that split a bucket of many rows."""
    for batch in batches:
        arrays = [
            prefix_tokens(np.frombuffer(each.as_py(), "<u8"), rules.threshold)
            for each in batch.column("shingles")
        ]
        found = pa.array(arrays, pa.list_(pa.int64()))
        yield pa.record_batch([batch.column("number"), found], schema=TOKENS)


def verified(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Keep the pairs that are duplicates.

    Args:
        batches: `pairing.PAIRED`, and under `a_…` and `b_…` what is `COMPARED` of both rows.
        rules: the threshold.
    """
    config = rules.config
    documents: dict[int, Document] = {}
    check = SecondCheck(
        documents.__getitem__,
        near_resemblance=config.near_resemblance,
        short_shingles=config.short_shingles,
        names=config.near_names,
    )
    for batch in batches:
        rows = []
        for pair in batch.to_pylist():
            document, original = _stand_in(pair, "b_"), _stand_in(pair, "a_")
            documents.clear()
            documents[pair["a"]] = original
            found = _verdict(check, document, pair["a"], pair["stages"])
            if found is not None:
                distance = pair["distance"] if found.stage == _SIMHASH else None
                distance = None if distance == NO_DISTANCE else distance
                rows.append((pair["a"], pair["b"], found.stage, distance, found.resemblance))
        columns = list(zip(*rows, strict=True)) or [()] * len(VERIFIED)
        arrays = [
            pa.array(values, kind.type) for values, kind in zip(columns, VERIFIED, strict=True)
        ]
        yield pa.record_batch(arrays, schema=VERIFIED)


class _Verdict(NamedTuple):
    stage: int
    resemblance: float


def _verdict(check: SecondCheck, document: Document, number: int, stages: int) -> _Verdict | None:
    original = check.original(number)
    is_copy = document.body is not None and document.body == original.body
    if stages >> _BODY & 1 and is_copy and document.key == original.key:
        return _Verdict(_BODY, 1.0)
    if stages >> _TEXT & 1 and check.is_equal(document, original):
        return _Verdict(_TEXT, 1.0)
    near = [place for place in range(_TEXT + 1, len(STAGES)) if stages >> place & 1]
    if not near:
        return None
    resemblance = check.likeness(document, number)
    return _Verdict(near[0], resemblance) if resemblance >= check.near_resemblance else None


def _text_digest(document: Document) -> str:
    text = comparable_text(document, with_title=False)
    if text is None:
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _copy_digest(document: Document) -> bytes | None:
    if document.body is None:
        return None
    text = document.text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(document.body + text).digest()


def _stand_in(row: dict[str, Any], prefix: str) -> Document:
    """A document whose text is the digest of the real one; all else is the real one's."""
    document = Document(
        id="",
        text=row[f"{prefix}text_digest"],
        url=row[f"{prefix}url"],
        title=row[f"{prefix}title"],
        body=row[f"{prefix}copy_digest"],
        heading=row[f"{prefix}heading"],
        own_title=row[f"{prefix}own_title"],
        source=row[f"{prefix}source"],
        key=row[f"{prefix}group"],
    )
    document.take(shingles=np.frombuffer(row[f"{prefix}shingles"], "<u8"))
    document.__dict__["is_traditional"] = row[f"{prefix}is_traditional"]  # where the property looks
    return document
