"""The indexes of all stages together, in memory and in files: size, memory, time of look-ups."""

import mmap
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import in_child, peak_bytes, resident_bytes, timed
from dedup.index import PermutedTables
from dedup.index.arrays import Arrays
from dedup.index.multimap import Multimap

KEYS = {"body": 2, "text": 1, "sentences": 3, "minhash": 11}
"""Keys of a document by stage; simhash has a fingerprint."""

BOUND_BYTES = 20
"""Memory for each document where the index is in files, a ninth of it: 2 GB for 10^8 documents."""

MOST_IN_MEMORY = 20_000_000
"""With more, the index takes more than half of a machine of 8 GB."""

_ADDED_AT_ONCE = 1 << 18
_KNOWN_OF_BATCH = 64
_BATCH = 512
"""What a `Deduplicator` looks up at once."""

_LOOKUPS = 2_000
_COLD_LOOKUPS = 200

Figures = dict[str, Any]


class Documents:
    """Random keys and fingerprints, by stage, of some documents."""

    def __init__(self, count: int, seed: Sequence[int]) -> None:
        rng = np.random.default_rng(seed)
        self.keys = {
            stage: rng.integers(0, 2**32, (count, width), dtype=np.uint32)
            for stage, width in KEYS.items()
        }
        self.words = rng.integers(0, 2**64, count, dtype=np.uint64)

    def head(self, count: int) -> "Documents":
        part = Documents(0, (0,))
        part.keys = {stage: keys[:count].copy() for stage, keys in self.keys.items()}
        part.words = self.words[:count].copy()
        return part

    def __len__(self) -> int:
        return len(self.words)


class WholeIndex:
    """The indexes of a `Deduplicator`, filled in batches as from a store."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.maps = {stage: Multimap(arrays) for stage in KEYS}
        self.tables = PermutedTables(arrays=arrays)

    @property
    def size_bytes(self) -> int:
        return self.tables.size_bytes + sum(each.size_bytes for each in self.maps.values())

    def add_many(self, documents: Documents, numbers: NDArray[np.int64]) -> None:
        for stage, index in self.maps.items():
            index.add_many(documents.keys[stage], numbers)
        self.tables.add_many(documents.words, numbers)

    def find_each(self, documents: Documents) -> list[list[set[int]]]:
        """For each document, stage by stage, what is found of it alone."""
        words = documents.words.tolist()
        return [
            [
                *(
                    set(self.maps[stage].find(documents.keys[stage][row])[0].tolist())
                    for stage in KEYS
                ),
                {number for number, _ in self.tables.find(words[row])},
            ]
            for row in range(len(documents))
        ]

    def look_up(self, documents: Documents) -> None:
        words = documents.words.tolist()
        for stage, index in self.maps.items():
            for keys in documents.keys[stage]:
                index.find(keys)
        for word in words:
            self.tables.find(word)

    def look_up_in_batches(self, documents: Documents) -> None:
        for start in range(0, len(documents), _BATCH):
            part = slice(start, start + _BATCH)
            for stage, index in self.maps.items():
                keys = documents.keys[stage][part]
                index.find_many(keys.ravel(), np.repeat(np.arange(len(keys)), keys.shape[1]))
            self.tables.find_many(documents.words[part])


def by_size(sizes: Sequence[int], seed: int) -> Iterator[Figures]:
    """Each size in memory, as far as it fits, and in files; each in a process of its own."""
    for n_documents in sizes:
        for is_in_files in (False, True):
            if is_in_files or n_documents <= MOST_IN_MEMORY:
                with TemporaryDirectory(prefix="dedup-") as folder:
                    yield in_child(measure, n_documents, is_in_files, seed, Path(folder))


def measure(n_documents: int, is_in_files: bool, seed: int, folder: Path) -> Figures:
    """What one index takes and how fast it is; for a child process."""
    bound = BOUND_BYTES * n_documents if is_in_files else None
    before = resident_bytes()
    index = WholeIndex(Arrays(bound, folder))
    figures, known, numbers = _fill(index, n_documents, seed)
    _check(index, known, numbers)
    return {
        "documents": n_documents,
        "index in": "files" if is_in_files else "memory",
        "bound_bytes": bound,
        "index_bytes_per_document": index.size_bytes / n_documents,
        "file_bytes": index.arrays.file_bytes,
        "process_bytes_before": before,
        **figures,
        **(_cold(index, known, folder) if is_in_files else {}),
        **_warm(index, known, seed),
        "process_bytes_after_lookups": resident_bytes(),
        "peak_process_bytes": peak_bytes(),
    }


def _fill(index: WholeIndex, n_documents: int, seed: int) -> tuple[Figures, Documents, list[int]]:
    """Also returns some of the documents, and their numbers."""
    kept: list[Documents] = []
    numbers: list[int] = []
    seconds = worst = 0.0
    for start in range(0, n_documents, _ADDED_AT_ONCE):
        documents = Documents(min(_ADDED_AT_ONCE, n_documents - start), (seed, start))
        begun = time.process_time()
        index.add_many(documents, np.arange(start, start + len(documents)))
        taken = time.process_time() - begun
        seconds, worst = seconds + taken, max(worst, taken)
        kept.append(documents.head(_KNOWN_OF_BATCH))
        numbers += range(start, start + len(kept[-1]))
    known = kept[0]
    known.keys = {stage: np.concatenate([each.keys[stage] for each in kept]) for stage in KEYS}
    known.words = np.concatenate([each.words for each in kept])
    figures = {
        "build_cpu_seconds": seconds,
        "worst_batch_cpu_seconds": worst,
        "process_bytes": resident_bytes(),
        "peak_process_bytes_of_build": peak_bytes(),
    }
    return figures, known, numbers


def _check(index: WholeIndex, known: Documents, numbers: list[int]) -> None:
    """Each document that was kept is found in each stage."""
    for number, found in zip(numbers, index.find_each(known), strict=True):
        if not all(number in each for each in found):
            raise ValueError(f"document {number} must be found in all stages, got {found}")


def _warm(index: WholeIndex, known: Documents, seed: int) -> Figures:
    figures = {}
    new = Documents(_LOOKUPS, (seed, -1 % 2**32))
    for name, documents in (("new", new), ("known", known.head(_LOOKUPS))):
        for way, look_up in (("find", index.look_up), ("batch", index.look_up_in_batches)):
            # CPU time: what is looked up is in memory, or in the system's cache of files.
            taken = timed(partial(look_up, documents), len(documents), clock=time.process_time)
            figures[f"{way}_{name}_seconds"] = asdict(taken)
    return figures


def _cold(index: WholeIndex, known: Documents, folder: Path) -> Figures:
    """The same, once, when nothing of the files is in the system's cache."""

    def seconds(look_up: Callable[[Documents], None]) -> float:
        _evict(index.arrays, folder)
        start = time.perf_counter()
        look_up(documents)
        return (time.perf_counter() - start) / len(documents)

    documents = known.head(_COLD_LOOKUPS)
    return {
        "cold_find_known_us": 1e6 * seconds(index.look_up),
        "cold_batch_known_us": 1e6 * seconds(index.look_up_in_batches),
    }


def _evict(arrays: Arrays, folder: Path) -> None:
    for mapping in arrays._mappings:
        mapping.flush()
        mapping.madvise(mmap.MADV_DONTNEED)
    for link in Path("/proc/self/fd").iterdir():
        try:
            is_own = str(link.readlink()).startswith(str(folder))
        except FileNotFoundError:
            continue
        if is_own:
            os.posix_fadvise(int(link.name), 0, 0, os.POSIX_FADV_DONTNEED)
