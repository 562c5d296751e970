"""Hosts that are paused as the crawl ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dedup.scrapy.job.job import Job
from dedup.scrapy.middlewares.base import HostMiddleware
from tests.crawler.test_links import make_crawler

if TYPE_CHECKING:
    from pathlib import Path


def test_a_host_that_is_paused_as_the_crawl_ends_is_not_waited_for(tmp_path: Path) -> None:
    # A coroutine that is made and never awaited is an error of the test.
    crawler = make_crawler(tmp_path)
    middleware: HostMiddleware[None] = HostMiddleware(crawler)
    began: list[bool] = []

    async def wait() -> None:
        began.append(True)

    async def end() -> None:
        middleware.pause("a.example", wait)
        middleware._spider_closed()
        await asyncio.sleep(0)

    asyncio.run(end())
    assert not began
    Job.of(crawler).close()
