"""In a refresh: which pages need no browser, as all that they were made from is the same."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from functools import partial
from typing import Any, Literal, NoReturn

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedup.rendering.inputs import (
    Answer,
    Inputs,
    digest_of,
    is_checked,
    same_requests,
    shell_digest,
)
from dedup.rendering.record import LAST, QUEUED_AGAIN, HowRead
from dedup.scrapy.frontier.meta import REVISIT
from dedup.scrapy.internals.engine import download
from dedup.scrapy.job.job import Job
from dedup.scrapy.rendering.record import Rendering
from dedup.store import Page
from dedup.store.sql.inputs import Checks

logger = logging.getLogger(__name__)

Found = Literal["same", "check", "unknown"]
"""Whether a page is what it was: `check`: it seems so, and is rendered to see whether it is."""

_MAX_KEPT = 20_000
"""Digests of what was fetched, 200 bytes each: what most pages share is asked for once."""


class _Once(Request):
    """A request that is sent once: a middleware that would have it come again ends it instead.

    It has no place in the queue to which it could return while its host is waited for.
    """

    def replace(self, *_: Any, **__: Any) -> NoReturn:
        raise IgnoreRequest(f"{self.url} is asked for once")


class SparedPages:
    """Finds, without a browser, the rendered pages that a visit finds as they were.

    The page itself has been fetched. If its bytes are those that were rendered, its scripts and the
    answers that these got are fetched as any other request of the crawl, so with its delays and by
    robots.txt, each once in a refresh, and compared by their digests. A page is the same only if
    all of them are, and if rendering it led to this stored version.

    Of pages that seem to be the same, one in 33 of a host is rendered nevertheless, the first among
    them. If it is another one, the host is not trusted any more, and its pages of this refresh that
    were not rendered are fetched once more.

    Args:
        max_scrolls: see `Bounds`.
    """

    def __init__(self, crawler: Crawler, job: Job, *, max_scrolls: int) -> None:
        self._crawler = crawler
        self._job = job
        self._max_scrolls = max_scrolls
        self._table = job.store.learned.inputs
        self._checks: dict[str, Checks] = {}
        self._digests: OrderedDict[str, asyncio.Future[str]] = OrderedDict()

    async def find(self, host: str, response: Response, read: HowRead | None) -> Found:
        """Is the page of a response what it was? `read`: how it was read then."""
        number: int | None = response.meta.get(REVISIT)
        refresh = self._job.urls.revisits.number
        is_visit = number is not None and refresh > 0 and "redirect_urls" not in response.meta
        if not is_visit or number is None or read is None or not read.is_rendered:
            return "unknown"
        if read.why == QUEUED_AGAIN or read.why.startswith(LAST) or self._known(host).has_failed:
            return "unknown"
        inputs = self._table.of_page(number, host, response.url)
        if inputs is None or inputs.shell != shell_digest(response.body, self._max_scrolls):
            return "unknown"
        for each in inputs.answers:
            if await self._digest(each) != each.digest:
                return "unknown"
        return self._choose(host, response.url, refresh)

    def note(self, host: str, response: Response, page: Page, record: Rendering) -> None:
        """Note what a page was made from that was rendered and is judged next."""
        inputs, url = None, page.url or ""
        if record.made_from is not None:
            before, shell = self._table.before(host, url), ""  # which no page has
            if before is None or same_requests(before.answers, record.made_from):
                shell = shell_digest(response.body, self._max_scrolls)
            inputs = Inputs(shell, record.made_from)
        self._job.turns.call(("made from", host, url), lambda: self._table.note(host, page, inputs))

    def learn(self, host: str, response: Response, page: Page) -> None:
        """Learn from a page that seemed to be the same and was rendered."""
        revisits, number = self._job.urls.revisits, response.meta[REVISIT]
        if revisits.is_unchanged(number, page):
            return
        self._checks[host] = self._known(host)._replace(has_failed=True)
        self._crawler.stats.inc_value("dedup/rendering/spared_wrongly")
        logger.info("%s is another page although all it is made from is the same", response.url)
        refuse = partial(self._table.refuse, host, revisits.number)
        self._job.turns.call(("not trusted", host), refuse)

    def abandon(self) -> None:
        """Wait for no answer any more; what waits for one is cancelled."""
        for each in self._digests.values():
            each.cancel()

    # --- Private ---------------------------------------------------------------------------------

    def _known(self, host: str) -> Checks:
        if host not in self._checks:
            self._checks[host] = self._table.checks(host)
        return self._checks[host]

    def _choose(self, host: str, url: str, refresh: int) -> Found:
        """Is a page that seems to be the same rendered nevertheless?"""
        known = self._known(host)
        if known.has_failed:  # a check has failed meanwhile
            return "unknown"
        self._checks[host] = known._replace(n_pages=known.n_pages + 1)
        is_check, stats = is_checked(known.n_pages), self._crawler.stats
        if is_check:
            stats.inc_value("dedup/rendering/spared_checks")
        else:
            stats.inc_value("dedup/rendering/spared")

        def note() -> None:
            with self._job.store.unit():
                self._table.count(host)
                if not is_check:
                    self._table.note_spared(host, url, refresh)

        self._job.turns.call(("spared", host, url), note)
        return "check" if is_check else "same"

    async def _digest(self, answer: Answer) -> str:
        """The digest of what a URL gives now; "": it is not known."""
        found = self._digests.get(answer.url)
        if found is None:
            found = self._digests[answer.url] = asyncio.ensure_future(self._fetch(answer))
            if len(self._digests) > _MAX_KEPT:
                self._digests.popitem(last=False)
        else:
            self._digests.move_to_end(answer.url)
        return await asyncio.shield(found)

    async def _fetch(self, answer: Answer) -> str:
        self._crawler.stats.inc_value("dedup/rendering/inputs")
        request = _Once(
            answer.url,
            headers={"Accept": "*/*", **answer.validators},
            meta={"dont_redirect": True, "dont_retry": True, "handle_httpstatus_all": True},
            callback=NO_CALLBACK,
        )
        try:
            response = await download(self._crawler, request)
        except Exception as error:  # noqa: BLE001 -- any; then the page is rendered
            logger.debug("%s was not fetched to compare it: %r", answer.url, error)
            return ""
        if response.status == 304 and answer.validators:
            return answer.digest
        return digest_of(response.body) if response.status == 200 else ""
