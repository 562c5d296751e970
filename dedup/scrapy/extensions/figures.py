"""The numbers of a running crawl, for the panel, the log and Prometheus.

Counts are those of the job, earlier runs included, as in `stats.json`; where processes share the
job, those of this process alone, so that they can be added up. Rates are those of the last ten
seconds.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.job.job import Job
from dedup.scrapy.pipelines.content import DuplicatePage
from dedup.store import JobStore, summarise
from dedup.store.lock import process_name
from dedup.urls.parts import host_of

_LAST_DUPLICATES = 5
_BUSIEST_HOSTS = 5
_RATE_SECONDS = 10.0
_ESTIMATE_SECONDS = 10.0
"""Between two estimates of the Bloom filter's error rate; an estimate counts its bits."""


class DroppedPage(NamedTuple):
    """A duplicate that was dropped, and its original."""

    url: str
    original_url: str
    stage: str
    resemblance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The numbers at one moment.

    Attributes:
        job: as commands take it.
        name: of the job.
        worker: this process, where others share the job; else "".
        duplicates: number of pages by stage.
        skipped: number of pages by reason.
        waiting: pages fetched that wait until enough is known of their site.
        failed: URLs that could not be fetched.
        megabytes_per_second: received, compressed as on the wire.
        hosts: those with the most responses in this run, and their number.
        rendered: pages that a browser has rendered in this run.
        last: the last duplicates, the latest first.
        index_bytes: memory of the detectors' index.
        error_rate: estimate of the Bloom filter's, if the store did not confirm its answers.
    """

    job: str
    name: str
    worker: str
    seconds: float
    fetched: int
    unique: int
    duplicates: Mapping[str, int]
    skipped: Mapping[str, int]
    waiting: int
    failed: int
    filtered: int
    rendered: int
    queued: int
    seen: int
    pages_per_second: float
    megabytes_per_second: float
    hosts: Sequence[tuple[str, int]]
    last: Sequence[DroppedPage]
    index_bytes: int
    filter_bytes: int
    error_rate: float


class CrawlFigures:
    """Gathers the numbers of a crawl; `with_details`: also those that only the panel shows."""

    def __init__(self, crawler: Crawler, *, with_details: bool) -> None:
        self._crawler = crawler
        self._job = Job.of(crawler)
        self._began = time.monotonic()
        self._is_shared = self._job.store.workers.is_shared
        has_earlier = self._job.is_resumed and not self._is_shared
        self._before = _Earlier.of(self._job.store) if has_earlier else _Earlier()
        self._hosts: Counter[str] = Counter()
        self._dropped: deque[DroppedPage] = deque(maxlen=_LAST_DUPLICATES)
        self._moments = deque([(self._began, self._job.ledger.fetched, 0)])
        self._error_rate = (float("-inf"), 0.0)
        if with_details:
            crawler.signals.connect(self._response_received, signals.response_received)
            crawler.signals.connect(self._item_dropped, signals.item_dropped)

    def read(self) -> Snapshot:
        job, before = self._job, self._before
        pages_per_second, bytes_per_second = self._rates()
        return Snapshot(
            job=job.store.job,
            name=job.name,
            worker=process_name() if self._is_shared else "",
            seconds=time.monotonic() - self._began,
            fetched=job.ledger.fetched - (job.ledger.fetched_before if self._is_shared else 0),
            unique=before.unique + self._stat("dedup/pages/unique"),
            duplicates=_sum(before.duplicates, self._by_name("dedup/pages/duplicate/")),
            skipped=_sum(before.skipped, self._by_name("dedup/pages/skipped/")),
            waiting=job.pages.arrivals.n_unjudged,
            failed=sum(_sum(before.failed, self._by_name("dedup/pages/failed/")).values()),
            filtered=before.filtered + self._stat("dedup/url/filtered"),
            rendered=sum(self._by_name("dedup/rendering/rendered/").values()),
            queued=job.urls.requests.length,
            seen=job.urls.seen.count,
            pages_per_second=pages_per_second,
            megabytes_per_second=bytes_per_second / 1e6,
            hosts=self._hosts.most_common(_BUSIEST_HOSTS),
            last=list(reversed(self._dropped)),
            index_bytes=job.pages.content.size_bytes,
            filter_bytes=job.urls.seen.size_bytes,
            error_rate=self._estimate(),
        )

    def _rates(self) -> tuple[float, float]:
        now = time.monotonic(), self._job.ledger.fetched, self._stat("downloader/response_bytes")
        while len(self._moments) > 1 and self._moments[1][0] < now[0] - _RATE_SECONDS:
            self._moments.popleft()
        began, pages, size_bytes = self._moments[0]
        self._moments.append(now)
        seconds = max(now[0] - began, 1e-9)
        return (now[1] - pages) / seconds, (now[2] - size_bytes) / seconds

    def _stat(self, name: str) -> int:
        return int(self._crawler.stats.get_value(name, 0))

    def _by_name(self, prefix: str) -> dict[str, int]:
        stats = self._crawler.stats.get_stats().items()
        return {
            name.removeprefix(prefix): count for name, count in stats if name.startswith(prefix)
        }

    def _estimate(self) -> float:
        now = time.monotonic()
        if now - self._error_rate[0] > _ESTIMATE_SECONDS:
            self._error_rate = now, self._job.urls.seen.error_rate_estimate
        return self._error_rate[1]

    def _response_received(self, response: Response) -> None:
        self._hosts[host_of(response.url)] += 1

    def _item_dropped(self, exception: Exception) -> None:
        if isinstance(exception, DuplicatePage):
            urls = exception.url or "", exception.original_url or ""
            self._dropped.append(DroppedPage(*urls, exception.stage, exception.resemblance))


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The counts of the job's earlier runs."""

    unique: int = 0
    duplicates: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    filtered: int = 0

    @classmethod
    def of(cls, store: JobStore) -> _Earlier:
        summary = summarise(store)
        pages = summary["pages"]
        return cls(
            pages["unique"],
            pages["duplicates"],
            pages["skipped"],
            summary["failed"],
            summary["urls"]["filtered"],
        )


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(first) + Counter(second))
