"""The key by which requests are the same: `REQUEST_FINGERPRINTER_CLASS`."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from dedup.scrapy.config import CrawlConfig
from dedup.urls import Canonicaliser, url_key


class CanonicalFingerprinter:
    """The 16-byte key of a plain GET's canonical URL, under the job's URL rules.

    For all other requests (other methods, requests with a body, `verbatim_url`) the fingerprinter
    decides that was set before the add-on, `DEDUP_URL_FALLBACK_FINGERPRINTER_CLASS`.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = CrawlConfig.of(crawler)
        self._fallback = build_from_crawler(load_object(config.fallback_fingerprinter), crawler)
        self.canonical = Canonicaliser(config.url_rules)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CanonicalFingerprinter:
        return cls(crawler)

    def fingerprint(self, request: Request) -> bytes:
        if request.method == "GET" and not request.body and not request.meta.get("verbatim_url"):
            try:
                return self.key(request.url)
            except ValueError:  # the URL has no canonical form
                pass
        fingerprint: bytes = self._fallback.fingerprint(request)
        return fingerprint

    def key(self, url: str) -> bytes:
        """The fingerprint of a plain GET of `url`.

        Raises:
            ValueError: `url` has no canonical form.
        """
        return url_key(self.canonical(url))
