"""Routes of pages without scripts, which are places in them: such a page is kept at its address."""

from __future__ import annotations

from copy import copy

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.frontier.meta import REVISIT
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.url_keys import UrlKeys
from dedup.store import Page
from dedup.store.records import DONE


class Places:
    """Notes which pages have no scripts, and keeps those at their addresses."""

    def __init__(self, crawler: Crawler, job: Job) -> None:
        self._keys = UrlKeys.of(crawler)
        self._job = job
        self._routes = job.urls.budgets.routes

    def at_address(self, reading: Reading, response: Response) -> tuple[Reading, Response]:
        """The page of a response, at its address if it has no scripts: as after a redirect.

        It stays at its route if it is stored there, or if its address has been recorded otherwise:
        then this answer is an exception.
        """
        address, _, route = response.url.partition("#")
        template, request = reading.template, response.request
        if template is None or request is None:
            return reading, response
        has_scripts = template.may_change or reading.page.needs_rendering
        if route and not has_scripts:
            if not self._may_move(request, address):
                return reading, response
            passed = [*request.meta.get("redirect_urls", []), request.url]
            meta = {**request.meta, "redirect_urls": passed}
            response = response.replace(
                url=address, request=request.replace(url=address, meta=meta)
            )
            raw = reading.raw._replace(url=address)
            reading = reading._replace(page=at_url(reading.page, address), raw=raw)
        self._routes.note_scripts(address, has_any=has_scripts)
        return reading, response

    def _may_move(self, request: Request, address: str) -> bool:
        urls, revisits = self._job.store.urls, self._job.urls.revisits
        if REVISIT in request.meta or revisits.is_to_judge(request.url):
            return False
        state = urls.state(self._keys.fingerprint(request.replace(url=address)))
        if state is None:
            return True
        if revisits.number:
            return False
        return state != DONE or self._routes.has_scripts(address) is False


def at_url(page: Page, url: str) -> Page:
    """The page at another URL, with what has been computed of it."""
    if page.url == url:
        return page
    page = copy(page)
    vars(page)["url"] = url
    return page
