"""Pages between the spider and the pipelines: some wait until enough is known of their site."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from scrapy.http import Response

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.job.in_pipelines import Entry, item_of
from dedup.scrapy.job.ledger import Ledger
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.reading.reading import Reading
from dedup.sites.learner import LearningStep, Ready, SiteLearner
from dedup.sites.outline import Outline
from dedup.sites.site import Site
from dedup.store import JobStore, Page
from dedup.urls.parts import host_of


class Arrivals:
    """Takes pages in the order of their arrival, and returns those that are ready to be judged.

    Args:
        learner: knows what sites repeat.
        is_learning: is it learned what sites repeat?
        is_ours: does this process learn of a host? Otherwise two would.
        kind: of the items.

    Attributes:
        is_closing: does the crawl stop? Then no URL is fetched.
        may_wait: may a page begin to wait? Not once all that wait are judged, as the crawl stops.
    """

    def __init__(
        self,
        store: JobStore,
        ledger: Ledger,
        content: ContentIndex,
        learner: SiteLearner,
        *,
        is_learning: bool,
        is_ours: Callable[[str], bool] = lambda _: True,
        kind: type[PageItem] = PageItem,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._content = content
        self._learner = learner
        self._is_learning = is_learning
        self._is_ours = is_ours
        self._kind = kind
        self.is_closing = False
        self.may_wait = True

    @property
    def n_waiting(self) -> int:
        """The number of pages that wait; those that are being judged do not count."""
        return self._learner.n_waiting

    @property
    def n_unjudged(self) -> int:
        """The number of pages that have been fetched and are not judged yet."""
        return self._learner.n_unjudged

    # --- What is known of a host -----------------------------------------------------------------

    def site(self, url: str, *, ahead: int = 0) -> Site | None:
        """What is known of a page's host, for one before which `ahead` others arrive.

        None: it is not learned what sites repeat.
        """
        return self._learner.site(host_of(url), ahead=ahead) if self._is_learning else None

    def encoding(self, response: Response) -> str | None:
        """The encoding of most pages of the host that are not UTF-8; None: there are none."""
        return self._store.learned.encoding(host_of(response.url))

    def note_encoding(self, response: Response, encoding: str) -> None:
        """Learn the host's encoding from a page, when the page is recorded."""
        key = response.meta.get(KEY)
        if key is not None and not encoding.startswith("utf"):
            self._ledger.note_encoding(key, host_of(response.url), encoding)

    def take_up(self, names: Collection[str]) -> None:
        """Go on with hosts that another process has worked on."""
        self._learner.take_up(names)

    def give_up(self, names: Collection[str]) -> None:
        """Leave hosts to other processes."""
        self._learner.give_up(names)

    def names_waiting(self) -> set[str]:
        """The names of hosts that have pages which wait."""
        return self._learner.names_waiting()

    def names_judged(self) -> set[str]:
        """The names of hosts that have pages which waited, and are being judged."""
        return self._learner.names_judged()

    @property
    def may_finish(self) -> bool:
        """Does nothing come any more that pages wait for?"""
        return not self._store.workers.has_queued()

    # --- Pages -----------------------------------------------------------------------------------

    def arrive(
        self, reading: Reading, finishes: Sequence[FinishedUrl], revisits: int | None = None
    ) -> list[PageItem] | None:
        """Take a page; return the items that are ready to be judged.

        Either the page is among them, or it waits until more is known of its site. In both cases
        its URLs are done. None: the page is not taken, because it was read with an earlier version
        of what is known of its site.

        Args:
            reading: the page.
            finishes: its URLs.
            revisits: the number of the stored page of which this is a new version.
        """
        page = reading.page
        if revisits is None and self._is_current(reading):
            self._count(reading)
        if not self._is_current(reading):
            return None
        url = page.url or ""
        released = [self._item_of(ready) for ready in self._learner.release(url).ready]
        outline = reading.outline if self._is_ours(host_of(url)) else None
        is_known = reading.contribution is not None or revisits is not None
        if outline is not None and self.may_wait and not is_known:
            if not (self._content.is_copy(page) or self._is_brought(finishes)):
                return [*released, *self._wait(page, outline, finishes)]
            outline = None  # it is no page of its own, with or without knowledge of the site
        return [*released, self._item_of(Ready(page, None, outline), finishes, revisits)]

    def _is_brought(self, finishes: Sequence[FinishedUrl]) -> bool:
        """Has another request brought the page, as one of both was redirected to its URL?"""
        keys = [each.key for each in finishes if each.role == "page"]
        return any(map(self._store.urls.has_page, keys))

    def resume(self) -> list[PageItem]:
        """The items that were ready when an earlier process ended."""
        return [self._item_of(ready) for ready in self._learner.resume().ready]

    def finish(self) -> list[PageItem]:
        """Some of the waiting items, read with what is known of their sites now; []: none wait."""
        with self._store.unit():
            progress = self._learner.finish()
            self._reread(progress)
        return [self._item_of(ready) for ready in progress.ready]

    # --- Outcomes --------------------------------------------------------------------

    def note_stored(self, number: int, page: Page, outline: Outline | None) -> None:
        """Learn from a page that was stored before enough was known of its site."""
        if outline is not None:
            self._reread(self._learner.early(number, page, outline))

    def note_replaced(self, number: int, page: Page, outline: Outline | None) -> None:
        """Note that a page has a new version; in the unit that stores it."""
        self._learner.replaced(number, page, outline)

    def note_judged(self, place: int | None) -> None:
        """Note that a page that waited has been judged; in the unit that records its outcome."""
        if place is not None:
            self._learner.done(place)

    # --- Private ---------------------------------------------------------------------------------

    def _wait(
        self, page: Page, outline: Outline, finishes: Sequence[FinishedUrl]
    ) -> list[PageItem]:
        with self._store.unit():
            progress = self._learner.arrive(page, outline)
            if any(ready.place is None for ready in progress.ready):  # it need not wait
                (ready,) = progress.ready
                return [self._item_of(ready, finishes)]
            self._ledger.record(
                Outcome(kind="waiting", url=page.url or "", finishes=tuple(finishes))
            )
            self._reread(progress)
        return [self._item_of(ready) for ready in progress.ready]

    def _is_current(self, reading: Reading) -> bool:
        """Was the page read with the current knowledge of its site?"""
        site = self.site(reading.page.url or "")
        return site is None or site.version == reading.site_version

    def _count(self, reading: Reading) -> None:
        """Count a page that was read with knowledge of its site; more may be known after it."""
        url = reading.page.url or ""
        if reading.contribution is None or not self._is_ours(host_of(url)):
            return
        with self._store.unit():
            self._reread(self._learner.add(url, reading.contribution))

    def _reread(self, progress: LearningStep) -> None:
        for number, own in progress.reread:
            self._content.change(number, own)

    def _item_of(
        self, ready: Ready, finishes: Sequence[FinishedUrl] = (), revisits: int | None = None
    ) -> PageItem:
        entry = Entry(
            read=ready.page,
            finishes=tuple(finishes),
            revisits=revisits,
            place=ready.place,
            outline=ready.outline,
        )
        item = item_of(ready.page, self._kind)
        item.known_as(entry)
        return item
