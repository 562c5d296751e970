"""Pages arrive in the order in which they were read, however long some of them are rendered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from dedup.scrapy.job.job import Job
from dedup.scrapy.job.turns import Turns
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.rendering.order import ArrivalOrder
from tests.crawler.rendering.test_choice import reading_of
from tests.crawler.test_links import SITE, make_crawler


def url_of(number: int) -> str:
    return f"{SITE}page{number}"


@pytest.fixture
def crawler(tmp_path: Path) -> Iterator[Crawler]:
    crawler = make_crawler(tmp_path / "job")
    job = Job.of(crawler)
    job.pages.judge.join(job.config.stages)
    job.pages.judge.open()
    yield crawler
    job.close()


class Rendering:
    """Renders each page for so many turns of the event loop, or fails with an error."""

    def __init__(self, takes: dict[str, int | Exception]) -> None:
        self._takes = takes

    async def is_as_before(self, *_: object) -> bool:
        return False

    async def read(self, response: Response, raw: Reading) -> Reading:
        takes = self._takes.get(response.url, 0)
        for _ in range(takes if isinstance(takes, int) else 1):
            await asyncio.sleep(0)
        if isinstance(takes, Exception):
            raise takes
        return raw


async def _read(response: Response) -> Reading:
    links = (f"{response.url}/{n}" for n in range(response.body.count(b"a")))
    return reading_of(response.url, f"Text of {response.url}", *links)


def arrived(crawler: Crawler, takes: dict[str, int | Exception], bodies: list[bytes]) -> list[str]:
    """The URLs of pages that are read one after the other, in the order in which they arrive."""
    spider = cast("Any", crawler.spider)
    vars(spider).update(_rendering=Rendering(takes), _reader=SimpleNamespace(read=_read))
    urls: list[str] = []
    take = Job.of(crawler).pages.arrivals.arrive

    def arrive(reading: Reading, *others: Any) -> Any:
        urls.append(reading.page.url or "")
        return take(reading, *others)

    Job.of(crawler).pages.arrivals.arrive = arrive  # type: ignore[method-assign]

    async def visit(number: int, body: bytes) -> None:
        request = spider.page_request(url_of(number))
        async for _ in spider.parse(HtmlResponse(url_of(number), body=body, request=request)):
            await asyncio.sleep(0)

    async def every() -> None:
        await asyncio.gather(*map(visit, range(len(bodies)), bodies), return_exceptions=True)

    asyncio.run(every())
    return urls


def test_pages_arrive_in_the_order_in_which_they_were_read(crawler: Crawler) -> None:
    # The first is rendered for long; the second has more links than the others.
    bodies = [b"<", b"<aaaaaaaa", b"<", b"<"]
    assert arrived(crawler, {url_of(0): 50, url_of(2): 20}, bodies) == [url_of(n) for n in range(4)]


@pytest.mark.parametrize("error", [CloseSpider("shutdown"), ValueError("bad page")])
def test_a_page_that_does_not_arrive_lets_others_come(crawler: Crawler, error: Exception) -> None:
    takes: dict[str, int | Exception] = {url_of(0): 9, url_of(1): error}
    assert arrived(crawler, takes, [b"<"] * 3) == [url_of(0), url_of(2)]


def test_pages_of_a_shared_job_share_a_turn(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[tuple[Callable[[], object], asyncio.Future[Any]]] = []

    async def run(self: Turns, function: Callable[[], Any]) -> Any:
        done = asyncio.get_running_loop().create_future()
        waiting.append((function, done))
        if len(waiting) == 3:
            for function, its in waiting:
                its.set_result(function())
        return await asyncio.wait_for(done, 60)

    monkeypatch.setattr(Turns, "is_needed", True)
    monkeypatch.setattr(Turns, "run", run)
    assert arrived(crawler, {url_of(0): 50}, [b"<"] * 3) == [url_of(n) for n in range(3)]


def test_a_place_in_the_middle_that_is_left_lets_no_page_overtake() -> None:
    came: list[int] = []

    async def every() -> None:
        order = ArrivalOrder()
        places = [order.place("a.example") for _ in range(3)]

        async def come(number: int) -> None:
            await places[number].come()
            came.append(number)

        for place in places:
            place.take()
        coming = asyncio.gather(come(2), come(0))
        places[1].leave()
        await asyncio.sleep(0)
        assert came == [0]
        places[0].leave()
        await coming
        places[2].leave()
        assert not order._hosts

    asyncio.run(every())
    assert came == [0, 2]


def test_no_page_waits_for_another_host_or_in_a_crawl_that_stops() -> None:
    async def every() -> None:
        order = ArrivalOrder()
        first, second = order.place("a.example"), order.place("a.example")
        other, unread = order.place("b.example"), order.place("a.example")
        for place in (first, second, other):
            place.take()
        await other.come()
        await unread.come()
        order.abandon()
        late = order.place("a.example")
        late.take()
        await second.come()
        await late.come()

    asyncio.run(asyncio.wait_for(every(), 60))
