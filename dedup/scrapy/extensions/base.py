"""What the extensions share: Scrapy makes them, and they listen to a crawl."""

from __future__ import annotations

from collections.abc import Callable

from scrapy import signals
from scrapy.crawler import Crawler

from dedup.scrapy.component import Component
from dedup.scrapy.internals.reactor import Timer, call_every

_SIGNALS = ("spider_opened", "spider_idle", "spider_closed")


class Extension(Component):
    """Calls its method `_NAME` at each signal NAME, where it has one."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._timer: Timer | None = None
        crawler.signals.connect(self._stop_timer, signals.spider_closed)
        for name in _SIGNALS:
            if hasattr(self, f"_{name}"):
                crawler.signals.connect(getattr(self, f"_{name}"), getattr(signals, name))

    def _call_every(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function every `seconds` until the spider is closed."""
        self._timer = call_every(seconds, function)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
