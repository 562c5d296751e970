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
"""By detector or the like: by what settings it works."""

Signatures = Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]
"""Numbers of documents and their signatures, in batches."""

TakeSignatures = Callable[[str, NDArray[np.int64], Sequence[bytes]], None]
"""Takes a batch of a stage."""


class Store(Protocol):
    """Keeps documents by number, with their signatures, and the record of each duplicate.

    Numbers ascend in the order of adding. All that one call writes becomes durable together.
    """

    def check_schemes(self, schemes: Schemes, *, of: str = "detectors") -> None:
        """Note by what schemes `of` a new store is made; raise `SchemeError` where they differ."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        """Keep a unique document and its signatures by stage; return its number."""

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        """Keep other signatures of a document than before."""

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
            after: only those of documents with a greater number than this, so that an index can
                take up what was added since it was loaded.
        """


class Workers:
    """The processes that work on one job, as one of them sees them; here, the only one.

    One process writes at a time: from `try_begin`, or from the first write, to the commit. Whoever
    begins has first been told what the others have added, so verdicts are those of one process
    that is fed in the order of the numbers. A host belongs to one process, which alone fetches
    from it. A process that is not heard of for the time of a lease loses its hosts to others, and
    cannot write any more.

    Attributes:
        is_shared: False: this process works on the job alone, and is told nothing.
    """

    is_shared = False

    def try_begin(self, *, waits: bool) -> bool:  # noqa: ARG002 -- nobody else writes
        """Begin to write; False: another process writes, and this one does not wait for it."""
        return True

    def end(self) -> None:
        """Commit what has been written since `try_begin`."""

    def on_signatures(self, call: TakeSignatures) -> None:
        """Have what others add told by stage, numbers ascending, before this process writes."""

    def before_commit(self, call: Callable[[], object]) -> None:
        """Have something written with whatever is committed."""

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        """Queue URLs; return slot and row of those that were new, or were queued again."""
        raise NotImplementedError("a single process queues URLs one by one")

    def note_hosts(self) -> None:
        """Have others find the hosts of all URLs that have been queued by other means."""

    def beat(
        self,
        *,
        pages: int,  # noqa: ARG002 -- nobody asks
        pause: float = 0.0,  # noqa: ARG002
        paused: Mapping[str, float] | None = None,  # noqa: ARG002
    ) -> int:
        """Give a sign of life, and free the hosts of those that have given none.

        Args:
            pages: fetched by this process.
            pause: seconds that its hosts rest where it dies before others fetch from them.
            paused: hosts that have asked for a longer pause, and the seconds left of it.

        Returns:
            How many processes share the job.
        """
        return 1

    def take_hosts(self, at_most: int) -> list[str]:  # noqa: ARG002 -- all are its own
        """Get hosts that have URLs or waiting pages, and that nobody fetches from."""
        return []

    def free_hosts(self, pauses: Mapping[str, float]) -> None:
        """Give hosts back; others wait so many seconds before they fetch from each."""

    def queued_hosts(self) -> list[str]:
        """Those of the hosts of this process that have URLs in the queue, or in flight."""
        return []

    def fair_share(self) -> int:
        """How many hosts each process would have if they had as many, at least 1."""
        return 1

    def has_queued(self) -> bool:
        """Is any URL of a shared job still to be fetched?"""
        return False

    def has_waiting(self) -> bool:
        """Does any page of a shared job wait until more is known of its host?"""
        return False

    def leave(self, pauses: Mapping[str, float]) -> None:
        """Give all hosts back, as `free_hosts` does, and work on the job no more.

        A second call does nothing. Without a connection, it does nothing either: the lease expires.
        """
