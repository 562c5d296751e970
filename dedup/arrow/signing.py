"""From texts to keys: rows that share a key may be duplicates, all others are not."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from dedup.arrow.batches import documents_of
from dedup.arrow.sketching import sketch_many
from dedup.batch import Batch
from dedup.collection.rules import Rules
from dedup.detectors import EXACT_STAGES, STAGES
from dedup.document import Document
from dedup.names import url_file_name
from dedup.urls.parts import host_of

SIGNED = pa.schema(
    [
        ("number", pa.int64()),
        ("digest", pa.binary()),
        ("exact_stage", pa.int8()),
        ("size", pa.int32()),
        ("fingerprint", pa.int64()),
        ("sketches", pa.binary()),
        ("keys", pa.list_(pa.int64())),
    ]
)
"""Of each row that may have a duplicate.

`digest`: SHA-256 of all that verdicts depend on; rows that share it are duplicates, found at
`exact_stage`. `size`: shingles. `fingerprint`: the simhash, 0 where there is none. `sketches`: see
`sketching`. `keys`: the stage in the upper 3 bits, then 4 bits of table, 32 of key and 25 of a hash
of the row's group.
"""

_STAGE_SHIFT = np.uint64(61)
_TABLE_SHIFT = np.uint64(57)
_KEY_SHIFT = np.uint64(25)
_GROUP_MASK = (1 << 25) - 1

_BLOCKS = (0, 13, 26, 39, 52, 64)
"""Two fingerprints that differ in 3 bits have two of five blocks in common: ten tables."""


def stage_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place in `STAGES` of the stage that each key is of."""
    return (keys.view(np.uint64) >> _STAGE_SHIFT).astype(np.int64)


def signed(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Compute digests and keys of rows; rows without a key, which always stay, are omitted.

    Args:
        batches: of `batches.GIVEN`.
        rules: the stages that are asked, and the threshold.
    """
    signers = rules.signers()
    for numbers, documents in documents_of(batches):
        digests = [_digest(document) for document in documents]
        batch = Batch(documents)
        signatures = zip(*(batch.signatures(signer) for signer in signers), strict=True)
        sketches = sketch_many(batch, rules)
        stages = [STAGES.index(signer.stage) for signer in signers]
        rows = [
            row
            for number, digest, document, sketch, found in zip(
                numbers, digests, documents, sketches, signatures, strict=True
            )
            if (
                row := _row(number, digest, document, sketch, dict(zip(stages, found, strict=True)))
            )
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(SIGNED)
        arrays = [pa.array(values, kind.type) for values, kind in zip(columns, SIGNED, strict=True)]
        yield pa.record_batch(arrays, schema=SIGNED)


_Row = tuple[int, bytes, int, int, int, bytes, NDArray[np.int64]]


def _row(
    number: int,
    digest: bytes,
    document: Document,
    sketches: bytes,
    signatures: Mapping[int, bytes | None],
) -> _Row | None:
    keys: list[NDArray[np.uint64]] = []
    first: int | None = None
    fingerprint = 0
    group = _group_of(document.key)
    for place, signature in signatures.items():
        if not signature:
            continue
        first = place if first is None else first
        if STAGES[place] == "simhash":
            fingerprint = int(np.frombuffer(signature, ">i8")[0])
        keys.append(_keys(place, signature) | np.uint64(group))
    if first is None:
        return None
    if STAGES[first] not in EXACT_STAGES and not document.has_own_text:
        digest += number.to_bytes(8)  # what is equal may be furniture
    every = np.unique(np.concatenate(keys)).view(np.int64)
    return number, digest, first, len(document.shingles), fingerprint, sketches, every


def _group_of(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode(errors="surrogatepass")) & _GROUP_MASK if key else 0


def _keys(place: int, signature: bytes) -> NDArray[np.uint64]:
    stage = np.uint64(place) << _STAGE_SHIFT
    if STAGES[place] in EXACT_STAGES:
        found = np.frombuffer(signature, ">u4")[:1].astype(np.uint64)
    elif STAGES[place] == "simhash":
        return stage | _table_keys(int.from_bytes(signature))
    else:
        found = np.frombuffer(signature, "<u4").astype(np.uint64)
    return stage | (found << _KEY_SHIFT)


def _table_keys(fingerprint: int) -> NDArray[np.uint64]:
    blocks = [(fingerprint >> low) & ((1 << high - low) - 1) for low, high in pairwise(_BLOCKS)]
    pairs = combinations(blocks, 2)
    found = np.array([one << 13 | other for one, other in pairs], np.uint64) << _KEY_SHIFT
    return found | (np.arange(len(found), dtype=np.uint64) << _TABLE_SHIFT)


def _digest(document: Document) -> bytes:
    """All that a verdict depends on.

    The normal text, the names, the host, the group; the body; what is rare on the page.
    """
    body, rest = document.body, document.rest
    parts: Sequence[str] = (
        document.key,
        str(document.is_traditional),
        host_of(document.url),
        url_file_name(document.url),
        document.title,
        document.heading,
        repr(document.own_title),
        document.source,
        "" if body is None else body.hex() + document.text,
        "" if rest is None else rest.to_bytes().hex(),
        document.normal_text,
    )
    lengths = ",".join(str(len(part)) for part in parts)
    whole = "\0".join((lengths, *parts))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()
