"""Filters the links of a page before a `Request` is made of each.

Making a `Request` and sending it through engine and middlewares costs about 130 µs, and most links
of a page have been seen before. So links to seen URLs are dropped first, by the key of the
canonical URL.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.linkextractors import IGNORED_EXTENSIONS

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.fingerprinter import CanonicalFingerprinter
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.spiders.own import own_spider
from dedup.scrapy.spiders.scope import Scope

_IGNORED_ENDINGS = tuple(f".{extension}" for extension in IGNORED_EXTENSIONS)


class LinkFilter:
    """Keeps the links that are in scope, may be pages, and have not been seen.

    With another `REQUEST_FINGERPRINTER_CLASS` than the project's, the dupefilter alone decides
    which links have been seen: the keys of the URL filter are not the dupefilter's then.
    """

    def __init__(self, crawler: Crawler, scope: Scope, job: Job | None) -> None:
        self._spider = own_spider(crawler)
        self._stats = crawler.stats
        self._scope = scope
        self._policy = AddressPolicy.of(crawler)
        self._job = job
        fingerprinter = crawler.request_fingerprinter
        self._max_characters = crawler.settings.getint("URLLENGTH_LIMIT")
        self._key = fingerprinter.key if isinstance(fingerprinter, CanonicalFingerprinter) else None

    def new(self, links: Iterable[str], found_on: Response) -> list[str]:
        """The links that are to be requested, in the order of the page."""
        pages = self._pages(links)
        if self._policy.has_private():
            pages = [url for url in pages if self._policy.may_follow(url, found_on.url)]
        if self._job is None:
            return pages
        if self._key is None:
            self._note_count("links", found_on, len(pages))
            return pages
        by_key: dict[bytes, str] = {}
        for url in pages:
            try:
                by_key.setdefault(self._key(url), url)
            except ValueError:
                self._stats.inc_value("dedup/url/invalid")
        for key in [key for key, url in by_key.items() if self._is_too_long(url)]:
            self._record_too_long(key, by_key.pop(key))
        unseen = self._job.seen.unseen(list(by_key))
        # In a refresh, links to seen URLs were counted in an earlier run.
        is_refresh = bool(self._job.revisits.number)
        self._note_count("links", found_on, len(unseen if is_refresh else by_key))
        if len(unseen) < len(by_key):
            self._stats.inc_value("dedup/url/filtered", len(by_key) - len(unseen))
        return [by_key[key] for key in unseen]

    def leave_alone(self, links: Iterable[str], found_on: Response) -> None:
        """Count links that are not requested because the page asks robots not to follow them."""
        count = sum(url in self._scope and not _is_ignored(url) for url in links)
        if count and self._job is not None:
            self._stats.inc_value("dedup/url/nofollow", count)
            self._note_count("nofollow", found_on, count)

    def _note_count(self, counter: str, found_on: Response, amount: int) -> None:
        """Count links of a page, to new and to seen URLs; they are stored when the page is.

        The summary computes the number of filtered links from these and the URLs found by links.
        """
        if self._job is not None:
            self._job.ledger.note_count(found_on.meta.get(KEY), counter, amount)

    def _is_too_long(self, url: str) -> bool:
        """Would Scrapy's `UrlLengthMiddleware` drop the request? It records nothing."""
        longest = (3 if url.isascii() else 12) * len(url)  # if each character is escaped
        if not self._max_characters or longest <= self._max_characters:
            return False
        return len(self._spider.page_request(url).url) > self._max_characters

    def _record_too_long(self, key: bytes, url: str) -> None:
        assert self._job is not None  # noqa: S101 -- for the type checker
        if self._job.seen.unseen([key]):
            finishes = (FinishedUrl(key, url),)
            self._job.record(
                Outcome(kind="failed", url=url, finishes=finishes, reason="url_too_long")
            )

    def _pages(self, links: Iterable[str]) -> list[str]:
        in_scope = [url for url in links if url in self._scope]
        pages = [url for url in in_scope if not _is_ignored(url)]
        if len(pages) < len(in_scope):
            self._stats.inc_value("dedup/url/ignored_extension", len(in_scope) - len(pages))
        return pages


def _is_ignored(url: str) -> bool:
    path = url.partition("#")[0].partition("?")[0]
    # The dot has to be in the path: "http://example.com" ends in no extension.
    return path.count("/") > 2 and path.lower().endswith(_IGNORED_ENDINGS)
