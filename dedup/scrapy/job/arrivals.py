"""Pages between the spider and the pipelines: some wait until enough is known of their site."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields

from scrapy.http import Response

from dedup.html.page_text import PageText
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.item_fields import ItemFields
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.job.in_pipelines import Entry, ItemsInPipelines, page_of_item
from dedup.scrapy.job.ledger import Ledger
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.reading.page import PageFacts
from dedup.sites.learner import LearningStep, Ready, SiteLearner
from dedup.sites.outline import Outline
from dedup.sites.site import Site
from dedup.store import JobStore, Page
from dedup.store.records import PAGE_FIELDS
from dedup.urls.parts import host_of

_ITEM_FIELDS = tuple(
    field.name for field in fields(PageItem) if field.name in PAGE_FIELDS and field.name != "url"
)


class Arrivals:
    """Takes pages in the order of their arrival, and returns those that are ready to be judged.

    Args:
        learner: knows what sites repeat.
        is_learning: is it learned what sites repeat?
        is_ours: does this process learn of a host? Otherwise two would.

    Attributes:
        is_closing: does the crawl stop? Then no page begins to wait, and no URL is fetched.
    """

    def __init__(
        self,
        store: JobStore,
        ledger: Ledger,
        content: ContentIndex,
        items: ItemsInPipelines,
        learner: SiteLearner,
        *,
        is_learning: bool,
        is_ours: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._content = content
        self._items = items
        self._learner = learner
        self._is_learning = is_learning
        self._is_ours = is_ours
        self.is_closing = False

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

    def count(self, item: PageItem, facts: PageFacts) -> None:
        """Count a page that was read by what is known of its site; more may be known then."""
        if facts.extracted.contribution is None or not self._is_ours(host_of(item.url)):
            return
        with self._store.unit():
            self._reread(self._learner.add(item.url, facts.extracted.contribution))

    def arrive(
        self,
        item: PageItem,
        facts: PageFacts,
        finishes: Sequence[FinishedUrl],
        revisits: int | None = None,
    ) -> list[PageItem]:
        """Take a page; return the items that are ready to be judged.

        Either the page is among them, or it waits until more is known of its site. In both cases
        its URLs are done.

        Args:
            item: the page, as read by what is known of its site.
            facts: what its reader found besides the item's fields.
            finishes: the page's URLs.
            revisits: the number of the stored page of which this is a new version.
        """
        released = [self._item_of(ready) for ready in self._learner.release(item.url).ready]
        entry = self._note(item, facts, finishes)
        entry.revisits = revisits
        if not self._is_ours(host_of(item.url)):
            return [*released, item]
        outline, page = facts.extracted.outline, page_of_item(item, ItemFields())
        is_known = facts.extracted.contribution is not None
        if is_known or outline is None or page is None or self.is_closing or revisits is not None:
            entry.outline = outline
            return [*released, item]
        page = facts.give(page)
        if self._content.is_copy(page):  # whatever its site repeats
            return [*released, item]
        self._items.forget(item)  # another item is made of the page later
        return [*released, *self._wait(page, outline, finishes)]

    def resume(self) -> list[PageItem]:
        """The items that were ready when an earlier process ended."""
        return [self._item_of(ready) for ready in self._learner.resume().ready]

    def finish(self) -> list[PageItem]:
        """Some of the items that still wait, to be judged by what is known; []: none wait."""
        with self._store.unit():
            progress = self._learner.finish()
            self._reread(progress)
        return [self._item_of(ready) for ready in progress.ready]

    # --- Outcomes --------------------------------------------------------------------

    def note_stored(self, number: int, page: Page, outline: Outline | None) -> None:
        """Learn from a page that was stored before enough was known of its site."""
        if outline is not None:
            self._reread(self._learner.early(number, page, outline))

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

    def _item_of(self, ready: Ready, finishes: Sequence[FinishedUrl] = ()) -> PageItem:
        page = ready.page
        item = PageItem(
            url=page.url or "",
            text=page.text,
            body=page.body or b"",
            **{name: getattr(page, name) for name in _ITEM_FIELDS},
        )
        page_text = PageText(
            page.text,
            page.heading,
            page.title if page.own_title is None else page.own_title,
            page.source,
            page.site_version or 0,
            page.rest,
        )
        facts = PageFacts(item.text, item.title, item.body, page_text, None)
        entry = self._note(item, facts, finishes)
        entry.place, entry.outline = ready.place, ready.outline
        return item

    def _note(self, item: PageItem, facts: PageFacts, finishes: Sequence[FinishedUrl]) -> Entry:
        entry = self._items.note(item)
        entry.is_ours, entry.facts, entry.finishes = True, facts, tuple(finishes)
        return entry

    def _reread(self, progress: LearningStep) -> None:
        for number, own in progress.reread:
            self._content.change(number, own)
