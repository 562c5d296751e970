"""Filters the links of a page before a `Request` is made of each.

Making a `Request` and sending it through engine and middlewares costs about 130 µs, and most links
of a page have been seen before. So links to seen URLs are dropped first, by the key of the
canonical URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.linkextractors import IGNORED_EXTENSIONS

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.spiders.own import own_spider
from dedup.scrapy.spiders.scope import Scope
from dedup.scrapy.url_keys import UrlKeys
from dedup.urls.parts import plain_origin

_REMEMBERED_LINKS = 10_000
"""Most links of a page are in the site's menus, and stand on all its pages. 4 MB when full."""

_REMEMBERED_CHARACTERS = 1_000
"""A longer URL is not remembered: pages can have links of megabytes."""


class _Link(NamedTuple):
    """What a URL tells of a link in scope.

    Attributes:
        origin: see `plain_origin`.
        is_ignored: is it no page, by the ending of its path?
        key: of the canonical URL; None: it has none, or only the dupefilter knows.
        may_be_long: may the URL of its request be longer than Scrapy allows?
    """

    origin: str
    is_ignored: bool
    key: bytes | None
    may_be_long: bool


class LinkFilter:
    """Keeps the links that are in scope, may be pages, and have not been seen.

    With another `REQUEST_FINGERPRINTER_CLASS` than Scrapy's own, the dupefilter alone decides which
    links have been seen: a URL alone has no key then.
    """

    def __init__(self, crawler: Crawler, scope: Scope, job: Job | None) -> None:
        self._spider = own_spider(crawler)
        self._stats = crawler.stats
        self._scope = scope
        self._policy = AddressPolicy.of(crawler)
        self._job = job
        keys = UrlKeys.of(crawler)
        self._max_characters = crawler.settings.getint("URLLENGTH_LIMIT")
        self._key = keys.key if keys.are_canonical else None
        self._remembered = lru_cache(_REMEMBERED_LINKS)(self._look_at)
        self._n_hosts = len(scope.hosts)
        read = CrawlConfig.of(crawler).documents
        self._ignored = tuple(f".{each}" for each in IGNORED_EXTENSIONS if each not in read)

    def new(
        self, links: Sequence[str], found_on: Response, *, is_duplicate: bool = False
    ) -> list[str]:
        """The links that are to be requested, in the order of the page.

        If the page `is_duplicate`, they are to be put off.
        """
        pages = self._pages(links, found_on)
        if self._job is None:
            return [url for url, _ in pages]
        if self._key is None:
            self._note_count("links", found_on, len(pages))
            return [url for url, _ in pages]
        by_key: dict[bytes, str] = {}
        doubtful: dict[bytes, None] = {}
        for url, link in pages:
            if link.key is None:
                self._stats.inc_value("dedup/url/invalid")
            elif by_key.setdefault(link.key, url) is url and link.may_be_long:
                doubtful[link.key] = None
        for key in [key for key in doubtful if self._is_too_long(by_key[key])]:
            self._record_too_long(key, by_key.pop(key))
        unseen = self._job.urls.seen.unseen(by_key)
        # In a refresh, links to seen URLs were counted in an earlier run.
        is_refresh = bool(self._job.urls.revisits.number)
        self._note_count("links", found_on, len(unseen if is_refresh else by_key))
        if len(unseen) < len(by_key):
            self._stats.inc_value("dedup/url/filtered", len(by_key) - len(unseen))
        self._note_found(by_key.keys(), unseen, found_on, is_duplicate=is_duplicate)
        return [by_key[key] for key in unseen]

    def leave_alone(self, links: Iterable[str], found_on: Response) -> None:
        """Count links that are not requested because the page asks robots not to follow them."""
        count = sum(not link.is_ignored for _, link in self._in_scope(links))
        if count and self._job is not None:
            self._stats.inc_value("dedup/url/nofollow", count)
            self._note_count("nofollow", found_on, count)

    def _note_found(
        self, keys: Set[bytes], unseen: list[bytes], found_on: Response, *, is_duplicate: bool
    ) -> None:
        """Have links put off that duplicates alone have, and no others."""
        if self._job is None or (waiting := self._job.urls.duplicate_links) is None:
            return
        page: bytes | None = found_on.meta.get(KEY)
        if is_duplicate and page is not None:
            waiting.put_off(page, list(keys), n_new=len(unseen))
        else:
            waiting.found(list(keys - set(unseen)))

    def _note_count(self, counter: str, found_on: Response, amount: int) -> None:
        """Count links of a page, to new and to seen URLs; they are stored when the page is.

        The summary computes the number of filtered links from these and the URLs found by links.
        """
        if self._job is not None:
            self._job.ledger.note_count(found_on.meta.get(KEY), counter, amount)

    def _is_too_long(self, url: str) -> bool:
        """Would Scrapy's `UrlLengthMiddleware` drop the request? It records nothing."""
        return len(self._spider.page_request(url).url) > self._max_characters

    def _record_too_long(self, key: bytes, url: str) -> None:
        assert self._job is not None  # noqa: S101 -- for the type checker
        if self._job.urls.seen.unseen([key]):
            finishes = (FinishedUrl(key, url),)
            self._job.record(
                Outcome(kind="failed", url=url, finishes=finishes, reason="url_too_long")
            )

    def _pages(self, links: Iterable[str], found_on: Response) -> list[tuple[str, _Link]]:
        """The links that may be pages of the crawl."""
        pages = self._in_scope(links)
        n_in_scope = len(pages)
        pages = [each for each in pages if not each[1].is_ignored]
        if len(pages) < n_in_scope:
            self._stats.inc_value("dedup/url/ignored_extension", n_in_scope - len(pages))
        if self._policy.has_private():
            origins = {link.origin for _, link in pages}
            page = found_on.url
            allowed = {each for each in origins if self._policy.may_follow(each, page)}
            pages = [each for each in pages if each[1].origin in allowed]
        return pages

    def _in_scope(self, links: Iterable[str]) -> list[tuple[str, _Link]]:
        if len(self._scope.hosts) != self._n_hosts:  # a start URL has led to another host
            self._n_hosts = len(self._scope.hosts)
            self._remembered.cache_clear()
        longest, short, long = _REMEMBERED_CHARACTERS, self._remembered, self._look_at
        found = [(url, short(url) if len(url) <= longest else long(url)) for url in links]
        return [(url, link) for url, link in found if link is not None]

    def _look_at(self, url: str) -> _Link | None:
        """What the URL tells of a link; None: it is not in scope."""
        if url not in self._scope:
            return None
        key = None
        if self._key is not None:
            with suppress(ValueError):
                key = self._key(url)
        longest = (3 if url.isascii() else 12) * len(url)  # if each character is escaped
        may_be_long = bool(self._max_characters) and longest > self._max_characters
        return _Link(intern(plain_origin(url)), self._is_ignored(url), key, may_be_long)

    def _is_ignored(self, url: str) -> bool:
        path = url.partition("#")[0].partition("?")[0]
        # The dot has to be in the path: "http://example.com" ends in no extension.
        return path.count("/") > 2 and path.lower().endswith(self._ignored)
