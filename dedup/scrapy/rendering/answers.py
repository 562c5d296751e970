"""Notes what a page is made from while a browser shows it: the answers to its scripts."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urldefrag, urlsplit

from playwright.async_api import Request as BrowserRequest

from dedup.rendering.inputs import MAX_ANSWERS, MAX_SCRIPTS, Answer, digest_of, is_for_once
from dedup.scrapy.rendering.reach import is_tracker
from dedup.scrapy.rendering.record import DataAnswer

ScriptKey = tuple[str, str, str, str]
"""The URL of a script, and the headers that tell its versions."""

_DATA_TYPES = ("xhr", "fetch")
_MAKE_NO_TEXT = frozenset({
    "stylesheet", "image", "media", "font", "texttrack", "manifest", "ping", "cspviolationreport",
})  # fmt: skip
"""A text may be made from all others: frames are `document`, what is loaded before a script asks
for it is `other`."""

_WITHOUT_END = ("eventsource", "websocket")

_OK = 200


class Answers:
    """The answers that a page got.

    A page whose text may not be told by them is `spoilt`: it has asked for something otherwise
    than by GET, out of scope, again with another answer, without success, or for too much, or has
    had other ways to get it (sockets, events, workers, what the browser keeps for other pages).

    Args:
        is_in_scope: may the crawl itself fetch from the host of a URL?
        scripts: digests of the scripts that the browser context has loaded; a script is read once.
    """

    def __init__(self, is_in_scope: Callable[[str], bool], scripts: dict[ScriptKey, str]) -> None:
        self._is_in_scope = is_in_scope
        self._scripts = scripts
        self._url = ""
        self._data: dict[str, str] = {}
        self._found: dict[str, Answer | None] = {}
        """By URL; None: it has not been read yet."""
        self._n_data = self._n_scripts = 0
        self._is_spoilt = False

    def begin(self, url: str) -> None:
        """Begin with the page of a URL."""
        self._url = urldefrag(url).url

    def spoil(self, *_: object) -> None:
        """Note that the page's text may be made from something that is not known."""
        self._is_spoilt = True

    @property
    def data(self) -> tuple[DataAnswer, ...]:
        """The answers that scripts asked for with GET, by URL."""
        return tuple(DataAnswer(url, self._data[url]) for url in sorted(self._data))

    @property
    def made_from(self) -> tuple[Answer, ...] | None:
        """What the page was made from, scripts first; None: that cannot be told."""
        found = [each for each in self._found.values() if each is not None]
        if self._is_spoilt or len(found) < len(self._found):
            return None
        return tuple(sorted(found, key=lambda each: (each.url in self._data, each.url)))

    def ask(self, request: BrowserRequest) -> None:
        """Note a request as it is sent."""
        kind, url = request.resource_type, request.url
        if kind in _WITHOUT_END:
            self.spoil()
        if not self._counts(request) or self._is_others_script(request):
            return
        if kind == "script":
            self._n_scripts += url not in self._found
        else:
            self._n_data += url not in self._found
        is_refused = (
            request.method != "GET"
            or not self._is_in_scope(url)
            or self._n_data > MAX_ANSWERS
            or self._n_scripts > MAX_SCRIPTS
            or is_for_once(url, time.time())
        )
        if is_refused:
            self.spoil()
        else:
            self._found.setdefault(url, None)

    def fail(self, request: BrowserRequest) -> None:
        """Note a request without an answer."""
        if self._counts(request):
            self.spoil()

    def is_wanted(self, request: BrowserRequest) -> bool:
        """Is the answer to a request that has ended to be read?"""
        is_data = request.resource_type in _DATA_TYPES and request.method == "GET"
        return is_data or (not self._is_spoilt and self._counts(request))

    async def read(self, request: BrowserRequest) -> None:
        """Read the answer to a request."""
        answer = await request.response()
        if answer is None or answer.status != _OK:
            self.fail(request)
        if answer is None or not answer.ok or self._is_others_script(request):
            return
        url, headers = request.url, answer.headers
        etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
        if request.resource_type == "script":
            key = (url, etag, modified, headers.get("content-length", ""))
            if key not in self._scripts:
                self._scripts[key] = digest_of(await answer.body())
            digest = self._scripts[key]
        else:
            digest = digest_of(await answer.body())
        if request.resource_type in _DATA_TYPES:
            self._data[url] = digest
        if url in self._found:
            before = self._found[url]
            if before is not None and before.digest != digest:
                self.spoil()
            self._found[url] = Answer(url, digest, etag, modified)

    def _counts(self, request: BrowserRequest) -> bool:
        """Can the text be made from the answer?"""
        parts = urlsplit(request.url)
        if request.resource_type in _MAKE_NO_TEXT or parts.scheme not in ("http", "https"):
            return False
        is_page = request.resource_type == "document" and urldefrag(request.url).url == self._url
        return not (is_page or is_tracker(parts.hostname or ""))

    def _is_others_script(self, request: BrowserRequest) -> bool:
        """Is it a script of another site? It counts by its URL, which others of the page have."""
        return request.resource_type == "script" and not self._is_in_scope(request.url)
