"""Fields of pages in items and feeds: `DEDUP_PAGE_FIELDS`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from itemadapter import ItemAdapter
from scrapy.settings import Settings

from dedup.export import page_rows
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.feeds import continue_feeds
from dedup.scrapy.items import PageItem, page_item_class
from dedup.store import Page, SqliteStore, open_store

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

WORDS = " ".join(f"The museum keeps the tin of {year} in the cellar." for year in range(1900, 1950))
HTML = f"""<html lang="en-us"><head><title>Tea</title>
<meta property="article:published_time" content="2019-11-19T09:00:00+01:00"></head>
<body><main><h1>Tea</h1><p>{WORDS}</p><h2 id=more>More</h2><p>{WORDS[:300]}</p></main></body>
</html>"""
FIELDS = "published,headings,language,fetched_at"
HEADINGS = [
    {"level": 1, "text": "Tea", "anchor": None},
    {"level": 2, "text": "More", "anchor": "more"},
]


def test_feeds_have_the_fields_and_exports_the_same_without_bodies(
    crawl: Crawler, site: WebSite
) -> None:
    site.routes["/"] = HTML.encode()
    options = "-s", "DEDUP_STORE_BODIES=0", "-s", f"DEDUP_PAGE_FIELDS={FIELDS}"
    crawled = crawl("site", *options, feed=True, url=site.url)
    (row,) = crawled.feed_rows()
    assert row["published"] == "2019-11-19T09:00:00+01:00"
    assert row["headings"] == HEADINGS
    assert row["language"] == "en-US"
    with open_store(crawled.folder, read_only=True) as store:
        assert store.page(row["id"]).body is None
        assert list(page_rows(store, list(row))) == [row]


_SCRIPT = f"""
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Product(scrapy.Item):
    url, html, text, published, language, headings, author = (scrapy.Field() for _ in range(7))

class Spider(scrapy.Spider):
    name = "products"
    start_urls = ["data:,x"]
    custom_settings = {{
        "ADDONS": {{"dedup.scrapy.DedupAddon": 500}},
        "DEDUP_PAGE_FIELDS": "{FIELDS},markdown,author",
        "DEDUP_READ_CPU_SECONDS": 20,
    }}
    def parse(self, response):
        html = {HTML!r}
        yield Product(url="http://example.org/a", html=html, author="Ann Lee")
        yield Product(url="http://example.org/b", html=html, author="Ann Lee")
        large = html.replace("tin", "chest").replace("</main>", "<!--" + "x" * 300_000 + "-->")
        yield {{"url": "http://example.org/c", "body": large.encode(), "published": None}}
        yield {{"no": "page"}}

seen = []
process = CrawlerProcess({{"LOG_LEVEL": "ERROR"}})
crawler = process.create_crawler(Spider)
def scraped(item):
    seen.append({{name: item[name] for name in item if name not in ("html", "body")}})
crawler.signals.connect(scraped, scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
print(json.dumps(seen))
"""


def test_items_of_other_projects_get_values_in_empty_fields(tmp_path: Path) -> None:
    run = [sys.executable, "-c", _SCRIPT]
    done = subprocess.run(
        run, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True
    )
    first, third, other = json.loads(done.stdout)  # the second is a copy
    assert first["author"] == "Ann Lee"
    assert (first["published"], first["language"]) == ("2019-11-19T09:00:00+01:00", "en-US")
    assert first["headings"] == HEADINGS
    assert "markdown" not in first
    assert third == {"url": "http://example.org/c", "published": "2019-11-19T09:00:00+01:00"}
    assert other == {"no": "page"}


@pytest.mark.parametrize("asked", [[], ["language", "headings"]])
def test_a_feed_is_completed_with_the_fields(tmp_path: Path, asked: list[str]) -> None:
    feed = tmp_path / "p.jsonl"
    settings = Settings(
        {
            "FEEDS": {str(feed): {"format": "jsonlines"}},
            "FEED_EXPORT_FIELDS": ["id", "url", "language", "fetched_at"],
            "DEDUP_PAGE_FIELDS": asked,
        }
    )
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        known = {"url": "http://a/", "language": "en-us", "fetched_at": 1.5}
        store.add(Page("", WORDS, body=HTML.encode(), **known), {})  # type: ignore[arg-type]
        continue_feeds(settings, store)
    expected = {
        "id": 1,
        "url": "http://a/",
        "language": "en-US" if asked else "en-us",  # as the items of the crawl have it
        "fetched_at": "1970-01-01T00:00:01.500Z",
    }
    row = json.loads(feed.read_text(encoding="utf-8"))
    assert row == (expected | {"headings": row["headings"]} if asked else expected)


def test_items_have_the_fields_that_are_asked_for_and_no_others() -> None:
    kind = page_item_class(("markdown", "title"))
    assert kind is page_item_class(("markdown", "title"))
    item = kind(url="http://a/", text="x")
    assert isinstance(item, PageItem)
    assert set(ItemAdapter(item).field_names()) == {
        *ItemAdapter(PageItem(url="", text="")).field_names(),
        "markdown",
    }
    assert page_item_class(()) is PageItem


@pytest.mark.parametrize("names", ["markdwon", "url,,title"])
def test_unknown_fields_are_refused(names: str) -> None:
    with pytest.raises(ValueError, match=r"DEDUP_PAGE_FIELDS must be "):
        CrawlConfig.from_settings(Settings({"DEDUP_PAGE_FIELDS": names}))
