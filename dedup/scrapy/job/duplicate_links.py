"""Links on pages that are dropped as duplicates: they are followed last, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.spiders.own import is_own
from dedup.scrapy.url_keys import UrlKeys
from dedup.store import JobStore
from dedup.store.records import (
    DUPLICATE_LINK,
    DUPLICATE_LINK_END,
    DUPLICATE_LINK_RANK,
    QueuedUrl,
)


class DuplicateLinks:
    """Puts off links that were found on duplicates alone.

    A page's links are queued before the page is judged, so that a kill loses none of them. Whether
    they are put off therefore depends on what the detectors find at that moment. If the page is
    stored after all, its links return to their normal places in the transaction that stores it.
    So does each link as soon as a unique page contains it, even if it has been skipped meanwhile.

    Args:
        skips: are they recorded, not fetched, once nothing else is left?
    """

    @classmethod
    def of(
        cls,
        crawler: Crawler,
        store: JobStore,
        requests: RequestQueue,
        content: ContentIndex,
        config: CrawlConfig,
    ) -> DuplicateLinks | None:
        """Those of a crawl; None: they are followed as any other.

        They are, too, where another fingerprinter is set: links have other keys then.
        """
        mode = config.duplicate_links
        are_keyed = UrlKeys.of(crawler).are_canonical
        if mode == "follow" or not (are_keyed and is_own(crawler.spider)):
            return None
        return cls(store, requests, content, crawler.stats, skips=mode == "skip")

    def __init__(
        self,
        store: JobStore,
        requests: RequestQueue,
        content: ContentIndex,
        stats: StatsCollector,
        *,
        skips: bool,
    ) -> None:
        self._store = store
        self._requests = requests
        self._content = content
        self._stats = stats
        self._skips = skips
        self._put_off: dict[bytes, list[bytes]] = {}
        """Keys of links by the key of the page that they were found on, until it is judged."""

    def is_duplicate(self, reading: Reading) -> bool:
        """Does the page have an original in this job, as far as is known before it is judged?

        While nothing is known of its site, only an equal body counts. One of an earlier crawl does
        not count: its links were followed there, and not in this crawl.
        """
        is_unknown = reading.outline is not None and reading.contribution is None
        match = self._content.find(reading.page, ("body",) if is_unknown else None)
        return match is not None and match.original > 0

    def put_off(self, page: bytes, links: list[bytes], *, n_new: int) -> None:
        """Note the links on a duplicate, seen and new ones; the new ones are to be queued late."""
        self._put_off[page] = links
        if n_new:
            self._stats.inc_value(f"dedup/url/deferred/{DUPLICATE_LINK}", n_new)

    def found(self, links: Sequence[bytes]) -> None:
        """Note the links of a unique page: those put off before are queued as new."""
        if not links:
            return
        for slot, n_more in self._store.urls.queue_found(links, with_skipped=self._skips).items():
            self._requests.reload(slot, n_more=n_more)
            if n_more:
                self._stats.inc_value(f"dedup/pages/failed/{DUPLICATE_LINK}", -n_more)

    def judged(self, pages: Sequence[bytes], *, is_duplicate: bool) -> None:
        """Note what became of a page, by its keys; in the unit that records it."""
        for page in pages:
            links = self._put_off.pop(page, [])
            if not is_duplicate:
                self.found(links)

    def skips(self, row: QueuedUrl) -> bool:
        """Is the next URL of the queue not to be fetched, as only duplicates link to it?"""
        return self._skips and DUPLICATE_LINK_RANK <= row.rank < DUPLICATE_LINK_END
