"""Our index and its peers behind one shape, each by its best documented calls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from benchmarks.measure import peer
from benchmarks.workload import Fingerprints, as_column, as_ints, scan
from dedup.index import PermutedTables

Pairs = set[tuple[int, int]]
"""(index of the lookup, number of the document)."""


class Contender(ABC):
    """An index of 64-bit fingerprints, and how it is asked.

    Attributes:
        name: for the table.
        package: to be installed; "" for our own.
        n_lookups: single lookups that are timed: fewer for the slow.
        is_exact: it must find what a linear scan finds.
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    n_lookups: ClassVar[int] = 20_000
    is_exact: ClassVar[bool] = True

    def __init__(self, max_distance: int) -> None:
        self.max_distance = max_distance

    def prepare(self, fingerprints: Fingerprints) -> Sequence[Any]:
        """The form in which it takes fingerprints; not timed."""
        return as_ints(fingerprints)

    @abstractmethod
    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:
        """Index all of them, number 0 first."""

    @abstractmethod
    def finder(self) -> Callable[[Any], Any]:
        """The call that looks up one prepared fingerprint."""

    @abstractmethod
    def numbers(self, answer: Any) -> list[int]:
        """The numbers in an answer of `finder`."""

    def find_batch(self, queries: Fingerprints) -> Any:  # noqa: ARG002 -- the shape of all
        """Look up many at once; None: it cannot."""
        return None

    def batch_pairs(self, answer: Any) -> Pairs:
        raise NotImplementedError


class OurBatch(Contender):
    """Our index, built at once."""

    name = "PermutedTables, built at once"

    def __init__(self, max_distance: int) -> None:
        super().__init__(max_distance)
        self.index = PermutedTables(64, max_distance)

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        self.index.add_many(as_column(fingerprints), np.arange(len(fingerprints)))

    def finder(self) -> Callable[[Any], Any]:
        return self.index.find

    def numbers(self, answer: Any) -> list[int]:
        return [number for number, _ in answer]

    def find_batch(self, queries: Fingerprints) -> Any:
        return self.index.find_many(as_column(queries))

    def batch_pairs(self, answer: Any) -> Pairs:
        return set(zip(answer[0].tolist(), answer[1].tolist(), strict=True))


class OurSingles(OurBatch):
    """Our index, filled by single inserts: several runs, and a tail."""

    name = "PermutedTables, added one by one"

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        add = self.index.add
        for number, fingerprint in enumerate(prepared):
            add(fingerprint, number)


class PypiSimhash(Contender):
    name = "simhash.SimhashIndex"
    package = "simhash"
    n_lookups = 2_000

    def __init__(self, max_distance: int) -> None:
        index_class = peer("simhash").SimhashIndex

        super().__init__(max_distance)
        self.index = index_class([], k=max_distance)

    def prepare(self, fingerprints: Fingerprints) -> Sequence[Any]:
        simhash_class = peer("simhash").Simhash

        return [simhash_class(one) for one in as_ints(fingerprints)]

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        for number, fingerprint in enumerate(prepared):
            self.index.add(str(number), fingerprint)

    def finder(self) -> Callable[[Any], Any]:
        find: Callable[[Any], Any] = self.index.get_near_dups
        return find

    def numbers(self, answer: Any) -> list[int]:
        return [int(name) for name in answer]


class Gaoya(Contender):
    """Indexes documents only: so each fingerprint becomes a text of 20 words, and stays its secret.

    It takes `hamming_distance` for the first distance that is too far, so it is asked for one more,
    with the 5 blocks that this needs. What can be checked is that it finds equal documents.
    """

    name = "gaoya.SimHashStringIndex (k + 1 asked for)"
    package = "gaoya"
    is_exact = False

    def __init__(self, max_distance: int) -> None:
        index_class = peer("gaoya.simhash").SimHashStringIndex

        super().__init__(max_distance)
        self.index = index_class(
            hash_size=64, num_blocks=max_distance + 2, hamming_distance=max_distance + 1
        )

    def prepare(self, fingerprints: Fingerprints) -> Sequence[Any]:
        return [
            " ".join(f"{fingerprint * (2 * place + 1) & 0xFFFFFFFF:x}" for place in range(20))
            for fingerprint in as_ints(fingerprints)
        ]

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        for number, text in enumerate(prepared):
            self.index.insert_document(number, text)

    def finder(self) -> Callable[[Any], Any]:
        find: Callable[[Any], Any] = self.index.query
        return find

    def numbers(self, answer: Any) -> list[int]:
        return list(answer)


class Faiss(Contender):
    name = "faiss.IndexBinaryMultiHash, 1 thread"
    package = "faiss-cpu"

    def __init__(self, max_distance: int) -> None:
        faiss = peer("faiss")

        super().__init__(max_distance)
        faiss.omp_set_num_threads(1)
        tables = max_distance + 1
        self.index = faiss.IndexBinaryMultiHash(64, tables, 64 // tables)

    def prepare(self, fingerprints: Fingerprints) -> Sequence[Any]:
        return list(_as_bytes(fingerprints)[:, np.newaxis])

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        self.index.add(_as_bytes(fingerprints))

    def finder(self) -> Callable[[Any], Any]:
        def find(query: Any) -> Any:
            return self.index.range_search(query, self.max_distance + 1)

        return find

    def numbers(self, answer: Any) -> list[int]:
        found: list[int] = answer[2].tolist()
        return found

    def find_batch(self, queries: Fingerprints) -> Any:
        return self.index.range_search(_as_bytes(queries), self.max_distance + 1)

    def batch_pairs(self, answer: Any) -> Pairs:
        limits, _, numbers = answer
        return {
            (index, int(number))
            for index, (start, stop) in enumerate(pairwise(limits.tolist()))
            for number in numbers[start:stop]
        }


class LinearScan(Contender):
    name = "numpy, linear scan"
    n_lookups = 300

    def prepare(self, fingerprints: Fingerprints) -> Sequence[Any]:
        return list(fingerprints)

    def build(self, fingerprints: Fingerprints, prepared: Sequence[Any]) -> None:  # noqa: ARG002 -- the shape of all
        self.fingerprints = fingerprints.copy()

    def finder(self) -> Callable[[Any], Any]:
        return lambda query: scan(self.fingerprints, query, self.max_distance)

    def numbers(self, answer: Any) -> list[int]:
        found: list[int] = answer[0].tolist()
        return found


def _as_bytes(fingerprints: Fingerprints) -> Any:
    return np.ascontiguousarray(fingerprints).view(np.uint8).reshape(len(fingerprints), -1)


CONTENDERS: tuple[type[Contender], ...] = (
    OurBatch,
    OurSingles,
    PypiSimhash,
    Gaoya,
    Faiss,
    LinearScan,
)
