"""One crawl's state, shared by the components of a crawler."""

from __future__ import annotations

import atexit
import json
import logging
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.deduplicator import Deduplicator, OriginalsCache
from dedup.detectors import Detector, default_detectors
from dedup.detectors.key import KeyRecord
from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.html.page_text import PageText
from dedup.learner import Progress, Ready, TemplateLearner
from dedup.scrapy.config import CrawlConfig, is_queue_stored, move_aside
from dedup.scrapy.fingerprinter import CanonicalFingerprinter
from dedup.scrapy.frontier.meta import DEFERRED_RANK, KEY
from dedup.scrapy.frontier.request_queue import RequestQueue, is_repeat
from dedup.scrapy.item_fields import ItemFields, fill, get
from dedup.scrapy.items import PageItem, Settled
from dedup.scrapy.job.in_pipelines import Entry, ItemsInPipelines, as_page
from dedup.scrapy.job.url_rules import CrawlUrlRules
from dedup.scrapy.reading.page import Known
from dedup.scrapy.reading.reader import PageReader
from dedup.scrapy.scrapy_internals import refusing
from dedup.scrapy.spiders.own import is_own
from dedup.store import Page, summarise
from dedup.store.records import PAGE_FIELDS, QueuedUrl, storable
from dedup.templates.site import Site
from dedup.urls import RULES, Canonicaliser, SeenUrls
from dedup.urls.learning.telling import LEARNED_RULE
from dedup.urls.parts import host_of
from dedup.urls.traps import HostBudget, TrapWatch, pattern_of

logger = logging.getLogger(__name__)

_ITEM_FIELDS = tuple(
    field.name for field in fields(PageItem) if field.name in PAGE_FIELDS and field.name != "url"
)


_TRAP_URLS = 10_000
"""Of pages and of duplicates, that a resumed crawl looks for traps in."""


class Job:
    """The store, the URL filter and the detectors of one crawl.

    Raises:
        StateError: the job's store cannot be used.
        ValueError: a setting is out of range.
    """

    @classmethod
    def of(cls, crawler: Crawler) -> Job:
        """The crawler's job, opened when first asked for; it ends with the crawler."""
        job: Job | None = vars(crawler).get("dedup_job")
        if job is None:
            with refusing():
                job = vars(crawler)["dedup_job"] = cls(crawler)
        return job

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._spider: Any = crawler.spider
        self.config = CrawlConfig.from_settings(crawler.settings)
        arguments = _arguments(crawler)
        self.is_kept = self.config.is_kept(self._spider)
        """Is the job there for a later crawl to go on with?"""
        self.has_queue = is_queue_stored(crawler.settings)
        """Are URLs filtered and queued in the job's store, not by a scheduler of the project's?"""
        self.folder = self.config.folder(self._spider, arguments)
        is_restarted = self.is_kept and self.config.is_restarted(self._spider)
        self.moved_to = move_aside(self.folder) if is_restarted else None
        """Where the job is now that stood in the way of this one."""
        self.store = self.config.open_store(self.folder, is_kept=self.is_kept)
        try:
            self.config.check_crawl(self.store, self._spider, arguments)
            self.config.check_detectors(self.store, crawler.settings)
        except StateError:
            self.store.close()
            raise
        self.failure: StateError | None = None
        """Why the store cannot be used any more; `extensions.stopping` then ends the crawl."""
        self.troubles: list[str] = []
        """What somebody should look at once the crawl has ended, a sentence each."""
        self.store.on_error(self._fail)
        self.is_finished = self.has_queue and self.store.meta("finished") is not None
        self.is_resumed = self.store.meta("started") is not None
        self.refresh = self._refresh()
        """The refresh under way, by its number; 0: this is the first crawl."""
        self._to_replace = self.store.refreshes.duplicates() if self.refresh else {}
        """Duplicates that are judged anew, and that stay on record until then."""
        self.visited = 0
        if not self.is_resumed:
            self.store.set_meta("started", repr(time.time()))
        if not self.is_finished:  # for those who read the store
            settings = json.dumps(self._settings(), default=str)
            self.store.set_meta("settings", settings)
        # A job that goes on gets one filter to ask, with room for more, in place of several.
        self.seen = SeenUrls(
            self.store.urls if self.config.url_exact else None,
            error_rate_target=self.config.url_error_rate,
            initial_capacity=max(self.config.url_capacity, len(self.store.urls) * 5 // 4),
        )
        self.seen.load(self.store.urls.keys())
        self._opened_at = time.time()
        self.fetched = self._fetched_before = self.store.stats.fetched()
        self._keys = KeyRecord(self.config.item_fields.key)
        self._originals = OriginalsCache(
            self._original, size_bytes=self.config.detection.cache_bytes
        )
        self._cascade: dict[str, Detector] = {
            detector.stage: detector
            for detector in default_detectors(
                self._originals, self.config.detection, bodies=self.store.body
            )
        }
        self.detectors: list[Detector] = [self._keys] if self.config.item_fields.key else []
        self.deduplicator: Deduplicator | None = None
        self.last_pipeline: object = None
        """The content pipeline that stands last, and admits pages."""
        self._admitted = 0
        self._met: set[int] = set()
        self._items = ItemsInPipelines()
        self.learner = TemplateLearner(self.store.learned, max_waiting=self.config.waiting_pages)
        self.is_closing = False
        """Do pages wait no longer, and is nothing new fetched?"""
        self.requests = RequestQueue(
            crawler, self.store, self._forget_unreadable, self._is_left_out
        )
        self.url_rules = self._learned_rules()
        self.traps = self._trap_watch()
        self._host_budget: HostBudget | None = None
        if self.config.host_pages:
            self._host_budget = HostBudget(self.config.host_pages, self.store.fetched_by_host())
        self._left_out: set[str] = set()
        """Patterns and hosts whose URLs are left out, as the log says once."""
        self._links: dict[bytes | None, Counter[str]] = {}
        """Links of pages that are not recorded yet, by the names of the store's counters."""
        self._encodings: dict[bytes | None, tuple[str, str]] = {}
        """Hosts and encodings of pages that are not recorded yet."""
        self._merge = Canonicaliser(sorted(RULES))
        self.reader: PageReader | None = None
        """What reads pages for the spider, where it is one of the project's own."""
        crawler.signals.connect(self._leave, signals.item_scraped)
        crawler.signals.connect(self._record_item_dropped, signals.item_dropped)
        crawler.signals.connect(self._record_item_error, signals.item_error)
        crawler.signals.connect(self.close, signals.engine_stopped)
        atexit.register(self.close)  # a second Ctrl-C stops the engine without a signal

    # --- URLs ------------------------------------------------------------------------------------

    def settled_by(self, response: Response) -> list[Settled]:
        """The response's own URL, and the one that was asked for first."""
        request: Any = response.request
        if is_repeat(request.meta.get(KEY, b"")):
            return [Settled(request.meta[KEY], response.url, "repeat")]
        page = Settled(
            self._crawler.request_fingerprinter.fingerprint(request), response.url, "page"
        )
        first_key = request.meta.get(KEY, page.key)
        if first_key == page.key:
            return [page]
        return [page, Settled(first_key, first_url(request), "redirect")]

    def settled_by_canonical(self, url: str, canonical: str | None) -> list[Settled]:
        """A page's canonical link, where it counts as a URL of the same page."""
        fingerprinter = self._crawler.request_fingerprinter
        mode = self.config.url_canonical
        if canonical is None or mode == "off" or not hasattr(fingerprinter, "key"):
            return []
        try:
            if mode == "rules" and self._merge(canonical) != self._merge(url):
                return []
            key = fingerprinter.key(canonical)
        except ValueError:
            return []
        return [] if key == fingerprinter.key(url) else [Settled(key, canonical, "canonical")]

    def count_filtered(self, amount: int) -> None:
        """Count, for this run's statistics, links whose URL had been seen."""
        self._crawler.stats.inc_value("dedup/url/filtered", amount)

    def count_links(self, found_on: Response, amount: int) -> None:
        """Count a page's links in scope, new or seen; the store has them once the page is recorded.

        From these and the URLs found by links, the summary has those that were filtered: a page
        that is fetched again after an interruption finds its links seen, and must not add to them.
        """
        self._count("links", found_on, amount)

    def count_nofollow(self, found_on: Response, amount: int) -> None:
        """Count a page's links that were left alone, as robots are asked not to follow them."""
        self._crawler.stats.inc_value("dedup/url/nofollow", amount)
        self._count("nofollow", found_on, amount)

    def _count(self, name: str, found_on: Response, amount: int) -> None:
        request: Any = found_on.request
        self._links.setdefault(request.meta.get(KEY), Counter())[name] += amount

    def count_link_of(self, request: Request) -> None:
        """Count a request as a link, where its spider has not counted the links of the page."""
        is_counted = getattr(self._spider, "parse", None) == request.callback
        if not (is_counted and is_own(self._spider)) and request.meta.get("depth"):
            self._links.setdefault(None, Counter())["links"] += 1

    # --- Content ---------------------------------------------------------------------------------

    def use_detectors(self, stages: Iterable[str]) -> list[Detector]:
        """Put the detectors of these stages to use, those that no earlier pipeline took."""
        detectors = [
            self._cascade[stage] for stage in stages if self._cascade[stage] not in self.detectors
        ]
        self.detectors.extend(detectors)
        return detectors

    def open_index(self) -> Deduplicator:
        """Rebuild the detectors' memory from the store, once all are known.

        Raises:
            SchemeError: the store was made with other detectors or settings.
        """
        if self.deduplicator is None:
            with refusing():
                self.deduplicator = Deduplicator(self.detectors, store=self.store)
        return self.deduplicator

    def document(self, item: Any) -> Page | None:
        """The item as a document, analysed once for all pipelines; None: it has no text."""
        entry = self._items.entry(item)
        if entry.page is None:
            fields = ItemFields() if entry.is_ours else self.config.item_fields
            entry.page = as_page(item, fields, entry.extracted)
            entry.pages_before = self._admitted
            if entry.page is not None and entry.known is not None:
                entry.page = entry.known.give(entry.page)
        return entry.page

    def has_text(self, item: Any) -> bool:
        """Does the item itself say what its text is?"""
        fields = ItemFields() if self._items.entry(item).is_ours else self.config.item_fields
        return fields.text_of(item) is not None

    def count_no_page(self) -> None:
        """Count an item that is no page, and passes."""
        self._crawler.stats.inc_value("dedup/items/no_page")

    def follow(self, item: Any) -> None:
        """Know the item from here on, whatever the project's pipelines make of it."""
        self._items.arrive(item)

    def note_extracted(self, item: Any, extracted: Mapping[str, Any], said: PageText) -> None:
        """Note what was read from the item's HTML, by field."""
        entry = self._items.entry(item)
        entry.extracted, entry.outline = extracted, said.outline
        entry.known = Known(said.text, extracted["title"], get(item, "body"), said, None)

    def note_number(self, item: Any, number: int) -> None:
        """Tell a page of the project's own spiders its number."""
        if self._items.entry(item).is_ours:
            fill(item, "id", number)

    def _note(self, item: PageItem, known: Known, settles: list[Settled]) -> Entry:
        entry = self._items.note(item)
        entry.is_ours, entry.known, entry.settles = True, known, settles
        return entry

    # --- Encodings -------------------------------------------------------------------------------

    def encoding(self, response: Response) -> str | None:
        """What most pages of the host are in that are not UTF-8; None: there are none."""
        return self.store.learned.encoding(host_of(response.url))

    def note_encoding(self, response: Response, encoding: str) -> None:
        """Learn from a page's encoding, once the page is recorded."""
        request: Any = response.request
        if not encoding.startswith("utf"):
            self._encodings[request.meta.get(KEY)] = host_of(response.url), encoding

    # --- Templates -------------------------------------------------------------------------------

    def site(self, url: str) -> Site | None:
        """What is known of the templates of a page's host; None: templates are not asked for."""
        return self.learner.site(host_of(url)) if self.config.extractor == "content" else None

    def arrive(
        self, item: PageItem, known: Known, settles: list[Settled], revisits: int | None
    ) -> list[PageItem]:
        """Take a page and what is known of it; return the items that are ready to be judged.

        The page is among them, or it waits for its template: then its URLs are done with all the
        same. `settles` are its URLs; `revisits` is the number of the stored page that it is a new
        version of.
        """
        released = list(map(self._item_of, self.learner.release(item.url).ready))
        return [*released, *self._arrive(item, known, settles, revisits)]

    def _arrive(
        self, item: PageItem, known: Known, settles: list[Settled], revisits: int | None
    ) -> list[PageItem]:
        entry = self._note(item, known, settles)
        entry.revisits = revisits
        outline, document = known.said.outline, as_page(item, ItemFields())
        if outline is None or document is None or self.is_closing or revisits is not None:
            entry.outline = outline
            return [item]
        document = known.give(document)
        if self._is_copy(document):
            return [item]
        self._items.forget(item)  # another takes its place
        with self.store.unit():
            progress = self.learner.arrive(document, outline)
            if any(ready.place is None for ready in progress.ready):  # read by itself, and no other
                (ready,) = progress.ready
                return [self._item_of(ready, settles)]
            self._finish(settles, item.url)
            self._reread(progress)
        self._count_fetched()
        return list(map(self._item_of, progress.ready))

    def resume_waiting(self) -> list[PageItem]:
        """The items whose turn had come when an earlier process ended."""
        return list(map(self._item_of, self.learner.resume().ready))

    def finish_waiting(self) -> list[PageItem]:
        """Some of the items that still wait, to be judged by what is known; none: there is none."""
        with self.store.unit():
            progress = self.learner.finish()
            self._reread(progress)
        return list(map(self._item_of, progress.ready))

    def _is_copy(self, document: Page) -> bool:
        """Is the body that of a stored page? Then its template does not matter."""
        return any(each.stage == "body" and each.find(document) for each in self.detectors)

    def _item_of(self, ready: Ready, settles: Sequence[Settled] = ()) -> PageItem:
        page = ready.page
        item = PageItem(
            url=page.url or "",
            text=page.text,
            body=page.body or b"",
            **{name: getattr(page, name) for name in _ITEM_FIELDS},
        )
        said = PageText(
            page.text,
            page.heading,
            page.title if page.own_title is None else page.own_title,
            page.source,
            page.template,
        )
        known = Known(item.text, item.title, item.body, said, None)
        entry = self._note(item, known, list(settles))
        entry.place, entry.outline = ready.place, ready.outline
        return item

    def _reread(self, progress: Progress) -> None:
        """Bring pages that were stored early to the text that their template gives."""
        index = self.open_index()
        for number, own in progress.reread:
            stored = self.store.page(number)
            page = replace(
                stored,
                text=own.text,
                heading=own.heading,
                own_title=own.title,
                source="box",
                template=own.template,
            )
            self.store.change_text(number, page)
            index.change(number, page)
            self._originals.forget(number)

    def has_grown_since(self, item: Any) -> bool:
        """Has a page been admitted since the item was first looked at?"""
        return self._items.entry(item).pages_before != self._admitted

    def admit(self, item: Any, document: Page) -> int:
        """Store the page with all its signatures, and note its URLs as done."""
        self._note_for_traps(document.url, is_duplicate=False)
        with self._recording(item):
            self._replace(document.url)
            number: int = self.open_index().add(document)
            if self.url_rules is not None:
                self.url_rules.note_page(document, number, None)
            outline = self._items.entry(item).outline
            if outline is not None:
                self._reread(self.learner.early(number, document, outline))
        if self.detectors:
            self._originals.keep(number, _as_fetched(document, number))
        self._admitted += 1
        self._crawler.stats.inc_value("dedup/pages/unique")
        return number

    def revisited_by(self, item: Any) -> int | None:
        """The number of the stored page that the item is a new version of."""
        return self._items.entry(item).revisits

    def admit_version(self, item: Any, document: Page, number: int) -> None:
        """Store a new version of a page, and note its URLs as done."""
        with self.store.unit():
            self.store.refreshes.replace_page(number, document, self._signatures(document))
            self.store.refreshes.note_visit(document.url or "", "changed")
            for url, copy in self.store.refreshes.duplicates(number).items():
                self._to_replace[url] = copy  # it may be nowhere else now
                if not self.requests.is_waiting(url):
                    self.requests.add_known(url)
            self._finish(self._items.entry(item).settles, document.url or "")
        for detector in self.detectors:
            detector.add(document, number)
        self._originals.forget(number)
        self._items.entry(item).is_recorded = True
        self.visited += 1

    def record_visit(self, url: str, outcome: str, settles: list[Settled]) -> None:
        """Record what became of a page that was visited again and has no new version."""
        with self.store.unit():
            self.store.refreshes.note_visit(url, outcome)
            self._finish(settles, url)
        self.visited += 1

    def is_as_stored(self, item: PageItem, number: int) -> bool:
        """Are title and text those of the stored page?"""
        stored = self.store.document(number)
        return (stored.title, stored.text) == (storable(item.title), item.text)

    def _signatures(self, document: Page) -> dict[str, bytes]:
        found = {detector.stage: detector.signature(document) for detector in self.detectors}
        return {stage: value for stage, value in found.items() if value is not None}

    def record_duplicate(self, item: Any, document: Page, match: Match) -> None:
        entry = self._items.entry(item)
        if self._is_fetched_again(entry, document, match):
            entry.is_recorded = True
            with self.store.unit():
                self._finish(entry.settles, document.url or "")
            return
        self._note_for_traps(document.url, is_duplicate=True)
        with self._recording(item):
            self._replace(document.url)
            self.store.add_duplicate(document, match)
            if self.url_rules is not None:
                self.url_rules.note_page(document, None, match)
        self._crawler.stats.inc_value(f"dedup/pages/duplicate/{match.stage}")

    def record_skipped(
        self,
        url: str,
        reason: str,
        settles: list[Settled],
        *,
        detail: str = "",
        response: Response | None = None,
    ) -> None:
        """Record a URL that gave no page to compare. With a response, it counts as fetched.

        A duplicate that a refresh could not fetch again stays one.
        """
        if url in self._to_replace and (response is None or reason.startswith("http_")):
            is_gone = reason in {"http_404", "http_410"}
            self.record_visit(url, "gone" if is_gone else "failed", settles)
            return
        with self.store.unit():
            self._replace(url)
            self.store.add_skipped(
                url,
                reason,
                detail=detail,
                is_fetched=response is not None,
                size_bytes=0 if response is None else len(response.body),
            )
            self._finish(settles, url, has_failed=True)
        if response is not None:
            self._count_fetched()
            self._crawler.stats.inc_value(f"dedup/pages/skipped/{reason}")
        else:
            self._crawler.stats.inc_value(f"dedup/pages/failed/{reason}")

    def record_alias(self, url: str, page_url: str, kind: str, settles: list[Settled]) -> None:
        """Record that `url` leads to a page that is fetched under another URL."""
        with self.store.unit():
            self._replace(url)
            self.store.add_alias(url, page_url, kind)
            if kind == "redirect" and self.url_rules is not None:
                self.url_rules.note_redirect(url, page_url)
            self._finish(settles, url)
        self._crawler.stats.inc_value(f"dedup/url/alias/{kind}")

    def fail_response(self, response: Response, error: Exception) -> None:
        """Record that the callback of another project's spider raised."""
        detail = f"{type(error).__name__}: {error}"
        settles = self.settled_by(response)
        self.record_skipped(response.url, "callback_error", settles, detail=detail)

    def finish_response(self, response: Response) -> None:
        """Note that all is done that came of a response."""
        with self.store.unit():
            self._finish(self.settled_by(response), response.url)

    def account(self, *, finished: float, reason: str) -> dict[str, Any]:
        """The content of `stats.json`."""
        summary = summarise(self.store)
        summary["urls"]["bloom"] = {
            "capacity": self.seen.capacity,
            "count": self.seen.count,
            "error_rate_target": self.seen.error_rate_target,
            "error_rate_estimate": self.seen.error_rate_estimate,
            "size_bytes": self.seen.size_bytes,
        }
        documents = summary["pages"]["unique"]
        index_bytes = sum(detector.size_bytes for detector in self.detectors)
        seconds = max(finished - self._opened_at, 1e-9)
        pages_now = self.fetched - self._fetched_before + self.visited
        return {
            **summary,
            "index": {
                "documents": documents,
                "bytes": index_bytes,
                "bytes_per_document": round(index_bytes / documents, 1) if documents else 0.0,
            },
            "rates": {"seconds": round(seconds, 3), "pages_per_second": pages_now / seconds},
            "settings": self._settings(),
            "started": _iso_time(float(self.store.meta("started") or self._opened_at)),
            "finished": _iso_time(finished),
            "reason": reason,
        }

    @property
    def has_pages(self) -> bool:
        """Has the job any page, or a duplicate of one?"""
        return bool(self.store.count("pages") or self.store.count("duplicates"))

    def close(self) -> None:
        """Commit and close the store. A second call does nothing."""
        atexit.unregister(self.close)
        with suppress(StateError):  # which is the job's `failure` then
            self.store.close()
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def record_unread(self, item: Any, reason: str, detail: str) -> None:
        """Record a page that another project's item has and that could not be read."""
        with self._recording(item):
            url = self.config.item_fields.url_of(item) or ""
            self.store.add_skipped(url, reason, detail=detail, is_fetched=True)
        self._crawler.stats.inc_value(f"dedup/pages/skipped/{reason}")

    # --- Private ---------------------------------------------------------------------------------

    def _note_for_traps(self, url: str | None, *, is_duplicate: bool) -> None:
        if self.traps is not None and url:
            self.traps.note(url, is_duplicate=is_duplicate)

    def _replace(self, url: str | None) -> None:
        """Drop what the record had of a URL that is judged anew, in the same transaction."""
        number = self._to_replace.pop(url or "", None)
        if number is not None:
            self.store.refreshes.drop_duplicate(number)

    def _settings(self) -> dict[str, Any]:
        settings = self._crawler.settings
        return {name: settings[name] for name in sorted(settings) if name.startswith("DEDUP_")}

    @contextmanager
    def _recording(self, item: Any) -> Iterator[None]:
        """What is written inside, and that the item's URLs are done; on an error, neither."""
        entry = self._items.entry(item)
        url = entry.page.url if entry.page is not None else get(item, "url")
        with self.store.unit():
            self._finish(entry.settles, url if isinstance(url, str) else "")
            yield
            if entry.place is not None:
                self.learner.done(entry.place)
        entry.is_recorded = True
        if entry.place is None:  # else it was counted when it came
            self._count_fetched()

    def _count_fetched(self) -> None:
        self.fetched += 1
        self._crawler.stats.inc_value("dedup/pages/fetched")

    def let_pass(self, item: Any, document: Page, match: Match) -> bool:
        """Is this a page of an earlier run, which a scheduler of the project's has sent again?

        Then it is no duplicate, and goes its way, once in a run.
        """
        if self.has_queue or not self.is_resumed or match.original in self._met:
            return False
        entry = self._items.entry(item)
        entry.is_recorded = self.store.document(match.original).url == document.url
        if entry.is_recorded:
            self._met.add(match.original)
            self._crawler.stats.inc_value("dedup/pages/known")
        return entry.is_recorded

    def is_recorded(self, item: Any) -> bool:
        """Does the store have what it is to have of the item?"""
        return self._items.entry(item).is_recorded

    def _is_fetched_again(self, entry: Entry, document: Page, match: Match) -> bool:
        """Is the URL recorded already?

        It was in flight for itself when a redirect led to it, or the process ended before the
        request of another project's spider was done.
        """
        if entry.place is not None:
            return False
        keys = [settled.key for settled in entry.settles if settled.kind == "page"]
        if keys:
            return self.store.urls.is_done(keys[0])
        return self.is_resumed and self.store.document(match.original).url == document.url

    def _finish(self, settles: list[Settled], page_url: str, *, has_failed: bool = False) -> None:
        repeats = [settled.key for settled in settles if settled.kind == "repeat"]
        if repeats:
            self.store.urls.drop(repeats)
        self.store.urls.finish(
            [(settled.key, settled.url) for settled in settles if settled.kind != "repeat"],
            has_failed=has_failed,
        )
        self.seen.mark([settled.key for settled in settles])
        self.requests.done([settled.key for settled in settles])
        for settled in settles:
            if settled.kind not in ("page", "repeat"):
                self.store.add_alias(settled.url, page_url, settled.kind)
            if settled.kind == "redirect" and self.url_rules is not None:
                self.url_rules.note_redirect(settled.url, page_url)
        for key in (None, *(settled.key for settled in settles)):
            for name, amount in self._links.pop(key, Counter()).items():
                self.store.add_to_counter(name, amount)
            if key in self._encodings:
                self.store.learned.add_encoding(*self._encodings.pop(key))

    def _forget_unreadable(self, row: QueuedUrl, detail: str) -> None:
        logger.error("The queued request for %s cannot be read: %s", row.url, detail)
        settles = [Settled(row.key, row.url, "page")]
        self.record_skipped(row.url, "unreadable_request", settles, detail=detail)

    def _is_left_out(self, row: QueuedUrl) -> bool:
        """Record a URL of which enough have been fetched: of its trap's pattern, or of its host."""
        if row.url in self._to_replace:
            return False
        settles = [Settled(row.key, row.url, "page")]
        if self.url_rules is not None:
            act, detail = self.url_rules.what_now(row)
            if act == "skip":
                self.record_skipped(row.url, LEARNED_RULE, settles, detail=detail)
            elif act == "wait":
                self._crawler.stats.inc_value(f"dedup/url/deferred/{LEARNED_RULE}")
            if act != "fetch":
                return True
        if row.rank >= DEFERRED_RANK and self.traps is not None and not self.traps.take(row.url):
            pattern = pattern_of(row.url)
            if pattern not in self._left_out:
                self._left_out.add(pattern)
                logger.warning(
                    "%s: looks like a trap; after %d pages the others of the pattern are left out",
                    pattern,
                    self.config.trap_pages,
                )
            self.record_skipped(row.url, "trap", settles, detail=pattern)
            return True
        if self._host_budget is not None and not self._host_budget.take(row.url):
            host = host_of(row.url)
            if host not in self._left_out:
                self._left_out.add(host)
                logger.warning(
                    "%s: %d pages have been fetched, as many as DEDUP_HOST_PAGES allows;"
                    " its other URLs are left out",
                    host,
                    self.config.host_pages,
                )
            self.record_skipped(row.url, "host_pages", settles, detail=host)
            return True
        return False

    def _learned_rules(self) -> CrawlUrlRules | None:
        fingerprinter = self._crawler.request_fingerprinter
        mode = self.config.url_learning
        if not isinstance(fingerprinter, CanonicalFingerprinter):
            return None
        if mode == "suggest" or self.refresh or not self.has_queue:
            return None
        return CrawlUrlRules(
            self.store,
            self.requests,
            mode=mode,
            loss=self.config.url_learning_loss,
            canonical=fingerprinter.canonical,
            find=self._find,
            short_shingles=self.config.detection.short_shingles,
        )

    def _find(self, url: str, row: QueuedUrl) -> None:
        """Queue a URL that a rule gives in place of a queued one."""
        request: Request = self._spider.page_request(url, depth=row.depth)
        key = self._crawler.request_fingerprinter.fingerprint(request)
        if self._spider.is_in_scope(url) and self.seen.unseen([key]):
            self.seen.mark([key])
            request.meta[KEY] = key
            self.requests.add(request)

    def _trap_watch(self) -> TrapWatch | None:
        """What looks like a trap, with what earlier processes have fetched of it."""
        if not self.config.trap_pages:
            return None
        watch = TrapWatch(budget=self.config.trap_pages, year=datetime.now(UTC).year)
        if self.is_resumed:
            taken = self.store.deferred_urls(DEFERRED_RANK)
            watch.restore(taken, *self.store.latest_urls(_TRAP_URLS))
        return watch

    def _refresh(self) -> int:
        if not self.config.is_refreshed(self._spider) or not self.is_finished:
            return self.store.refreshes.current()
        self.is_finished = False
        return self.store.refreshes.begin()

    def _fail(self, error: StateError) -> None:
        if self.failure is None:
            self.failure = error
            self.troubles.append(str(error))
            logger.error("%s", error)

    def _original(self, number: int) -> Document:
        return self._keys.give(number, self.store.document(number))

    def _leave(self, item: Any) -> None:
        self._items.leave(item)

    def _record_item_error(self, item: Any, failure: Any) -> None:
        detail = f"{failure.type.__name__}: {failure.getErrorMessage()}"
        self._record_item_lost(item, "pipeline_error", detail)

    def _record_item_dropped(self, item: Any, exception: Any) -> None:
        self._record_item_lost(item, "pipeline_dropped", str(exception))

    def _record_item_lost(self, item: Any, reason: str, detail: str) -> None:
        """Record a page that a pipeline of the project's own took before it was judged."""
        entry = self._items.entry(item)
        fields = ItemFields() if entry.is_ours else self.config.item_fields
        names = (*fields.text, "html", "body")
        is_page = entry.page is not None or any(get(item, name) for name in names)
        if is_page and not entry.is_recorded:
            url = fields.url_of(item) or (entry.page.url if entry.page else None) or ""
            with self._recording(item):
                self.store.add_skipped(url, reason, detail=detail, is_fetched=True, size_bytes=0)
            self._crawler.stats.inc_value(f"dedup/pages/skipped/{reason}")
        self._items.leave(item)


def first_url(request: Request) -> str:
    """Where the redirects that led to the request began; its own URL where there were none."""
    redirected_from: list[str] = request.meta.get("redirect_urls", [])
    return redirected_from[0] if redirected_from else request.url


def _as_fetched(page: Page, number: int) -> Document:
    """The page as detectors get it from the store, with its shingles if they were needed."""
    document = Document(
        id=page.id or str(number),
        text=page.text,
        url=page.url,
        title=storable(page.title),
        heading=storable(page.heading),
        own_title=storable(page.own_title),
        source=page.source,
        key=page.key,
    )
    if "shingles" in vars(page):
        vars(document)["shingles"] = page.shingles
    return document


def _arguments(crawler: Crawler) -> Mapping[str, Any] | None:
    """What others' spiders were made with; None: not known."""
    addons = getattr(crawler, "addons", None)
    found = [getattr(addon, "arguments", None) for addon in getattr(addons, "addons", [])]
    return next((arguments for arguments in found if arguments is not None), None)


def _iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
