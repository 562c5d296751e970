"""Downloader middleware: robots.txt as RFC 9309 has it, in place of Scrapy's own."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from protego import Protego
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from w3lib.url import safe_url_string

from dedup.scrapy.job.failures import reason_of
from dedup.scrapy.job.job import Job
from dedup.scrapy.middlewares.redirect import NotFollowed
from dedup.scrapy.scrapy_internals import download

logger = logging.getLogger(__name__)

_MAX_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
_MAX_BYTES = 512_000  # section 2.5: at least 500 KiB are to be read
_MAX_DOWNLOAD_BYTES = 8 << 20
_MAX_DELAY_SECONDS = 60.0
_VALID_SECONDS = 24 * 3600.0  # section 2.4
_PRIORITY = 1000
_MAX_ORIGINS = 100_000
_FIRST_SECONDS, _MOST_SECONDS = 1.0, 60.0  # between two tries
_NOBODY = frozenset({"connection_refused", "dns"})
_TRIES_OF_NOBODY = 3
_TOO_MANY_REQUESTS = 429


class _Rules(NamedTuple):
    """What a host allows. `reason`: it allows nothing, as it could not be asked."""

    parser: Protego | None
    fetched_at: float
    crawl_delay: float = 0.0
    reason: str = ""


class _UnreachableError(Exception):
    """No answer, or a server's error; `reason` is the failure's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Robots:
    """Asks each host once a day for its robots.txt, and obeys it.

    Answers of 4xx, and more than five redirects, mean that there is none: all is allowed. On 5xx,
    429 or no answer nothing is: the host's URLs stay queued, and robots.txt is asked for again
    after 1, 2, 4 and up to 60 seconds. After `DEDUP_ROBOTS_WAIT_SECONDS` its URLs are recorded as
    `robots_unavailable`; where nobody listens at all, after three tries, as the connection fails.

    `Crawl-delay` is a lower bound of the delay between requests, up to a minute.

    Source: RFC 9309. `Crawl-delay` is not in it; many sites say it, and it costs them less.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY") or not settings.getbool("DEDUP_URL_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._job = Job.of(crawler)
        self._most_seconds = self._job.config.robots_wait_seconds
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._rules: dict[str, _Rules] = {}
        self._asking: dict[str, asyncio.Future[_Rules | None]] = {}
        self._waiting: set[str] = set()
        self._tasks: set[asyncio.Future[None]] = set()
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Robots:
        return cls(crawler)

    async def process_request(
        self,
        request: Request,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Request | None:
        parts = urlsplit(request.url)
        if request.meta.get("dont_obey_robotstxt") or parts.scheme not in ("http", "https"):
            return None
        origin = f"{parts.scheme}://{parts.netloc}"
        rules = self._rules.get(origin)
        if rules is None or time.monotonic() - rules.fetched_at > _VALID_SECONDS:
            rules = await self._ask(origin, str(parts.hostname)) or rules
        if rules is None:
            return request.replace(dont_filter=True)  # back into the queue, which is paused
        if rules.reason:
            raise NotFollowed(rules.reason, request.url)
        if rules.parser is not None and not rules.parser.can_fetch(request.url, self._agent):
            self._crawler.stats.inc_value("robotstxt/forbidden")
            raise IgnoreRequest("Forbidden by robots.txt")
        self._hold_delay(request, rules)
        return None

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Response:
        parts = urlsplit(request.url)
        rules = self._rules.get(f"{parts.scheme}://{parts.netloc}")
        if rules is not None:
            self._hold_delay(request, rules)
        return response

    def _hold_delay(self, request: Request, rules: _Rules) -> None:
        """Keep the delay of the request's slot from falling below what the host asks for."""
        if not rules.crawl_delay:
            return
        engine: Any = self._crawler.engine
        _, slot = engine.downloader._get_slot(request)
        slot.delay = max(slot.delay, rules.crawl_delay)
        if hasattr(slot, "jitter"):
            slot.jitter = 0.0  # which would halve it
        else:
            slot.randomize_delay = False

    async def _ask(self, origin: str, slot: str) -> _Rules | None:
        """The rules; None: they cannot be had now, and are waited for. Once for all who ask."""
        if origin in self._waiting:
            return None
        asked = self._asking.get(origin)
        if asked is None:
            asked = self._asking[origin] = asyncio.ensure_future(self._first(origin, slot))
            asked.add_done_callback(lambda _: self._asking.pop(origin))
        return await asyncio.shield(asked)

    async def _first(self, origin: str, slot: str) -> _Rules | None:
        try:
            return self._keep(origin, await self._fetch(origin))
        except _UnreachableError as error:
            old = self._rules.get(origin)
            if old is not None:  # section 2.4: what was cached counts on
                return self._keep(origin, old._replace(fetched_at=time.monotonic()))
            self._waiting.add(origin)
            self._job.requests.frontier.pause(slot)
            task = asyncio.ensure_future(self._wait(origin, slot, error.reason))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return None

    async def _wait(self, origin: str, slot: str, reason: str) -> None:
        began, seconds, n_tries = time.monotonic(), _FIRST_SECONDS, 1
        rules: _Rules | None = None
        while rules is None:
            left = began + self._most_seconds - time.monotonic()
            if self._job.arrivals.is_closing or self._job.failure:
                break
            if left <= 0 or (reason in _NOBODY and n_tries >= _TRIES_OF_NOBODY):
                kind = reason if reason in _NOBODY else "robots_unavailable"
                logger.error("%s/robots.txt could not be read: %s", origin, reason)
                rules = _Rules(None, time.monotonic(), reason=kind)
                break
            if n_tries == 1 and reason not in _NOBODY:
                logger.warning("%s/robots.txt: %s; the host's URLs wait for it", origin, reason)
            await asyncio.sleep(min(seconds, left))
            seconds, n_tries = min(2 * seconds, _MOST_SECONDS), n_tries + 1
            try:
                rules = await self._fetch(origin)
            except _UnreachableError as error:
                reason = error.reason
        self._waiting.discard(origin)
        if rules is not None:
            self._keep(origin, rules)
        self._job.requests.frontier.resume(slot)

    def _keep(self, origin: str, rules: _Rules) -> _Rules:
        if len(self._rules) >= _MAX_ORIGINS:
            del self._rules[next(iter(self._rules))]
        self._rules[origin] = rules
        return rules

    async def _fetch(self, origin: str) -> _Rules:
        url = f"{origin}/robots.txt"
        for _ in range(_MAX_REDIRECTS + 1):
            response = await self._download(url)
            if response is None:
                break
            status = response.status
            self._crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
            if status >= 500 or status == _TOO_MANY_REQUESTS:
                raise _UnreachableError(f"http_{status}")
            if 200 <= status < 300:
                return self._parsed(response.body)
            location = response.headers.get("Location")
            if not 300 <= status < 400 or not location:
                break
            try:
                url = urljoin(url, safe_url_string(location))
                is_web = urlsplit(url).scheme in ("http", "https")
            except ValueError:
                break
            if not is_web:
                break
        return _Rules(None, time.monotonic())

    async def _download(self, url: str) -> Response | None:
        """The answer; None: there is none, for no fault of the host's."""
        meta: dict[str, Any] = {
            "dont_obey_robotstxt": True,
            "dont_redirect": True,
            "dont_retry": True,
            "download_maxsize": _MAX_DOWNLOAD_BYTES,
            "handle_httpstatus_all": True,
        }
        self._crawler.stats.inc_value("robotstxt/request_count")
        request = Request(url, meta=meta, callback=NO_CALLBACK, priority=_PRIORITY)
        try:
            return await download(self._crawler, request)
        except IgnoreRequest:  # it leads into a private network
            return None
        except Exception as error:
            raise _UnreachableError(reason_of(error)) from error

    def _parsed(self, body: bytes) -> _Rules:
        parser = Protego.parse(body[:_MAX_BYTES].decode("utf-8-sig", "ignore"))
        said = parser.crawl_delay(self._agent)
        delay = min(max(float(said or 0), 0.0), _MAX_DELAY_SECONDS)
        return _Rules(parser, time.monotonic(), delay)

    def _spider_closed(self) -> None:
        for task in self._tasks:
            task.cancel()
