"""The key by which the URL filter knows a request; the project's fingerprinter stays in place."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinter

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.spiders.own import is_own
from dedup.urls import Canonicaliser, url_key

logger = logging.getLogger(__name__)

_ATTRIBUTE = "dedup_url_keys"
"""Of the crawler: the keys end with it."""


class UrlKeys:
    """The keys of a crawl's requests.

    With Scrapy's own `REQUEST_FINGERPRINTER_CLASS`, a plain GET is known by the 16-byte key of its
    canonical URL, under the job's URL rules; all other requests (other methods, requests with a
    body, `verbatim_url`) by their fingerprint. With a fingerprinter of the project's, each request
    is known by its fingerprint: what the project tells apart is never one.

    Attributes:
        canonical: the canonical form of a URL.
        are_canonical: are requests known by their canonical URLs?
    """

    @classmethod
    def of(cls, crawler: Crawler) -> UrlKeys:
        """Those of a crawler, made when first asked for."""
        keys: UrlKeys | None = getattr(crawler, _ATTRIBUTE, None)
        if keys is None:
            keys = cls(crawler)
            setattr(crawler, _ATTRIBUTE, keys)
        return keys

    def __init__(self, crawler: Crawler) -> None:
        config = CrawlConfig.of(crawler)
        self._fingerprinter = crawler.request_fingerprinter
        has_routes = config.has_routes and is_own(crawler.spider)
        self.canonical = Canonicaliser(config.url_rules, has_routes=has_routes)
        kind = type(self._fingerprinter)
        self.are_canonical = kind is RequestFingerprinter
        if config.url_rules.names and not self.are_canonical:
            logger.warning(
                "DEDUP_URL_RULES has no effect: REQUEST_FINGERPRINTER_CLASS is %s, which decides"
                " which requests are equal",
                f"{kind.__module__}.{kind.__qualname__}",
            )

    def fingerprint(self, request: Request) -> bytes:
        """The key of a request; the name is that of Scrapy's protocol for fingerprinters."""
        is_plain = request.method == "GET" and not request.body
        if self.are_canonical and is_plain and not request.meta.get("verbatim_url"):
            try:
                return self.key(request.url)
            except ValueError:  # the URL has no canonical form
                pass
        fingerprint: bytes = self._fingerprinter.fingerprint(request)
        return fingerprint

    def key(self, url: str) -> bytes:
        """The key of a plain GET of `url`, where keys are canonical.

        Raises:
            ValueError: `url` has no canonical form.
        """
        return url_key(self.canonical(url))
