"""Extension: writes the crawl's numbers to a file for Prometheus' node exporter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from dedup.extras import load_extra
from dedup.files import replacing
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.extensions.figures import CrawlFigures, Snapshot
from dedup.scrapy.job.job import Job

_WRITE_SECONDS = 15.0
"""As often as Prometheus usually asks."""


class PrometheusFile(Extension):
    """Writes `DEDUP_PROMETHEUS_FILE` every 15 seconds, and when the crawl ends.

    The file is replaced as a whole, so a reader never sees a part of it. docs/stats.md has the
    metrics.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = Job.of(crawler).config
        if not config.prometheus_file:
            raise NotConfigured
        super().__init__(crawler)
        name = "DEDUP_PROMETHEUS_FILE"
        self._client = load_extra("prometheus_client", extra="prometheus", purpose=name)
        self._core = load_extra("prometheus_client.core", extra="prometheus", purpose=name)
        self._path = Job.of(crawler).folder / config.prometheus_file
        self._figures: CrawlFigures | None = None

    def _spider_opened(self) -> None:
        self._figures = CrawlFigures(self.crawler, with_details=False)
        self._call_every(_WRITE_SECONDS, self._write)

    def _spider_closed(self) -> None:
        self._write(is_running=False)

    def _write(self, *, is_running: bool = True) -> None:
        if self._figures is None:
            return
        snapshot = self._figures.read()
        registry = self._client.CollectorRegistry()
        registry.register(_Metrics(self._core, snapshot, is_running=is_running))
        with replacing(self._path) as part:
            part.write_bytes(self._client.generate_latest(registry))


class _Metrics:
    """A snapshot in the form that Prometheus' client collects."""

    def __init__(self, core: Any, snapshot: Snapshot, *, is_running: bool) -> None:
        self._core = core
        self._snapshot = snapshot
        self._is_running = is_running

    def collect(self) -> Iterator[Any]:
        snapshot = self._snapshot
        pages = self._core.CounterMetricFamily(
            "dedup_pages",
            "Pages fetched, by outcome",
            labels=["crawl", "worker", "outcome", "reason"],
        )
        crawl = [snapshot.name, snapshot.worker]
        for outcome, counts in (
            ("unique", {"": snapshot.unique}),
            ("duplicate", snapshot.duplicates),
            ("skipped", snapshot.skipped),
        ):
            for reason, count in counts.items():
                pages.add_metric([*crawl, outcome, reason], count)
        yield pages
        for name, text, value in (
            ("dedup_failed", "URLs that could not be fetched", snapshot.failed),
            ("dedup_links_filtered", "Links to URLs seen before", snapshot.filtered),
        ):
            counter = self._core.CounterMetricFamily(name, text, labels=["crawl", "worker"])
            counter.add_metric(crawl, value)
            yield counter
        for name, text, amount in (
            ("dedup_pages_waiting", "Pages fetched but not judged yet", snapshot.waiting),
            ("dedup_urls_queued", "URLs still to be fetched", snapshot.queued),
            ("dedup_urls_seen", "URLs seen", snapshot.seen),
            ("dedup_index_bytes", "Memory of the detectors' index", snapshot.index_bytes),
            ("dedup_url_filter_bytes", "Memory of the URL filter", snapshot.filter_bytes),
            ("dedup_url_filter_error_rate", "Estimate, unconfirmed", snapshot.error_rate),
            ("dedup_running", "1 while the crawl runs", float(self._is_running)),
        ):
            gauge = self._core.GaugeMetricFamily(name, text, labels=["crawl", "worker"])
            gauge.add_metric(crawl, amount)
            yield gauge
