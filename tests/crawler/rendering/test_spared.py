"""Which pages of a refresh need no browser, by answers that the test gives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from dedup.rendering.inputs import Answer, digest_of
from dedup.rendering.record import HowRead
from dedup.scrapy.frontier.meta import REVISIT
from dedup.scrapy.job.job import Job
from dedup.scrapy.rendering import spared
from dedup.scrapy.rendering.record import Rendering
from dedup.scrapy.rendering.spared import SparedPages
from dedup.store import Page
from tests.crawler.test_links import make_crawler

_HOST = "a.example"
_SHELL = b"<div id=root></div>"
_SCRIPT, _DATA = "http://a.example/app.js", "http://a.example/data"
_READ = HowRead(_HOST, "", 0, "shell", True, "shell", 1.0)


class Visited:
    """A job with rendered pages, in a refresh.

    Attributes:
        bodies: what URLs give now; an error: they give no answer.
        asked: the requests for them.
    """

    def __init__(self, job: Job, crawler: Any) -> None:
        self.job = job
        self.bodies: dict[str, bytes | int | Exception] = {_SCRIPT: b"script"}
        self.asked: list[Request] = []
        self.pages = SparedPages(crawler, job, max_scrolls=0)

    async def download(self, _: object, request: Request) -> Response:
        self.asked.append(request)
        answer = self.bodies[request.url]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return Response(request.url, status=answer)
        return Response(request.url, body=answer)

    def add(self, name: str, *answers: Answer) -> Response:
        """A page that was rendered and stored, as it is visited now."""
        url = f"http://{_HOST}/{name}"
        page = Page(id="", text=f"text of {name}", url=url, fetched_at=len(name) + 1e9)
        record = Rendering(1.0, 1, 1, made_from=answers)
        self.pages.note(_HOST, HtmlResponse(url, body=_SHELL), page, record)
        number = self.job.store.add(page, {})
        request = Request(url, meta={REVISIT: number})
        return HtmlResponse(url, body=_SHELL, request=request)

    def find(self, response: Response, read: HowRead | None = _READ) -> str:
        return asyncio.run(self.pages.find(_HOST, response, read))


@pytest.fixture
def visited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visited]:
    crawler = make_crawler(tmp_path / "job")
    job = Job.of(crawler)
    visited = Visited(job, crawler)
    monkeypatch.setattr(spared, "download", visited.download)
    job.urls.revisits.number = job.store.refreshes.begin()
    yield visited
    job.close()


def script(**more: str) -> Answer:
    return Answer(_SCRIPT, digest_of(b"script"), **more)


def test_the_first_page_is_checked_and_the_others_are_the_same(visited: Visited) -> None:
    responses = [visited.add(name, script()) for name in "abc"]

    async def find_all() -> list[str]:
        found = [visited.pages.find(_HOST, each, _READ) for each in responses]
        return list(await asyncio.gather(*found))

    assert asyncio.run(find_all()) == ["check", "same", "same"]
    assert [each.url for each in visited.asked] == [_SCRIPT]  # which all of them share


def test_a_page_without_scripts_of_the_site_is_told_by_its_bytes(visited: Visited) -> None:
    response = visited.add("a")
    assert visited.find(response) == "check"
    assert visited.find(response.replace(body=_SHELL + b" ")) == "unknown"
    assert not visited.asked


@pytest.mark.parametrize(
    "now", [b"another", 404, 500, 304, IgnoreRequest("robots.txt"), OSError("no answer")]
)
def test_another_answer_or_none_tells_nothing(
    visited: Visited, now: bytes | int | Exception
) -> None:
    visited.bodies[_SCRIPT] = now
    assert visited.find(visited.add("a", script())) == "unknown"


def test_a_server_may_say_that_its_answer_is_the_same(visited: Visited) -> None:
    visited.bodies[_SCRIPT] = 304
    response = visited.add("a", script(etag='"e"', last_modified="a date"))
    assert visited.find(response) == "check"
    headers = visited.asked[0].headers.to_unicode_dict()
    assert headers["If-None-Match"] == '"e"'
    assert headers["If-Modified-Since"] == "a date"


def test_nothing_that_follows_another_answer_is_asked_for(visited: Visited) -> None:
    visited.bodies[_SCRIPT] = b"another"
    assert visited.find(visited.add("a", script(), Answer(_DATA, ""))) == "unknown"
    assert [each.url for each in visited.asked] == [_SCRIPT]


@pytest.mark.parametrize(
    "read",
    [
        None,
        _READ._replace(is_rendered=False, why="static"),
        _READ._replace(why="again"),
        _READ._replace(why="last: timeout"),
    ],
)
def test_pages_that_were_not_rendered_or_have_to_be_are_not_told(
    visited: Visited, read: HowRead | None
) -> None:
    assert visited.find(visited.add("a"), read) == "unknown"


def test_only_visits_of_stored_pages_are_told(visited: Visited) -> None:
    response = visited.add("a")
    moved = {**response.meta, "redirect_urls": ["http://a.example/b"]}
    for meta in ({}, moved):
        request = Request(response.url, meta=meta)
        assert visited.find(response.replace(request=request)) == "unknown"
    visited.job.urls.revisits.number = 0
    assert visited.find(response) == "unknown"


def test_a_page_whose_new_version_was_not_stored_is_not_told(visited: Visited) -> None:
    response, record = visited.add("a"), Rendering(1.0, 1, 1, made_from=())
    again = Page(id="", text="", url=response.url, fetched_at=2e9)
    visited.pages.note(_HOST, response, again, record)
    assert visited.find(response) == "unknown"


def test_a_page_whose_queries_change_is_not_told(visited: Visited) -> None:
    visited.bodies |= {f"{_DATA}?{n}": b"data" for n in range(4)}
    response = visited.add("a", Answer(f"{_DATA}?0", digest_of(b"data")))
    number = response.meta[REVISIT]
    page = visited.job.store.page(number)
    for n, expected in ((1, "unknown"), (2, "unknown"), (2, "check")):
        answer = Answer(f"{_DATA}?{n}", digest_of(b"data"))
        visited.pages.note(_HOST, response, page, Rendering(1.0, 1, 1, made_from=(answer,)))
        assert visited.find(response) == expected


def test_a_host_is_not_trusted_after_a_check_that_found_another_page(visited: Visited) -> None:
    first, second = visited.add("a"), visited.add("b")
    visited.job.store.learned.rendering.note(_READ._replace(url=second.url))
    assert [visited.find(first), visited.find(second)] == ["check", "same"]
    same = visited.job.store.page(first.meta[REVISIT])
    visited.pages.learn(_HOST, first, same)
    assert visited.find(second) == "same"
    visited.pages.learn(_HOST, first, Page(id="", text="another text", url=first.url))
    assert visited.find(second) == "unknown"
    assert SparedPages(cast("Any", None), visited.job, max_scrolls=0)._known(_HOST).has_failed
    table = visited.job.store.learned.rendering
    assert [each.url for each in table.to_render(_HOST, 9)] == [second.url]


def test_a_request_comes_never_again() -> None:
    with pytest.raises(IgnoreRequest, match="asked for once"):
        spared._Once(_DATA).replace(dont_filter=True)


def test_what_waits_for_an_answer_is_cancelled(
    visited: Visited, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(spared, "download", hang)
    response = visited.add("a", script())

    async def find() -> str:
        finding = asyncio.ensure_future(visited.pages.find(_HOST, response, _READ))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        visited.pages.abandon()
        return await finding

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(find())
