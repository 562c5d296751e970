"""What a store is: the contract that each implementation keeps.

`Store` is what the library's `Deduplicator` needs. A crawl needs a `JobStore`, which has the parts
`urls`, `learned` and `workers` as well, and queries by who asks them.
`tests/dedup/store/test_contract.py` checks all implementations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document, Match
from dedup.store.records import NewUrl, QueuedUrl

Schemes = Mapping[str, Mapping[str, object]]
"""The settings of each detector, or of something similar, by name."""

Signatures = Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]
"""Numbers of documents and their signatures, in batches."""

TakeSignatures = Callable[[str, NDArray[np.int64], Sequence[bytes]], None]
"""Takes a batch of a stage."""


class Store(Protocol):
    """Stores documents by number, with their signatures, and a record of each duplicate.

    Numbers ascend in the order of adding. What one call writes becomes durable together.
    """

    def check_schemes(self, schemes: Schemes, *, of: str = "detectors") -> None:
        """Store the schemes `of` a new store; raise `SchemeError` if an old one has others."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        """Store a unique document and its signatures by stage; return its number."""

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        """Replace the signatures of a document."""

    def add_duplicate(self, document: Document, match: Match) -> None:
        """Record that `document` was dropped for `match`."""

    def document(self, number: int) -> Document:
        """The document as added (id, text, url, title; the body may be left out).

        Raises:
            KeyError: there is no document of that number.
        """

    def signatures(self, stage: str, *, after: int = -1) -> Signatures:
        """The signatures of a stage, in batches, by ascending number.

        Args:
            stage: the detector that made them.
            after: only those of documents with a greater number, so that an index can load what
                was added since.
        """


class Workers:
    """The processes that share a job, seen from one of them. This class is for a single process.

    One process writes at a time: from `try_begin`, or from the first write, to the commit. It first
    receives what the others have added, so verdicts are those of a single process that gets the
    pages in the order of their numbers. A host belongs to one process, and only that process
    fetches from it. A process without a sign of life for the duration of a lease loses its hosts
    and can no longer write.

    Attributes:
        is_shared: False: this process works on the job alone.
    """

    is_shared = False

    def try_begin(self, *, waits: bool) -> bool:  # noqa: ARG002 -- no other process writes
        """Begin to write; False: another process is writing, and this one does not wait."""
        return True

    def end(self) -> None:
        """Commit what has been written since `try_begin`."""

    def on_signatures(self, call: TakeSignatures) -> None:
        """Have `call` called with what others add, before this process writes."""

    def before_commit(self, call: Callable[[], object]) -> None:
        """Have `call` called before each commit, to write something with it."""

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        """Queue URLs; return slot and row of those that are new or were queued again."""
        raise NotImplementedError("a single process queues URLs one by one")

    def note_hosts(self) -> None:
        """Tell the other processes the hosts of URLs that were queued in another way."""

    def beat(
        self,
        *,
        pages: int,  # noqa: ARG002 -- no other process asks
        pause: float = 0.0,  # noqa: ARG002
        paused: Mapping[str, float] | None = None,  # noqa: ARG002
    ) -> int:
        """Give a sign of life, and free the hosts of processes that have given none.

        Args:
            pages: fetched by this process.
            pause: seconds that others wait before they fetch from its hosts, if it dies.
            paused: hosts that have asked for a longer pause, and the seconds that remain.

        Returns:
            How many processes share the job.
        """
        return 1

    def take_hosts(self, at_most: int) -> list[str]:  # noqa: ARG002 -- all hosts are its own
        """Take hosts that have URLs or waiting pages and belong to no process."""
        return []

    def free_hosts(self, pauses: Mapping[str, float]) -> None:
        """Return hosts; others wait the given seconds before they fetch from each."""

    def queued_hosts(self) -> list[str]:
        """The hosts of this process that have URLs in the queue or in flight."""
        return []

    def fair_share(self) -> int:
        """How many hosts each process would have if all had the same number, at least 1."""
        return 1

    def has_queued(self) -> bool:
        """Does a shared job have any URL left to fetch?"""
        return False

    def has_waiting(self) -> bool:
        """Does any page of a shared job wait until more is known about its host?"""
        return False

    def leave(self, pauses: Mapping[str, float]) -> None:
        """Return all hosts, as `free_hosts` does, and leave the job.

        Does nothing in a second call, or when disconnected: then the lease expires.
        """
