"""Judges items in the pipelines, and records their outcomes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from scrapy import signals
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import StatsCollector
from twisted.python.failure import Failure

from dedup.document import Match
from dedup.html.page_text import PageText
from dedup.scrapy.item_fields import ItemFields, SeenNames, fill, get
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.arrivals import Arrivals
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.job.drops import Drop, DropLog
from dedup.scrapy.job.in_pipelines import Entry, ItemsInPipelines, page_of_item
from dedup.scrapy.job.ledger import Ledger
from dedup.scrapy.job.outcome import Outcome, OutcomeKind
from dedup.store import JobStore, Page
from dedup.store.records import with_text
from dedup.urls.parts import site_of

logger = logging.getLogger(__name__)

Asked = tuple[object, int]
"""An item, and the share of the detectors that judges it."""


class ItemJudge:
    """Judges each item once, and has the ledger record its outcome.

    Each content pipeline looks for the original by its own share of the detectors; the last of them
    stores a page that has no original.

    Args:
        fields: the fields of items of other projects' spiders.
        short_shingles: texts of fewer shingles are short.
        is_resent: does the project's own scheduler send pages of an earlier run again?

    Attributes:
        drops: the items dropped in this run.
    """

    def __init__(
        self,
        store: JobStore,
        ledger: Ledger,
        content: ContentIndex,
        items: ItemsInPipelines,
        arrivals: Arrivals,
        stats: StatsCollector,
        *,
        fields: ItemFields,
        short_shingles: int,
        is_resumed: bool,
        is_resent: bool,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._content = content
        self._items = items
        self._arrivals = arrivals
        self._stats = stats
        self._fields = fields
        self._short_shingles = short_shingles
        self._is_resumed = is_resumed
        self._is_resent = is_resent
        self._names = SeenNames(fields)
        self.drops = DropLog()
        self.reduce: Callable[[Page, bool], object] | None = None
        """Called with a page before it is stored, if its body is not, and whether its text may not
        change any more: sets what stands for the body."""
        self.claim: Callable[[Page], object] | None = None
        """Called with a page before it is dropped as a copy of another host's page: sets what it
        says of where it is from."""
        self._shares: list[list[str]] = []
        """The stages that each content pipeline asks first."""
        self._done: set[bytes] | None = None
        """Of the URLs of items that are judged together, those that are recorded."""
        self._resent: set[int] = set()
        """Pages of earlier runs that were fetched again in this one."""

    # --- For the content pipelines ---------------------------------------------------------------

    def join(self, stages: Iterable[str]) -> int:
        """Add a share with the detectors of these stages; return its number."""
        self._shares.append(self._content.use(stages))
        return len(self._shares) - 1

    def open(self) -> None:
        """Load the detectors' index, when all pipelines have joined."""
        self._content.open()

    def judge(self, item: object, share: int) -> Drop | None:
        """Look for the original of an item by the detectors of a share.

        The last share stores an item without an original. If pages were stored after the item was
        analysed, as other pipelines await something or other processes share the job, the detectors
        of the shares before look again.
        """
        entry = self._items.entry(item)
        page = self._page(entry, item)
        is_last = self._is_last(share)
        if page is None:
            if is_last:
                self._stats.inc_value("dedup/items/no_page")
            return None
        if entry.is_recorded:
            return None
        if entry.revisits is not None:  # it stays a page, also if it is a copy of another one now
            if is_last:
                self._store_version(item, entry, page, entry.revisits)
            return None
        match = self._content.find(page, self._stages(entry, share))
        if match is not None:
            is_resent = self._is_resent_page(entry, page, match)
            return None if is_resent else self._drop(entry, page, match)
        if is_last and self._is_brought(entry):
            return self._drop_brought(entry, page)
        if is_last:
            if self._content.was_cut(page):
                self._stats.inc_value("dedup/pages/compared_in_part")
            if page.needs_rendering:
                self._stats.inc_value("dedup/pages/needs_rendering")
            self._store_page(item, entry, page)
        return None

    def is_to_record(self, item: object, share: int) -> bool:
        """Would `judge` record the item, as far as is known before this process's turn?

        What it is compared with here needs no comparison in the turn.
        """
        entry = self._items.entry(item)
        page = self._page(entry, item)
        if self._is_last(share):
            return True
        if page is None or not _is_compared(entry):
            return False
        return self._content.find(page, self._shares[share]) is not None

    def prepare(self, asked: Sequence[Asked]) -> None:
        """Compute what storing items needs, before others have to wait for it."""
        for item, share in asked:
            entry = self._items.entry(item)
            if entry.page is not None and _is_compared(entry):
                self._content.prepare(entry.page)
                self._reduce(entry, entry.page)
                if not self._is_last(share):  # it is a copy, as far as is known
                    match = self._content.find(entry.page, self._shares[share])
                    if match is not None:
                        self._claim(entry.page, match)

    @contextmanager
    def together(self, asked: Sequence[Asked]) -> Iterator[None]:
        """Judge items together: `judge` is called for each within, in this order."""
        entries = [self._items.entry(item) for item, _ in asked]
        pages = [each.page for each in entries if each.page is not None and _is_compared(each)]
        self._done = self._store.urls.done([key for each in entries for key in _page_keys(each)])
        try:
            with self._content.judging(pages):
                yield
        finally:
            self._done = None

    def follow_signals(self, all_signals: SignalManager) -> None:
        """Follow Scrapy's signals, so that each item leaves at the end of the pipelines."""
        all_signals.connect(self._item_scraped, signals.item_scraped)
        all_signals.connect(self._item_dropped, signals.item_dropped)
        all_signals.connect(self._item_error, signals.item_error)

    # --- For the other pipelines -----------------------------------------------------------------

    def page_of(self, item: object) -> tuple[Page | None, Mapping[str, object]]:
        """The item as a page, and what was read from its HTML by field; None: it is no page."""
        entry = self._items.entry(item)
        return self._page(entry, item), entry.extracted

    def follow(self, item: object) -> None:
        """Identify the item from here on, even if other pipelines replace the object."""
        self._items.arrive(item)

    def note_extracted(self, item: object, found: Mapping[str, object], text: PageText) -> None:
        """Note the values that were read from the item's HTML, by field."""
        entry = self._items.entry(item)
        entry.extracted, entry.outline = found, text.outline
        entry.read = with_text(Page(id="", text="", title=str(found["title"])), text)

    def record_unread(self, item: object, reason: str, detail: str) -> None:
        """Record an item whose page could not be read."""
        entry = self._items.entry(item)
        self._record_skipped(entry, self._fields.url_of(item) or "", reason, detail)

    def record_lost(self, item: object, reason: str, detail: str) -> None:
        """Record an item that another pipeline has dropped, if it was not recorded before."""
        entry = self._items.entry(item)
        fields = self._fields_of(entry)
        names = (*fields.text, "html", "body")
        is_page = entry.page is not None or any(get(item, name) for name in names)
        if is_page and not entry.is_recorded:
            url = fields.url_of(item) or (entry.page.url if entry.page else None) or ""
            self._record_skipped(entry, url, reason, detail)
        self._items.leave(item)

    def unknown_fields(self) -> list[str]:
        """A sentence for each field that a setting names and that no item had."""
        return self._names.missing()

    # --- Private ---------------------------------------------------------------------------------

    def _item_scraped(self, item: object) -> None:
        self._items.leave(item)

    def _item_dropped(self, item: object, exception: Exception) -> None:
        self.record_lost(item, "pipeline_dropped", str(exception))

    def _item_error(self, item: object, failure: Failure) -> None:
        name = type(failure.value).__name__
        self.record_lost(item, "pipeline_error", f"{name}: {failure.getErrorMessage()}")

    def _fields_of(self, entry: Entry) -> ItemFields:
        return ItemFields() if entry.is_ours else self._fields

    def _page(self, entry: Entry, item: object) -> Page | None:
        """The item as a page, which is made once for all pipelines; None: it has no text."""
        if entry.page is None and not entry.is_unreadable:
            self._names.note(item)
            page = page_of_item(item, self._fields_of(entry), entry)
            entry.pages_before = self._content.additions
            if page is not None and not (entry.is_ours or isinstance(item, PageItem)):
                page = self._with_key(page, item, entry)
            entry.page = page
        return entry.page

    def _with_key(self, page: Page, item: object, entry: Entry) -> Page | None:
        """The page with a key of the item's other fields; None: they cannot be compared."""
        try:
            own = self._fields.own_of(item, entry.extracted)
            if not own:
                return page
            is_short = len(page.shingles) < self._short_shingles
            return page.with_key(self._fields.key_of(own, item, is_short=is_short))
        except Exception as error:  # noqa: BLE001 -- a value contains itself, or fails when written
            entry.is_unreadable = True
            logger.warning("An item from %s is kept without comparison: %r", page.url, error)
            return None

    def _is_last(self, share: int) -> bool:
        return share == len(self._shares) - 1

    def _stages(self, entry: Entry, share: int) -> list[str]:
        if entry.pages_before == self._content.additions and self._done is None:
            return self._shares[share]
        return [stage for stages in self._shares[: share + 1] for stage in stages]

    def _reduce(self, entry: Entry, page: Page) -> None:
        """Compute what is stored in place of the body, if that is not, once."""
        if self.reduce is not None and page.reduced is None:
            self.reduce(page, entry.outline is None)

    def _claim(self, page: Page, match: Match) -> None:
        """Compute what is recorded of a copy of another host's page, once."""
        if self.claim is not None and page.claims is None:
            original = self._content.url_of(match.original)
            if original and page.url and site_of(original) != site_of(page.url):
                self.claim(page)

    def _store_page(self, item: object, entry: Entry, page: Page) -> None:
        names = self._content.differing_fields(page)
        self._reduce(entry, page)
        with self._store.unit():
            number = self._ledger.record(_outcome("unique", entry, page)) or 0
            if self._content.note_apart(number, page):
                self._stats.inc_value("dedup/pages/kept_apart")
            self._arrivals.note_stored(number, page, entry.outline)
            self._arrivals.note_judged(entry.place)
        if names:
            self._stats.inc_value("dedup/items/kept_for_fields")
            for name in names:
                self._stats.inc_value(f"dedup/items/kept_for_fields/{name}")
        self._note_recorded(entry)
        if entry.is_ours:
            fill(item, "id", number)

    def _store_version(self, item: object, entry: Entry, page: Page, number: int) -> None:
        self._reduce(entry, page)
        with self._store.unit():
            self._record(entry, replace(_outcome("version", entry, page), number=number))
            self._arrivals.note_replaced(number, page, entry.outline)
        self._content.add_version(number, page)
        if entry.is_ours:
            fill(item, "id", number)

    def _drop(self, entry: Entry, page: Page, match: Match) -> Drop:
        if self._is_recorded_before(entry, page, match):
            self._record(entry, _outcome("done", entry, page))
        else:
            self._claim(page, match)
            self._record(entry, replace(_outcome("duplicate", entry, page), match=match))
        drop = Drop(page.url, self._content.url_of(match.original), match)
        self.drops.note(drop)
        return drop

    def _is_recorded_before(self, entry: Entry, page: Page, match: Match) -> bool:
        """Is the URL recorded already?

        That happens if a redirect led to it while its own request was in flight, or if the process
        ended before the request of another project's spider was done.
        """
        is_of_job = match.original >= 0  # not of an earlier crawl
        is_its_own = is_of_job and self._content.url_of(match.original) == page.url
        if entry.is_ours and is_its_own:
            return True
        if entry.place is not None:
            return False
        keys = _page_keys(entry)
        if keys and self._done is not None:
            return keys[0] in self._done
        if keys:
            return self._store.urls.is_done(keys[0])
        return self._is_resumed and is_its_own

    def _is_brought(self, entry: Entry) -> bool:
        """Has another request brought the page, as one of both was redirected to its URL?

        Its text is another one now and then.
        """
        keys = _page_keys(entry)
        if not (entry.is_ours and keys) or entry.place is not None:
            return False
        may_be = self._done is None or keys[0] in self._done
        return may_be and self._store.urls.has_page(keys[0])

    def _drop_brought(self, entry: Entry, page: Page) -> Drop:
        self._record(entry, _outcome("done", entry, page))
        drop = Drop(page.url, page.url, Match(0, "url"))
        self.drops.note(drop)
        return drop

    def _is_resent_page(self, entry: Entry, page: Page, match: Match) -> bool:
        """Is this a page of an earlier run, which the project's own scheduler has sent again?

        Then it is not a duplicate, and passes the pipelines, once in a run.
        """
        if not self._is_resent or not self._is_resumed or match.original in self._resent:
            return False
        if match.original < 0 or self._content.url_of(match.original) != page.url:
            return False
        entry.is_recorded = True
        self._resent.add(match.original)
        self._stats.inc_value("dedup/pages/known")
        return True

    def _record_skipped(self, entry: Entry, url: str, reason: str, detail: str) -> None:
        outcome = Outcome(
            kind="skipped",
            url=url,
            finishes=entry.finishes,
            reason=reason,
            detail=detail,
            has_waited=entry.place is not None,
        )
        self._record(entry, outcome)

    def _record(self, entry: Entry, outcome: Outcome) -> None:
        with self._store.unit():
            self._ledger.record(outcome)
            self._arrivals.note_judged(entry.place)
        self._note_recorded(entry)

    def _note_recorded(self, entry: Entry) -> None:
        entry.is_recorded = True
        if self._done is not None:
            self._done.update(each.key for each in entry.finishes if each.role != "repeat")


def _is_compared(entry: Entry) -> bool:
    """Is an item compared with stored pages when it is judged?"""
    return not entry.is_recorded and entry.revisits is None


def _page_keys(entry: Entry) -> list[bytes]:
    return [each.key for each in entry.finishes if each.role == "page"]


def _outcome(kind: OutcomeKind, entry: Entry, page: Page) -> Outcome:
    return Outcome(
        kind=kind,
        url=page.url or "",
        finishes=entry.finishes,
        page=page,
        has_waited=entry.place is not None,
    )
