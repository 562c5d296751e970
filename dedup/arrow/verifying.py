"""Which pairs are duplicates: decided by the second check, as on one machine."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dedup.arrow.batches import documents_of
from dedup.arrow.pairing import NO_DISTANCE
from dedup.batch import Batch
from dedup.collection.portions import PORTION_ROWS
from dedup.collection.rules import Rules
from dedup.collection.sites import rare_lines
from dedup.detectors import EXACT_STAGES, STAGES
from dedup.detectors.second_check import SecondCheck, comparable_text
from dedup.document import Document
from dedup.sites.second_look import Rest, count_shingles
from dedup.sites.site import Site

VERIFIED = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.int64()),
        ("stage", pa.int8()),
        ("distance", pa.int32()),
        ("resemblance", pa.float64()),
        ("drops_later", pa.bool_()),
        ("drops_earlier", pa.bool_()),
    ]
)
"""Pairs that are duplicates. `stage`: the place in `STAGES` of the first stage that says so.
`drops_later`: may the earlier row stay for the later one? `drops_earlier`: and the other way round,
which counts for copies of the earlier row that come after both. They differ where the look at what
is around the texts does, which asks what the page that comes says more."""

_BODY, _TEXT, _SIMHASH = (STAGES.index(name) for name in ("body", "text", "simhash"))


def verified(
    pairs: pa.Table, rows: pa.Table, rules: Rules, known: Sequence[Mapping[str, Site]] = ()
) -> pa.Table:
    """Keep the pairs that are duplicates.

    Args:
        pairs: of `pairing.PAIRED`.
        rows: what is `COMPARED` of their rows.
        rules: the threshold.
        known: what was learned of the hosts of each collection.
    """
    rare_on = rare_lines(*(sites.get for sites in known))
    check = SecondCheck.of(_no_original, rules.config, rare_on=rare_on)
    shown = {row["number"]: _Row(_stand_in(row), row["line_shingles"]) for row in _each(rows)}
    found = []
    for pair in _each(pairs):
        earlier, later = shown[pair["a"]], shown[pair["b"]]
        verdict = _by_texts(check, later.document, earlier.document, pair["stages"])
        if verdict is not None and verdict.stage != _BODY:
            verdict = _looked_at(check, verdict, later, earlier)
        if verdict is not None:
            distance = pair["distance"] if verdict.stage == _SIMHASH else None
            distance = None if distance == NO_DISTANCE else distance
            found.append((pair["a"], pair["b"], distance, verdict))
    columns = {
        "a": [a for a, *_ in found],
        "b": [b for _, b, *_ in found],
        "distance": [distance for *_, distance, _ in found],
        **{name: [getattr(verdict, name) for *_, verdict in found] for name in _Verdict._fields},
    }
    return pa.table([columns[name] for name in VERIFIED.names], schema=VERIFIED)


def _each(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=PORTION_ROWS):
        yield from batch.to_pylist()


class _Row(NamedTuple):
    """See `COMPARED`; the document is a stand-in."""

    document: Document
    line_shingles: int | None


class _Verdict(NamedTuple):
    """See `VERIFIED`."""

    stage: int
    resemblance: float
    drops_later: bool = True
    drops_earlier: bool = True


def _looked_at(check: SecondCheck, found: _Verdict, later: _Row, earlier: _Row) -> _Verdict | None:
    """The verdict after the look at what is around the texts, from both sides."""
    drops_later, drops_earlier = (
        check.find_difference(comes.document, stays.document, n_shingles=stays.line_shingles)
        is None
        for comes, stays in ((later, earlier), (earlier, later))
    )
    if not (drops_later or drops_earlier):
        return None
    return found._replace(drops_later=drops_later, drops_earlier=drops_earlier)


def _by_texts(
    check: SecondCheck, later: Document, earlier: Document, stages: int
) -> _Verdict | None:
    """The verdict before the look at what is around the texts."""
    is_copy = later.body is not None and later.body == earlier.body
    if stages >> _BODY & 1 and is_copy and later.key == earlier.key:
        return _Verdict(_BODY, 1.0)
    if stages >> _TEXT & 1 and check.is_equal(later, earlier):
        return _Verdict(_TEXT, 1.0)
    near = [place for place in range(len(EXACT_STAGES), len(STAGES)) if stages >> place & 1]
    if not near:
        return None
    resemblance = check.compare(later, earlier)
    return _Verdict(near[0], resemblance) if resemblance >= check.near_resemblance else None


def _no_original(number: int) -> Document:
    raise KeyError(number)  # all documents are given


def _sha256(data: bytes | str) -> Any:
    """A digest of bytes or of a text."""
    found = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(found)


def _text_digest(document: Document) -> str:
    text = comparable_text(document, with_title=False)
    return "" if text is None else str(_sha256(text).hexdigest())


def _lines_digest(document: Document) -> str | None:
    lines = document.sorted_lines
    return None if lines is None else _sha256(lines).hexdigest()


def _copy_digest(document: Document) -> bytes | None:
    if document.body is None:
        return None
    digest: bytes = _sha256(document.body + document.text.encode("utf-8", "surrogatepass")).digest()
    return digest


_COMPARED: dict[str, tuple[pa.DataType, Callable[[Document], object]]] = {
    "text_digest": (pa.string(), _text_digest),
    "url": (pa.string(), lambda document: document.url),
    "title": (pa.string(), lambda document: document.title),
    "group": (pa.string(), lambda document: document.key),
    "heading": (pa.string(), lambda document: document.heading),
    "own_title": (pa.string(), lambda document: document.own_title),
    "source": (pa.string(), lambda document: document.source),
    "copy_digest": (pa.binary(), _copy_digest),
    "lines_digest": (pa.string(), _lines_digest),
    "rest": (pa.binary(), lambda document: document.rest and document.rest.to_bytes()),
    "line_shingles": (pa.int32(), lambda document: document.rest and count_shingles(document.text)),
    "is_traditional": (pa.bool_(), lambda document: document.is_traditional),
    "shingles": (pa.binary(), lambda document: document.shingles.astype("<u8").tobytes()),
}

COMPARED = pa.schema(
    [("number", pa.int64()), *((name, kind) for name, (kind, _) in _COMPARED.items())]
)
"""What is compared of a row. `text_digest`: SHA-256 of the normal text with single spaces, which
stands for the text; empty for an empty one. `copy_digest`: SHA-256 of the body and the text as it
is; null where there is no body. `lines_digest`: SHA-256 of
`Document.sorted_lines`; null where there are none. `rest`, `line_shingles`: for the second look;
null where there is no page around the text. `shingles`: 8 bytes each, little-endian."""


def comparable(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Compute what is compared of rows of `batches.GIVEN`."""
    for numbers, documents in documents_of(batches):
        Batch(documents)
        said = [list(map(compute, documents)) for _, compute in _COMPARED.values()]
        columns = zip([numbers, *said], COMPARED, strict=True)
        arrays = [pa.array(values, kind.type) for values, kind in columns]
        yield pa.record_batch(arrays, schema=COMPARED)


def _stand_in(row: dict[str, Any]) -> Document:
    """A document whose text is the digest of the real one; all else is the real one's."""
    rest = row["rest"]
    document = Document(
        id="",
        text=row["text_digest"],
        url=row["url"],
        title=row["title"],
        body=row["copy_digest"],
        heading=row["heading"],
        own_title=row["own_title"],
        source=row["source"],
        key=row["group"],
        rest=None if rest is None else Rest.from_bytes(rest),
    )
    document.take(shingles=np.frombuffer(row["shingles"], "<u8"))
    document.__dict__.update(  # where the properties look
        is_traditional=row["is_traditional"], sorted_lines=row["lines_digest"]
    )
    return document
