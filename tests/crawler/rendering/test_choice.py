"""Which pages are rendered and what becomes of them, by a browser that the test plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import HtmlResponse, Response

from dedup.document import Match
from dedup.html import parse_page
from dedup.rendering.sketch import RawTemplate
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import FinishedUrl, Outcome, OutcomeKind
from dedup.scrapy.reading.content import RawPage
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.rendering.choice import RenderedPages
from dedup.scrapy.rendering.order import ArrivalOrder
from dedup.scrapy.rendering.record import Rendering, RenderingError
from dedup.store import Page
from dedup.urls import url_key
from tests.crawler.test_links import make_crawler

_HOST = "a.example"
_TEXT = " ".join(f"word{n}" for n in range(99))


def url_of(number: int) -> str:
    return f"http://{_HOST}/{number}"


def reading_of(url: str, text: str, *links: str, source: Any = "box", body: bytes = b"") -> Reading:
    return Reading(
        page=Page(id="", text=text, url=url, source=source, body=body or text.encode()),
        html=parse_page("", url),
        links=list(links),
        nofollow_links=[],
        outline=None,
        contribution=None,
        raw=RawPage(b"", url, "text/html", ()),
        is_encoding_sure=True,
        site_version=0,
        template=RawTemplate(frozenset(range(64)), may_change=True),
    )


class Played:
    """A browser and the reader of what it shows: `show` gives the text, or an error.

    Attributes:
        rendered: the URLs of pages, in order.
    """

    def __init__(self, show: Callable[[str], str | Exception]) -> None:
        self.show = show
        self.rendered: list[str] = []
        self.most_at_once = self._n_open = 0
        self.hangs = False

    async def render(self, response: Response) -> HtmlResponse:
        self.rendered.append(response.url)
        self._n_open += 1
        self.most_at_once = max(self.most_at_once, self._n_open)
        try:
            await (asyncio.Event().wait() if self.hangs else asyncio.sleep(0))
        finally:
            self._n_open -= 1
        if isinstance(shown := self.show(response.url), Exception):
            raise shown
        record = Rendering(seconds=1.5, n_requests=2, n_bytes=3, leads_to=f"{response.url}/to")
        request = Request(response.url, meta={"rendering": record})
        return HtmlResponse(response.url, body=shown.encode(), encoding="utf-8", request=request)

    async def read(self, response: HtmlResponse) -> Reading:
        return reading_of(response.url, response.text, f"{response.url}/made")

    async def read_again(self, reading: Reading, response: Response) -> Reading:
        raise AssertionError("nothing is known of the site that was not known before")

    async def close(self) -> None: ...


class Learning(Played):
    """Also reads notes, which count as the page's own once something is known of the site."""

    async def read(self, response: HtmlResponse) -> Reading:
        return await self.read_again(await super().read(response), response)

    async def read_again(self, reading: Reading, response: Response) -> Reading:
        text = f"{reading.page.text} " + " ".join(f"{response.url}/note{n}" for n in range(30))
        return reading._replace(page=replace(reading.page, text=text), site_version=1)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    crawler = make_crawler(tmp_path / "job")
    job = Job.of(crawler)
    job.pages.judge.join(job.config.stages)
    job.pages.judge.open()
    yield job
    job.close()


def rendering(job: Job, played: Played, mode: str = "auto") -> RenderedPages:
    signals = SimpleNamespace(connect=lambda *_: None)
    crawler = SimpleNamespace(stats=job.pages.judge._stats, signals=signals)
    return RenderedPages(
        cast("Any", crawler),
        job,
        played,
        cast("Any", played),
        mode=mode,
        order=ArrivalOrder(),
        is_skipped=lambda reading: reading.html.is_noindex,
        is_in_scope=lambda _: False,
    )


def read(pages: RenderedPages, *raw: Reading) -> list[Reading]:
    async def each() -> AsyncIterator[Any]:
        responses = [HtmlResponse(reading.page.url or "") for reading in raw]
        for found in await asyncio.gather(*map(pages.read, responses, raw)):
            yield found

    async def every() -> list[Reading]:
        return [found async for found in each()]

    return asyncio.run(every())


def how(job: Job, number: int) -> tuple[bool, str]:
    found = job.store.learned.rendering.of_page(_HOST, url_of(number))
    assert found is not None
    return found.is_rendered, found.why


def same(url: str) -> str:
    return f"{_TEXT} {url}"


def store(job: Job, page: Page, match: Match | None = None) -> None:
    url = page.url or ""
    finishes = (FinishedUrl(url_key(url), url),)
    kind: OutcomeKind = "unique" if match is None else "duplicate"
    job.record(Outcome(kind=kind, url=url, finishes=finishes, page=page, match=match))


def test_static_pages_keep_their_raw_form_and_links_of_both(job: Job) -> None:
    played = Played(same)
    raw = [reading_of(url_of(n), same(url_of(n)), "http://a.example/raw") for n in range(8)]
    found = read(rendering(job, played), *raw)
    assert len(played.rendered) == played.most_at_once == 3
    assert [each.page for each in found] == [each.page for each in raw]
    assert found[0].links == ["http://a.example/raw", f"{url_of(0)}/made", f"{url_of(0)}/to"]
    assert [how(job, n) for n in (0, 7)] == [(False, "first"), (False, "static")]


def test_both_forms_are_compared_by_what_is_known_of_the_site_at_one_time(job: Job) -> None:
    played = Learning(same)
    raw = [reading_of(url_of(n), same(url_of(n))) for n in range(8)]
    found = read(rendering(job, played), *raw)
    assert len(played.rendered) == 3
    assert [how(job, n) for n in (0, 7)] == [(False, "first"), (False, "static")]
    assert [each.site_version for each in found] == [1] * 3 + [0] * 5


def test_a_menu_that_scripts_add_makes_no_page_lack_something(job: Job) -> None:
    menu = " ".join(f"menu{n}" for n in range(50))
    played = Played(lambda url: f"{menu} {_TEXT} {url}")
    pages = rendering(job, played)
    found = read(pages, *(reading_of(url_of(n), same(url_of(n))) for n in range(8)))
    assert len(played.rendered) == 4  # one shows nothing before there is another
    assert sum(menu in each.page.text for each in found) == 1
    assert how(job, 7) == (False, "static")


def test_shells_are_rendered_each(job: Job) -> None:
    played = Played(same)
    shells = [reading_of(url_of(n), "", source="shell", body=b"<div>") for n in range(5)]
    found = read(rendering(job, played), *shells)
    assert [each.page.text for each in found] == [same(url_of(n)) for n in range(5)]
    assert {how(job, n) for n in range(5)} == {(True, "shell")}


def test_failures_store_the_raw_page_and_come_again_by_retry(job: Job) -> None:
    played = Played(lambda _: RenderingError("timeout"))
    raw = [reading_of(url_of(n), "", source="shell") for n in range(3)]
    assert read(rendering(job, played), *raw) == raw
    assert how(job, 0) == (False, "later: timeout")
    table = job.store.learned.rendering
    assert table.templates(_HOST)[0].n_same == table.templates(_HOST)[0].n_other == 0
    assert not table.turn_over_failed(["rendering_crashed"])
    assert table.turn_over_failed() == {"rendering_timeout": 3}
    assert table.hosts_to_render() == [_HOST]


def test_pages_that_failed_come_again_alone_at_the_end(job: Job) -> None:
    shown: dict[str, str | Exception] = {
        url_of(n): RenderingError("timeout" if n % 2 else "crashed") for n in range(8)
    }
    shown[url_of(8)] = RenderingError("too_large")
    played = Played(lambda url: shown[url])
    pages = rendering(job, played)
    shells = [reading_of(url, "", source="shell", body=url.encode()) for url in shown]
    for reading in read(pages, *shells):
        store(job, reading.page)
    with pytest.raises(DontCloseSpider):
        pages._queue_again()
    assert how(job, 0) == (False, "last: crashed")
    assert how(job, 8) == (False, "failed: too_large")
    assert pages._queue_again() is None
    assert job.store.refreshes.validators(1) == {}
    shown[url_of(2)] = same(url_of(2))
    played.most_at_once = 0
    read(pages, *shells[:8])
    assert played.most_at_once == 1
    assert how(job, 2) == (True, "shell")
    assert how(job, 1) == (False, "failed: timeout")
    assert len(played.rendered) == 9 + 6  # after three failures in a row, no others are tried
    assert how(job, 7) == (False, "failed: timeout")
    assert pages._queue_again() is None


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_a_page_that_comes_again_is_no_copy_of_itself(job: Job, mode: str) -> None:
    played = Played(lambda _: RenderingError("timeout"))
    pages, raw = rendering(job, played, mode), reading_of(url_of(0), _TEXT)
    store(job, read(pages, raw)[0].page)
    with pytest.raises(DontCloseSpider):
        pages._queue_again()
    played.show = lambda url: f"{_TEXT} {url} " + " ".join(f"review{n}" for n in range(50))
    (found,) = read(pages, raw)
    assert "review1 " in found.page.text
    assert how(job, 0) == (True, "first" if mode == "auto" else "always")


def test_duplicates_and_skipped_pages_are_not_rendered(job: Job) -> None:
    played = Played(same)
    store(job, reading_of(url_of(0), _TEXT).page)
    copy, skipped = reading_of(url_of(1), _TEXT), reading_of(url_of(2), "Text")
    skipped = skipped._replace(html=replace(skipped.html, is_noindex=True))
    for mode in ("auto", "always"):
        assert read(rendering(job, played, mode), copy, skipped) == [copy, skipped]
        assert how(job, 1) == (False, "duplicate")
    assert not played.rendered


def test_always_renders_what_auto_would_not(job: Job) -> None:
    played = Played(same)
    pages = rendering(job, played, "always")
    found = read(pages, *(reading_of(url_of(n), same(url_of(n))) for n in range(6)))
    assert len(played.rendered) == 6
    assert found[5].page.text == same(url_of(5))
    assert how(job, 5) == (True, "always")


def test_template_that_is_turned_over_has_its_pages_queued_again(job: Job) -> None:
    played = Played(same)
    pages = rendering(job, played)
    found = read(pages, *(reading_of(url_of(n), same(url_of(n))) for n in range(6)))
    for reading in found[:5]:
        store(job, reading.page)
    copy = replace(found[5].page, text=found[3].page.text)
    store(job, copy, Match(original=4, stage="text"))
    played.show = lambda url: same(url) + " and what scripts add" * 9
    n = 6
    while how(job, 3)[1] == "static":
        read(pages, reading_of(url_of(n), same(url_of(n))))
        n += 1
    assert how(job, 3) == (False, "turned_over")
    with pytest.raises(DontCloseSpider):
        pages._queue_again()
    assert {how(job, n) for n in (3, 4, 5)} == {(False, "again")}
    assert how(job, 0) == (False, "first")  # it was compared, and lacked nothing
    queued = job.store.urls.first_queued(_HOST, 9)
    assert {row.url: row.request for row in queued} == {
        url_of(3): b'{"revisit": 4}',
        url_of(4): b'{"revisit": 5}',
        url_of(5): None,
    }
    assert job.urls.revisits.is_to_judge(url_of(5))
    assert job.store.refreshes.validators(4) == {}
    assert job.store.learned.rendering.duplicates_again().keys() == {url_of(5)}
    assert pages._queue_again() is None


def test_a_text_that_scripts_take_away_is_kept(job: Job) -> None:
    played = Played(lambda url: f"Log in to read this. {url}")
    pages = rendering(job, played)
    raw = [reading_of(url_of(n), " ".join(f"w{n}x{m}" for m in range(99))) for n in range(6)]
    found = read(pages, *raw)
    assert [each.page for each in found] == [each.page for each in raw]
    assert found[0].links == [f"{url_of(0)}/made", f"{url_of(0)}/to"]
    assert [how(job, n) for n in (0, 5)] == [(False, "kept"), (False, "static")]


def test_a_text_that_all_pages_open_with_is_replaced_after_all(job: Job) -> None:
    played = Played(lambda url: " ".join(f"{url}/word{n}" for n in range(8)))
    pages = rendering(job, played)
    store(job, read(pages, reading_of(url_of(0), _TEXT))[0].page)
    assert how(job, 0) == (False, "kept")
    (found,) = read(pages, reading_of(url_of(1), _TEXT))
    assert "/word7" in found.page.text
    assert how(job, 0) == (False, "turned_over")


def test_what_was_learned_is_known_to_the_next_process(job: Job) -> None:
    read(rendering(job, Played(same)), *(reading_of(url_of(n), same(url_of(n))) for n in range(4)))
    played = Played(same)
    read(rendering(job, played), reading_of(url_of(5), same(url_of(5))))
    assert not played.rendered


def test_a_crawl_that_stops_waits_for_no_page(job: Job) -> None:
    played = Played(same)
    played.hangs = True
    pages = rendering(job, played)

    async def stop() -> list[BaseException]:
        reading = [
            asyncio.ensure_future(
                pages.read(HtmlResponse(url_of(n)), reading_of(url_of(n), same(url_of(n))))
            )
            for n in range(5)
        ]
        while len(played.rendered) < 3:
            await asyncio.sleep(0)
        pages.abandon()
        return cast("Any", await asyncio.gather(*reading, return_exceptions=True))

    assert {type(each) for each in asyncio.run(stop())} == {CloseSpider}
    assert job.store.learned.rendering.summary(9) == {}  # they stay queued
