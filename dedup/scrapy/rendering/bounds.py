"""What one page may take of the browser, of the machine, and of other hosts."""

from __future__ import annotations

from dataclasses import dataclass

TRACKERS = frozenset({
    "amplitude.com", "bat.bing.com", "chartbeat.com", "chartbeat.net", "clarity.ms",
    "connect.facebook.net", "criteo.com", "criteo.net", "doubleclick.net", "fullstory.com",
    "google-analytics.com", "googleadservices.com", "googlesyndication.com",
    "googletagmanager.com", "googletagservices.com", "heapanalytics.com", "hotjar.com",
    "matomo.cloud", "mc.yandex.ru", "mixpanel.com", "newrelic.com", "nr-data.net", "outbrain.com",
    "plausible.io", "quantserve.com", "scorecardresearch.com", "segment.com", "segment.io",
    "sentry.io", "taboola.com",
})  # fmt: skip
"""Hosts, with their subdomains, that count visits or show advertisements: no page has its text from
them, and a crawl is no visit."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one page, and of the browser.

    The reasons are estimates, where they give no measurement.

    Attributes:
        seconds: for all of a page. Pages take one to three seconds; servers of data may be slow.
            Pages that exceed them come again at the end of the crawl, when nothing else runs.
        idle_seconds: to wait for a page that never stops asking, from when its markup is read.
        max_nodes: elements and texts of the DOM. The specification of HTML, on one page, has
            400,000.
        max_characters: of the DOM, names and values of attributes included; 10 MB of the Latin
            alphabet. Pages above `DOWNLOAD_MAXSIZE` (16 MiB) are not fetched at all.
        max_depth: of an element. Parsers of HTML cut at 512.
        max_requests: of a page. Pages of newspapers make 300 without images.
        max_bytes: in both directions. An application's scripts take 1 to 10 MB.
        max_scrolls: of a page, for more to come; 0: it is read in the state in which it opens.
        max_popups: of a page; each is closed at once, and a page with more is given up.
        max_loads: of the page's own URL: pages that set a cookie load themselves once more.
        process_bytes: resident memory of one of the browser's processes; one above it is ended.
            Large pages take 300 MB.
        heap_mb: of V8, for one renderer; MiB.
        pages_at_once: that are rendered.
        max_contexts: that are kept, with their cache and cookies, for hosts whose pages may come.
        pages_per_browser: after which it is started again: long runs leak.
    """

    seconds: float = 15.0
    idle_seconds: float = 3.0
    max_nodes: int = 500_000
    max_characters: int = 10_000_000
    max_depth: int = 1_000
    max_requests: int = 400
    max_bytes: int = 50 * 2**20
    max_scrolls: int = 0
    max_popups: int = 3
    max_loads: int = 3
    process_bytes: int = 1024 * 2**20
    heap_mb: int = 512
    pages_at_once: int = 4
    max_contexts: int = 16
    pages_per_browser: int = 500
