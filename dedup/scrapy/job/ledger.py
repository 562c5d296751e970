"""Records outcomes in the job's store, in Scrapy's statistics, and in the queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from scrapy.statscollectors import StatsCollector

from dedup.document import Match
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.job.duplicate_links import DuplicateLinks
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.job.revisits import Revisits
from dedup.scrapy.job.visit_order import VisitOrder
from dedup.store import JobStore, Page
from dedup.store.records import EARLIER
from dedup.urls import SeenUrls
from dedup.urls.parts import host_of
from dedup.urls.traps import TrapWatch


class Ledger:
    """Records what became of each URL.

    The number of links and the encoding of a page are noted by the key of its request, and recorded
    with its outcome. So a page that is fetched again after an interruption counts once.

    Args:
        add_page: stores a page with its signatures, and returns its number.
        add_duplicate: records a page that was dropped, and for which one.

    Attributes:
        fetched: number of records with a response, those of earlier processes too.
        fetched_before: the number of earlier processes.
        visited: number of stored pages that a refresh has visited in this process.
    """

    def __init__(
        self,
        store: JobStore,
        stats: StatsCollector,
        seen: SeenUrls,
        requests: RequestQueue,
        revisits: Revisits,
        traps: TrapWatch | None,
        duplicate_links: DuplicateLinks | None,
        visit_order: VisitOrder | None,
        *,
        add_page: Callable[[Page], int],
        add_duplicate: Callable[[Page, Match], None],
    ) -> None:
        self._store = store
        self._stats = stats
        self._seen = seen
        self._requests = requests
        self._revisits = revisits
        self._traps = traps
        self._duplicate_links = duplicate_links
        self._visit_order = visit_order
        self._add_page = add_page
        self._add_duplicate = add_duplicate
        self.fetched = self.fetched_before = store.stats.fetched()
        self.visited = 0
        self._counts: dict[bytes | None, Counter[str]] = {}
        self._encodings: dict[bytes, tuple[str, str]] = {}

    def note_count(self, key: bytes | None, counter: str, amount: int) -> None:
        """Add an amount to a counter of the store when the request of `key` is done."""
        self._counts.setdefault(key, Counter())[counter] += amount

    def note_encoding(self, key: bytes, host: str, encoding: str) -> None:
        """Learn a host's encoding from a page when the page is recorded."""
        self._encodings[key] = host, encoding

    def record(self, outcome: Outcome) -> int | None:
        """Record an outcome whole or not at all; return the number of a page that is stored.

        A duplicate that a refresh cannot fetch again stays a duplicate.
        """
        if outcome.kind in ("skipped", "failed"):
            outcome = self._revisits.as_visit(outcome) or outcome
        with self._store.unit():
            number = self._write(outcome)
            self._finish(outcome)
            if self._duplicate_links is not None:
                keys = [each.key for each in outcome.finishes]
                self._duplicate_links.judged(keys, is_duplicate=outcome.kind == "duplicate")
        self._count(outcome)
        if self._visit_order is not None:
            self._visit_order.renew()
        return number

    def _write(self, outcome: Outcome) -> int | None:
        store, page = self._store, outcome.page
        if outcome.kind not in ("visited", "done", "waiting", "version", "unique"):
            self._revisits.forget(outcome.url)
        match outcome.kind:
            case "unique" if page is not None:
                number = self._add_page(page)
                self._revisits.forget(outcome.url, number)
                return number
            case "duplicate" if page is not None and outcome.match is not None:
                self._add_duplicate(page, outcome.match)
            case "version" if page is not None and outcome.number is not None:
                self._note_order(outcome.url, "changed")
                for url in self._revisits.replace(outcome.number, page):
                    if not self._requests.is_waiting(url):
                        self._requests.add_known(url)
            case "visited":
                store.refreshes.note_visit(outcome.url, outcome.reason)
                self._note_order(outcome.url, outcome.reason)
                if outcome.target:
                    store.urls.add_alias(outcome.url, outcome.target, "redirect")
                if page is not None and outcome.number is not None:
                    self._revisits.keep_body(outcome.number, page)
                    store.learned.preferences.note(outcome.number, page.preferences)
                    store.learned.inputs.confirm(outcome.number, host_of(page.url), page)
            case "alias":
                store.urls.add_alias(outcome.url, outcome.target, outcome.reason)
            case "skipped" | "failed":
                store.add_skipped(
                    outcome.url,
                    outcome.reason,
                    detail=outcome.detail,
                    is_fetched=outcome.kind == "skipped",
                    size_bytes=outcome.size_bytes,
                )
        return None

    def _note_order(self, url: str, result: str) -> None:
        if self._visit_order is not None:
            self._visit_order.note(url, result)

    def _finish(self, outcome: Outcome) -> None:
        finishes = outcome.finishes
        keys = [each.key for each in finishes]
        repeats = [each.key for each in finishes if each.role == "repeat"]
        if repeats:
            self._store.urls.drop(repeats)
        self._store.urls.finish(
            [(each.key, each.url) for each in finishes if each.role != "repeat"],
            has_failed=outcome.kind in ("skipped", "failed"),
        )
        self._seen.mark(keys)
        self._requests.done(keys)
        self._add_aliases(finishes, outcome.url)
        for key in (None, *keys):
            for name, amount in self._counts.pop(key, Counter()).items():
                self._store.add_to_counter(name, amount)
            if key is not None and key in self._encodings:
                self._store.learned.add_encoding(*self._encodings.pop(key))

    def _add_aliases(self, finishes: tuple[FinishedUrl, ...], page_url: str) -> None:
        for each in finishes:
            if each.role in ("redirect", "route", "canonical"):
                self._store.urls.add_alias(each.url, page_url, each.role)

    def _count(self, outcome: Outcome) -> None:
        kind = outcome.kind
        if kind in ("visited", "version"):
            self.visited += 1
        if outcome.is_fetched:
            self.fetched += 1
            self._stats.inc_value("dedup/pages/fetched")
        if kind in ("unique", "duplicate") and self._traps is not None and outcome.url:
            self._traps.note(outcome.url, is_duplicate=kind == "duplicate")
        match kind:
            case "unique":
                self._stats.inc_value("dedup/pages/unique")
            case "duplicate" if outcome.match is not None and outcome.match.original < 0:
                self._stats.inc_value(f"dedup/pages/skipped/{EARLIER}")
            case "duplicate" if outcome.match is not None:
                self._stats.inc_value(f"dedup/pages/duplicate/{outcome.match.stage}")
            case "skipped":
                self._stats.inc_value(f"dedup/pages/skipped/{outcome.reason}")
            case "failed":
                self._stats.inc_value(f"dedup/pages/failed/{outcome.reason}")
            case "alias":
                self._stats.inc_value(f"dedup/url/alias/{outcome.reason}")
