"""A job's store with nothing in it but fingerprints, to rebuild the index from."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dedup.detectors import Detector, default_detectors
from dedup.store import open_store
from dedup.store.sqlite.signatures import write_signatures

_ROWS_AT_ONCE = 100_000


def fill_store(path: Path, n_documents: int, seed: int) -> int:
    """Make a store with so many random fingerprints; its size in bytes."""
    write_signatures(path, "simhash", _batches(n_documents, seed))
    return path.stat().st_size


def _batches(n_documents: int, seed: int) -> Iterator[Iterator[tuple[int, bytes]]]:
    rng = np.random.default_rng(seed)
    for start in range(1, n_documents + 1, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, n_documents + 1 - start)
        raw = rng.bytes(8 * count)
        yield ((start + row, raw[8 * row : 8 * row + 8]) for row in range(count))


def load_index(path: Path) -> Detector:
    """The way that `Deduplicator` takes."""
    store = open_store(path, read_only=True)
    detectors = default_detectors(store.document)
    detector = next(detector for detector in detectors if detector.stage == "simhash")
    for numbers, signatures in store.signatures(detector.stage):
        detector.load(numbers, signatures)
    store.close()
    return detector
