"""When the browser is replaced; the test plays its runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from scrapy.utils.test import get_crawler

from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.browser import Browser
from dedup.scrapy.rendering.record import Rendering, RenderingError
from tests.crawler.rendered import response

if TYPE_CHECKING:
    from scrapy.http import Response


class PlayedRun:
    """A run that breaks with its first page, while others are shown."""

    open_runs: ClassVar[list[PlayedRun]] = []

    def __init__(self, *, breaks: bool) -> None:
        self.breaks, self.is_broken = breaks, False
        self.n_pages = self.n_open = 0
        self.is_released = asyncio.Event()

    async def render(self, shown: Response) -> tuple[str, str, Rendering]:
        self.n_open += 1
        try:
            if self.breaks and not self.is_broken:
                self.is_broken = True
                raise RenderingError("crashed")
            await self.is_released.wait()
            return "<p>fine", shown.url, Rendering(0.0, 0, 0)
        finally:
            self.n_open -= 1

    async def close_unused(self) -> None:
        self.is_released.set()
        while self.n_open:
            await asyncio.sleep(0)
        self.open_runs.remove(self)

    close = close_unused


def test_pages_of_a_broken_browser_end_before_another_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[PlayedRun] = []

    async def start(_: Browser) -> Any:
        assert not PlayedRun.open_runs
        runs.append(PlayedRun(breaks=not runs))
        PlayedRun.open_runs.append(runs[-1])
        if len(runs) > 1:
            runs[-1].is_released.set()
        return runs[-1]

    monkeypatch.setattr(Browser, "_start", start)

    async def render() -> list[Any]:
        browser = Browser(get_crawler(), Bounds(pages_at_once=3))
        pages = [response("", f"http://{n}.example/") for n in range(3)]
        return await asyncio.gather(*map(browser.render, pages))

    found = asyncio.run(render())
    assert [each.text for each in found] == ["<p>fine"] * 3
    assert len(runs) == 2


def test_what_a_page_asks_for_as_it_ends_is_left() -> None:
    # A coroutine that is made and never awaited is an error of the test.
    pytest.importorskip("playwright", reason="needs the extra render")
    from dedup.scrapy.rendering.answers import Answers
    from dedup.scrapy.rendering.page import PageVisit

    nothing: Any = None
    began: list[int] = []

    async def answer(number: int) -> None:
        began.append(number)

    async def end() -> None:
        visit = PageVisit(nothing, nothing, "", nothing, Bounds(), Answers(nothing, {}))
        visit._start(answer, 1)
        for task in visit._tasks:
            task.cancel()
        await asyncio.sleep(0)

    asyncio.run(end())
    assert not began
