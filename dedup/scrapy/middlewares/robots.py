"""Downloader middleware: robots.txt by RFC 9309; it replaces Scrapy's middleware."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Self
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from w3lib.url import safe_url_string

from dedup.preferences.declarations import (
    MAX_RULES,
    ROBOTS_FILE,
    TDM_FILE,
    Declaration,
    of_robots_file,
    of_tdm_file,
    to_json,
)
from dedup.preferences.hosts import origin_of_page
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.downloads import raise_delay
from dedup.scrapy.internals.engine import download
from dedup.scrapy.job.failure_reasons import reason_of
from dedup.scrapy.middlewares.base import HostMiddleware, origin_of
from dedup.scrapy.middlewares.redirect import NotFollowed
from dedup.scrapy.robots_file import (
    MAX_BYTES,
    RuleBook,
    TooManyWildcardsError,
    rules_for,
    usage_rules_for,
)

logger = logging.getLogger(__name__)

_MAX_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
_MAX_DOWNLOAD_BYTES = 8 << 20
_MAX_DELAY_SECONDS = 60.0
_VALID_SECONDS = 24 * 3600.0  # section 2.4
_PRIORITY = 1000
_MAX_ORIGINS = 100_000
_MAX_CHARACTERS = 64 << 20
"""Of the rules of all hosts; the host whose rules have been kept for longest is asked again."""

_MAX_UNAVAILABLE_SECONDS = 300.0
"""Time without an answer after which the host's URLs are recorded; a server restarts sooner."""

_NO_SERVER = frozenset({"connection_refused", "dns"})
_MAX_TRIES_WITHOUT_SERVER = 3
_TOO_MANY_REQUESTS = 429


class _Rules(NamedTuple):
    """What a host allows; with a `reason` it allows nothing, as its robots.txt was not received."""

    text: str
    fetched_at: float
    crawl_delay: float = 0.0
    reason: str = ""


class _UnreachableError(Exception):
    """The host gave no answer, or a server error; `reason` is the failure's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Robots(HostMiddleware[_Rules | None]):
    """Fetches robots.txt of each host once a day, and obeys it.

    After an answer of 4xx, or more than five redirects, the host has no robots.txt, and everything
    is allowed. After 5xx, 429 or no answer nothing is allowed: the host's URLs stay queued, and
    robots.txt is fetched again after 1, 2, 4 and up to 60 seconds. After
    five minutes the host's URLs are recorded as `robots_unavailable`. If the host
    has no address or refuses the connection, they are recorded as such after three tries. If the
    rules have more wildcards than are matched in a bounded time, nothing is allowed: the host's
    URLs are recorded as `robots_too_complex`.

    `Crawl-delay` is a lower bound of the delay between requests, up to a minute.

    Without a queue of the job's to pause hosts in, Scrapy's own middleware takes its place.

    Source: RFC 9309. `Crawl-delay` is not part of it, but many sites have it.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | RobotsTxtMiddleware:  # type: ignore[override] # see above
        if not CrawlConfig.of(crawler).is_url_enabled:
            return RobotsTxtMiddleware.from_crawler(crawler)
        return super().from_crawler(crawler)

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        super().__init__(crawler)
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._has_tdm_files = CrawlConfig.of(crawler).has_tdm_files
        self._rules: dict[str, _Rules] = {}
        self._n_characters = 0
        self._book = RuleBook()
        self._waiting: set[str] = set()

    async def process_request(self, request: Request, **_: object) -> Request | None:
        host = str(urlsplit(request.url).hostname)
        if request.meta.get("dont_obey_robotstxt") or not _is_web(request.url):
            return None
        origin = origin_of(request.url)
        rules = self._rules.get(origin)
        if rules is None or time.monotonic() - rules.fetched_at > _VALID_SECONDS:
            rules = await self._ask(origin, host) or rules
        if rules is None:
            return request.replace(dont_filter=True)  # it returns to the queue
        if rules.reason:
            raise NotFollowed(rules.reason, request.url)
        began = time.process_time()
        is_allowed = self._book.may_fetch(request.url, rules.text)
        self.job.urls.shares.charge(host, time.process_time() - began)
        if not is_allowed:
            self.crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("Forbidden by robots.txt")
        self._hold_delay(request, rules)
        return None

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        rules = self._rules.get(origin_of(request.url))
        if rules is not None:
            self._hold_delay(request, rules)
        return response

    def _hold_delay(self, request: Request, rules: _Rules) -> None:
        """Keep the delay between the host's requests at least as long as the host asks for."""
        if rules.crawl_delay:
            raise_delay(self.crawler, request, rules.crawl_delay)

    async def _ask(self, origin: str, slot: str) -> _Rules | None:
        """The rules; None: the host is paused until it has them."""
        if origin in self._waiting:
            return None
        return await self.ask_once(origin, partial(self._fetch_first, origin, slot))

    async def _fetch_first(self, origin: str, slot: str) -> _Rules | None:
        try:
            return self._keep(origin, await self._fetch(origin))
        except _UnreachableError as error:
            old = self._rules.get(origin)
            if old is not None:  # section 2.4: the cached rules may be used
                return self._keep(origin, old._replace(fetched_at=time.monotonic()))
            self._waiting.add(origin)
            self.pause(slot, partial(self._wait, origin, error.reason))
            return None

    async def _wait(self, origin: str, reason: str) -> None:
        if reason not in _NO_SERVER and not self.is_ending:
            logger.warning(
                "%s/robots.txt: %s; the host's URLs wait until it is available", origin, reason
            )
        rules: _Rules | None = None
        for n_tries, seconds in enumerate(self.waits(_MAX_UNAVAILABLE_SECONDS), start=2):
            await asyncio.sleep(seconds)
            try:
                rules = await self._fetch(origin)
                break
            except _UnreachableError as error:
                reason = error.reason
            if reason in _NO_SERVER and n_tries >= _MAX_TRIES_WITHOUT_SERVER:
                break
        if rules is None and not self.is_ending:
            kind = reason if reason in _NO_SERVER else "robots_unavailable"
            logger.error("%s/robots.txt could not be read: %s", origin, reason)
            rules = _Rules("", time.monotonic(), reason=kind)
        self._waiting.discard(origin)
        if rules is not None:
            self._keep(origin, rules)

    def _keep(self, origin: str, rules: _Rules) -> _Rules:
        self._forget(origin)
        self._rules[origin] = rules
        self._n_characters += len(rules.text)
        while len(self._rules) > _MAX_ORIGINS or self._n_characters > _MAX_CHARACTERS:
            self._forget(next(iter(self._rules)))
        return rules

    def _forget(self, origin: str) -> None:
        if (old := self._rules.pop(origin, None)) is not None:
            self._n_characters -= len(old.text)

    async def _fetch(self, origin: str) -> _Rules:
        body = await self._body_of(f"{origin}/robots.txt", counts_as="robotstxt")
        usage_rules = usage_rules_for(self._agent, body or b"")
        await self._note(origin, ROBOTS_FILE, of_robots_file(usage_rules), len(usage_rules))
        rules = _Rules("", time.monotonic()) if body is None else self._parsed(body)
        if self._has_tdm_files and not rules.reason:
            await self._fetch_tdm_file(origin, rules)
        return rules

    async def _fetch_tdm_file(self, origin: str, rules: _Rules) -> None:
        """Record what the host reserves; if it does not answer, what is known of it stays."""
        url = f"{origin}/.well-known/tdmrep.json"
        if not self._book.may_fetch(url, rules.text):
            return
        try:
            body = await self._body_of(url, counts_as="dedup/tdm_files")
        except _UnreachableError as error:
            logger.warning("%s could not be read: %s", url, error.reason)
            return
        declared = of_tdm_file((body or b"")[:MAX_BYTES])
        await self._note(origin, TDM_FILE, declared, len(declared))

    async def _note(
        self, origin: str, source: str, declared: Sequence[Declaration], n_rules: int
    ) -> None:
        """Record what a file declares of the use of the host's pages."""
        if n_rules > MAX_RULES:
            logger.warning(
                "%s: of the %d rules for the use of pages in %s, the first %d are recorded",
                *(origin, n_rules, source, MAX_RULES),
            )
        note = self.job.store.learned.preferences.note_host
        arguments = origin_of_page(origin), source, to_json(declared)
        await self.job.turns.run(partial(note, *arguments))

    async def _body_of(self, url: str, *, counts_as: str) -> bytes | None:
        """The content of a file; None: there is none.

        Raises:
            _UnreachableError: this is not known now.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            response = await self._download(url, counts_as)
            if response is None:
                break
            status = response.status
            self.crawler.stats.inc_value(f"{counts_as}/response_status_count/{status}")
            if status >= 500 or status == _TOO_MANY_REQUESTS:
                raise _UnreachableError(f"http_{status}")
            if 200 <= status < 300:
                return response.body
            location = response.headers.get("Location")
            if not 300 <= status < 400 or not location:
                break
            try:
                url = urljoin(url, safe_url_string(location))
                if not _is_web(url):
                    break
            except ValueError:
                break
        return None

    async def _download(self, url: str, counts_as: str) -> Response | None:
        """The answer; None: the request was not sent, as the URL is in a private network."""
        meta: dict[str, object] = {
            "dont_obey_robotstxt": True,
            "dont_redirect": True,
            "dont_retry": True,
            "download_maxsize": _MAX_DOWNLOAD_BYTES,
            "handle_httpstatus_all": True,
        }
        self.crawler.stats.inc_value(f"{counts_as}/request_count")
        request = Request(url, meta=meta, callback=NO_CALLBACK, priority=_PRIORITY)
        try:
            return await download(self.crawler, request)
        except IgnoreRequest:
            return None
        except Exception as error:
            raise _UnreachableError(reason_of(error)) from error

    def _parsed(self, body: bytes) -> _Rules:
        try:
            text = rules_for(self._agent, body)
        except TooManyWildcardsError:
            return _Rules("", time.monotonic(), reason="robots_too_complex")
        delay = min(self._book.delay_seconds(text), _MAX_DELAY_SECONDS)
        return _Rules(text, time.monotonic(), delay)


def _is_web(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https")
