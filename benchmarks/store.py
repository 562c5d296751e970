"""A job's store with nothing in it but fingerprints, to rebuild the index from."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from dedup.detectors import Detector, default_detectors
from dedup.store import open_store
from dedup.store.sqlite.database import Database

_ROWS_AT_ONCE = 100_000


def fill_store(path: Path, n_documents: int, seed: int) -> int:
    """Make a store with so many random fingerprints; its size in bytes."""
    _write_signatures(path, "simhash", _batches(n_documents, seed))
    return path.stat().st_size


def _write_signatures(
    path: Path, stage: str, batches: Iterable[Iterable[tuple[int, bytes]]]
) -> None:
    """Make a store at `path` with signatures of pages that are not in it.

    Args:
        path: the SQLite file.
        stage: of the signatures.
        batches: page numbers, ascending, with signatures; each batch is committed by itself.
    """
    database = Database(path)
    try:
        database.connection.execute("PRAGMA foreign_keys = OFF")  # there are no pages
        for batch in batches:
            with database.unit() as connection:
                rows = ((stage, number, value) for number, value in batch)
                connection.executemany("INSERT INTO signatures VALUES (?, ?, ?)", rows)
            database.commit()
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()


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
