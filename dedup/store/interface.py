"""What a store is: the contract that each implementation keeps.

`Store` is what the library's `Deduplicator` needs. A crawl needs a `JobStore`, which has the parts
`urls`, `learned` and `workers` as well, and queries by who asks them.
`tests/dedup/store/test_contract.py` holds the implementations to it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document, Match
from dedup.sites.outline import Outline
from dedup.store.records import KnownUrl, NewUrl, Outlined, Page, QueuedUrl


class Store(Protocol):
    """Keeps documents by number, with their signatures, and the record of each duplicate.

    Numbers ascend in the order of adding. All that one call writes becomes durable together.
    """

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
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

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        """The signatures of a stage, in batches, by ascending number.

        Args:
            stage: the detector that made them.
            after: only those of documents with a greater number than this, so that an index can
                take up what was added since it was loaded.
        """


class UrlQueue(Protocol):
    """The exact set of URLs of a job by their keys, with the state of each; also the queue.

    Within a slot (a host) the lowest rank goes first, and of these the URL that was found first. A
    URL in flight stays queued until it is finished: one process works on a job, so what is in
    flight when it dies is queued again by that alone.
    """

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Which of `keys` were seen."""

    def queue(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
        is_held: bool = False,
    ) -> QueuedUrl | None:
        """Note a URL that is to be fetched; one that is known stays as it is, and gives None.

        With `is_held`, its request is in the memory of this process alone, see `drop_held`.
        """

    def queue_again(
        self, key: bytes, request: bytes | None, *, slot: str, rank: int, is_held: bool = False
    ) -> QueuedUrl | None:
        """Queue a known URL once more, in another place or by another request.

        None: the URL is not known.
        """

    def note_too_deep(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
    ) -> None:
        """Note a URL that is not fetched for its depth; one that is known stays as it is.

        It does not count as seen: it is new where a shorter way leads to it.
        """

    def count_within(self, depth: int) -> int:
        """How many URLs were too deep, and are within this depth; 0: any depth."""

    def queue_within(self, depth: int) -> None:
        """Queue the URLs that were too deep, and are within this depth; 0: any depth."""

    def finish(self, urls: Iterable[tuple[bytes, str]], *, has_failed: bool = False) -> None:
        """Note that these (key, URL) need no fetching any more, known before or not.

        The requests of URLs that `has_failed` are kept, for another try.
        """

    def add_alias(self, url: str, page_url: str, kind: str) -> None:
        """Record that `url` leads to the page at `page_url`: by `redirect` or `canonical` link."""

    def rank(self, key: bytes) -> int | None:
        """The rank of a URL, queued or not; None: it is not known."""

    def finish_all(self) -> None:
        """Note that no URL needs fetching any more."""

    def drop(self, keys: Iterable[bytes]) -> None:
        """Forget URLs altogether."""

    def drop_held(self) -> int:
        """Forget the URLs whose requests an earlier process held in memory; return their number."""

    def find(self, key: bytes) -> KnownUrl | None:
        """A URL and its state; None: it is not known."""

    def state(self, key: bytes) -> int | None:
        """`QUEUED`, `DONE`, `HELD` or `TOO_DEEP`; None: the URL is not known."""

    def is_done(self, key: bytes) -> bool: ...

    def is_queued(self, key: bytes) -> bool: ...

    def slots(self) -> list[str]:
        """The slots with queued URLs, in alphabetical order."""

    def first_queued(self, slot: str, limit: int) -> list[QueuedUrl]:
        """The queued URLs of a slot that are to be fetched first, in their order."""

    def count_queued(self) -> int: ...

    def keys(self) -> Iterator[list[bytes]]:
        """All keys, in batches."""

    def deferred(self, rank: int) -> list[str]:
        """URLs that were put off to this rank or behind, and have been fetched all the same."""

    def queue_failed(self, reasons: Collection[str] = ()) -> Counter[str]:
        """Take failed URLs off the record and queue them; return how many, by reason.

        Args:
            reasons: which; none: those that another try may mend, such as timeouts.
        """

    def queue_skipped(self, reason: str) -> Counter[str]:
        """Take URLs off the record that were not fetched, and queue them; how many, by slot."""

    def queue_found(self, keys: Sequence[bytes], *, with_skipped: bool) -> Counter[str]:
        """Queue links as new ones that were put off because they were found on duplicates alone.

        Returns the slots, each with the number of those that come off the record: `with_skipped`,
        links that were not fetched for that reason are queued, too.
        """

    def __len__(self) -> int:
        """How many URLs were seen."""


class HostKnowledge(Protocol):
    """What is learned of a job's hosts: what pages repeat, encodings; and pages to learn from.

    A page of a host of which nothing is known yet *waits*: it has been fetched, and has a place in
    the order of arrival, but no number. A page that was stored before enough was known is *early*:
    it has a number, and is read again later.
    """

    def site(self, host: str) -> bytes | None:
        """What is known of a host; None: nothing is."""

    def hosts(self) -> list[str]:
        """The hosts of which something is known, in alphabetical order."""

    def set_site(self, host: str, value: bytes) -> None:
        """Note what is known of a host from now on."""

    def before_commit(self, call: Callable[[], object]) -> None:
        """Have something noted with whatever is committed."""

    def encoding(self, host: str) -> str | None:
        """What most pages of a host are in, of those that were added; None: none was."""

    def add_encoding(self, host: str, encoding: str) -> None:
        """Count a page of a host."""

    def add_waiting(self, page: Page, outline: Outline) -> int:
        """Have a page wait; return its place in the order of arrival."""

    def waiting(self, host: str) -> list[Outlined]:
        """The pages of a host that wait, in the order of their arrival."""

    def waiting_page(self, place: int) -> Page:
        """A page that waits, as it was read by itself."""

    def drop_waiting(self, place: int) -> None: ...

    def count_waiting(self) -> dict[str, int]:
        """How many pages wait, by host, the host of the first one first."""

    def add_early(self, number: int, host: str, outline: Outline, *, at_most: int) -> None:
        """Note a page that was stored too early; of a host, the last `at_most` count."""

    def early(self, host: str) -> list[Outlined]:
        """The early pages of a host, by their numbers."""

    def count_early(self, host: str) -> int:
        """How many early pages a host has."""

    def drop_early(self, numbers: Sequence[int]) -> None: ...


class Workers(Protocol):
    """The processes that work on one job, as one of them sees them.

    One process writes at a time: from `try_begin`, or from the first write, to the commit. Whoever
    begins has first been told what the others have added, so verdicts are those of one process
    that is fed in the order of the numbers. A host belongs to one process, which alone fetches
    from it. A process that is not heard of for the time of a lease loses its hosts to others, and
    cannot write any more.
    """

    is_shared: bool
    """False: this process works on the job alone, and is told nothing."""

    def try_begin(self, *, waits: bool) -> bool:
        """Begin to write; False: another process writes, and this one does not wait for it."""

    def end(self) -> None:
        """Commit what has been written since `try_begin`."""

    def on_signatures(
        self, call: Callable[[str, NDArray[np.int64], Sequence[bytes]], None]
    ) -> None:
        """Have what others add told by stage, numbers ascending, before this process writes."""

    def before_commit(self, call: Callable[[], object]) -> None:
        """Have something written with whatever is committed."""

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        """Queue URLs; return slot and row of those that were new, or were queued again."""

    def note_hosts(self) -> None:
        """Have others find the hosts of all URLs that have been queued by other means."""

    def beat(
        self, *, pages: int, pause: float = 0.0, paused: Mapping[str, float] | None = None
    ) -> int:
        """Give a sign of life, and free the hosts of those that have given none.

        Args:
            pages: fetched by this process.
            pause: seconds that its hosts rest where it dies before others fetch from them.
            paused: hosts that have asked for a longer pause, and the seconds left of it.

        Returns:
            How many processes share the job.
        """

    def take_hosts(self, at_most: int) -> list[str]:
        """Get hosts that have URLs or waiting pages, and that nobody fetches from."""

    def free_hosts(self, pauses: Mapping[str, float]) -> None:
        """Give hosts back; others wait so many seconds before they fetch from each."""

    def queued_hosts(self) -> list[str]:
        """Those of the hosts of this process that have URLs in the queue, or in flight."""

    def fair_share(self) -> int:
        """How many hosts each process would have if they had as many, at least 1."""

    def has_queued(self) -> bool:
        """Is any URL of a shared job still to be fetched?"""

    def has_waiting(self) -> bool:
        """Does any page of a shared job wait until more is known of its host?"""

    def leave(self, pauses: Mapping[str, float]) -> None:
        """Give all hosts back, as `free_hosts` does, and work on the job no more.

        A second call does nothing, nor does one without a connection: then others find out.
        """
