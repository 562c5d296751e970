"""Which pairs are duplicates: decided by the second check, as on one machine."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup.arrow.batches import documents_of
from dedup.arrow.pairing import NO_DISTANCE, prefix_tokens
from dedup.batch import Batch
from dedup.collection.rules import Rules
from dedup.collection.sites import rare_lines
from dedup.detectors import EXACT_STAGES, STAGES
from dedup.detectors.second_check import SecondCheck, comparable_text
from dedup.document import Document
from dedup.sites.second_look import Rest, count_shingles
from dedup.sites.site import Site

TOKENS = pa.schema([("number", pa.int64()), ("tokens", pa.list_(pa.int64()))])

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


def tokens(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Compute of rows of `COMPARED` the tokens that split a bucket of many rows."""
    for batch in batches:
        arrays = [
            _tokens(np.frombuffer(shingles, "<u8"), lines, rules.threshold)
            for shingles, lines in zip(
                batch.column("shingles").to_pylist(),
                batch.column("lines_digest").to_pylist(),
                strict=True,
            )
        ]
        found = pa.array(arrays, pa.list_(pa.int64()))
        yield pa.record_batch([batch.column("number"), found], schema=TOKENS)


def verified(
    batches: Iterator[pa.RecordBatch], rules: Rules, known: Sequence[Mapping[str, Site]] = ()
) -> Iterator[pa.RecordBatch]:
    """Keep the pairs that are duplicates.

    Args:
        batches: `pairing.PAIRED`, and under `a_…` and `b_…` what is `COMPARED` of both rows.
        rules: the threshold.
        known: what was learned of the hosts of each collection.
    """
    rare_on = rare_lines(*(sites.get for sites in known))
    check = SecondCheck.of(_no_original, rules.config, rare_on=rare_on)
    for batch in batches:
        rows = []
        for pair in batch.to_pylist():
            later, earlier = _stand_in(pair, "b_"), _stand_in(pair, "a_")
            found = _by_texts(check, later, earlier, pair["stages"])
            if found is not None and found.stage != _BODY:
                found = _looked_at(check, found, later, earlier, pair)
            if found is not None:
                distance = pair["distance"] if found.stage == _SIMHASH else None
                distance = None if distance == NO_DISTANCE else distance
                row = {"a": pair["a"], "b": pair["b"], "distance": distance}
                rows.append({**row, **found._asdict()})
        yield pa.RecordBatch.from_pylist(rows, VERIFIED)


class _Verdict(NamedTuple):
    """See `VERIFIED`."""

    stage: int
    resemblance: float
    drops_later: bool = True
    drops_earlier: bool = True


def _looked_at(
    check: SecondCheck, found: _Verdict, later: Document, earlier: Document, pair: dict[str, Any]
) -> _Verdict | None:
    """The verdict after the look at what is around the texts, from both sides."""
    of_earlier, of_later = pair["a_line_shingles"], pair["b_line_shingles"]
    drops_later = check.find_difference(later, earlier, n_shingles=of_earlier) is None
    drops_earlier = check.find_difference(earlier, later, n_shingles=of_later) is None
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


def _tokens(shingles: NDArray[np.uint64], lines: str | None, threshold: float) -> NDArray[np.int64]:
    """Those of the prefix; and one of the lines in any order, by which short texts are equal."""
    found = prefix_tokens(shingles, threshold)
    if lines is None:
        return found
    of_lines = np.frombuffer(bytes.fromhex(lines)[:8], np.int64)
    return np.unique(np.concatenate((found, of_lines)))


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


def _stand_in(row: dict[str, Any], prefix: str) -> Document:
    """A document whose text is the digest of the real one; all else is the real one's."""
    rest = row[f"{prefix}rest"]
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
        rest=None if rest is None else Rest.from_bytes(rest),
    )
    document.take(shingles=np.frombuffer(row[f"{prefix}shingles"], "<u8"))
    document.__dict__.update(  # where the properties look
        is_traditional=row[f"{prefix}is_traditional"], sorted_lines=row[f"{prefix}lines_digest"]
    )
    return document
