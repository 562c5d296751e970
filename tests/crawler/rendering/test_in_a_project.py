"""Requests and responses of scrapy-playwright in other projects are as any others."""

from __future__ import annotations

from contextvars import copy_context
from pathlib import Path

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse

from dedup.scrapy.frontier.stored_request import from_bytes, to_bytes
from dedup.scrapy.job.job import Job
from dedup.scrapy.pipelines import ExactContent, ExtractText, StorePage
from dedup.scrapy.pipelines.content import DuplicatePage
from tests.crawler.test_links import make_crawler

_DOM = "<body><main><p>" + " ".join(f"word{n}" for n in range(99)) + "</main></body>"
_META = {"playwright": True, "playwright_context": "shop", "playwright_include_page": False}


class Shop(Spider):
    name = "shop"


def test_a_request_for_a_browser_waits_in_the_queue() -> None:
    request = Request("http://a.example/", meta=dict(_META))
    assert from_bytes(to_bytes(request, Shop()), Shop()).meta == _META


def test_pages_that_a_browser_made_are_compared(tmp_path: Path) -> None:
    crawler = make_crawler(tmp_path)
    pipelines = [each.from_crawler(crawler) for each in (ExtractText, ExactContent, StorePage)]
    job = Job.of(crawler)
    job.pages.judge.open()

    def passed(url: str) -> object:
        request = Request(url, meta=dict(_META))
        response = HtmlResponse(url, body=_DOM.encode(), flags=["playwright"], request=request)
        item: object = {"url": response.url, "body": response.body}
        for pipeline in pipelines:
            item = pipeline.process_item(item)
        return item

    copy_context().run(passed, "http://a.example/1")  # as Scrapy runs the pipelines
    with pytest.raises(DuplicatePage, match=r"http://a\.example/1"):
        copy_context().run(passed, "http://a.example/2")
    job.close()
