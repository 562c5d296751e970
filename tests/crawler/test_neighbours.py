"""Other parts of Scrapy and other packages beside the add-on: as without it."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.slow

_SCRIPT = '''
import json, logging, sys
from pathlib import Path
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from twisted.internet.base import ReactorBase

seconds = ReactorBase.seconds
site, folder = sys.argv[1], Path(sys.argv[2])

class Rules(CrawlSpider):
    name = "rules"
    rules = [Rule(LinkExtractor(restrict_css="nav"), callback="parse_page", follow=True)]
    def parse_page(self, response):
        yield {"url": response.url, "text": " ".join(response.css("main ::text").getall())}

class Files(scrapy.Spider):
    name = "files"
    def parse(self, response):
        for name in ("a", "b"):
            text = f"The file {name} is unlike any other."
            yield {"url": response.url, "text": text, "file_urls": [response.urljoin(name)]}

class Requests(scrapy.Spider):
    """Everything that a request may carry comes back."""
    name = "requests"
    def parse(self, response):
        self.open_file = sys.stdin
        for number in range(3):
            yield response.follow(
                "/a", lambda answer, held=self: self.parse_again(answer), dont_filter=True,
                meta={"held": self.open_file}, cb_kwargs={}, priority=number, method="GET",
            )
        yield scrapy.FormRequest(response.urljoin("/b"), formdata={"x": "1"}, method="GET",
                                 callback=self.parse_again)
    def parse_again(self, response):
        yield {"url": response.url, "held": "held" in response.meta}

CASES = {
    "rules": (Rules, {}),
    "files": (Files, {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}}),
    "files last": (Files, {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 990}}),
    "requests": (Requests, {}),
    "batches": (Rules, {"FEED_EXPORT_BATCH_ITEM_COUNT": 1}),
    "monitored": (Rules, {
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "SPIDERMON_ENABLED": True, "SPIDERMON_VALIDATION_ADD_ERRORS_TO_ITEMS": True,
        "ITEM_PIPELINES": {"spidermon.contrib.scrapy.pipelines.ItemValidationPipeline": 800},
        "SPIDERMON_VALIDATION_SCHEMAS": [
            {"type": "object", "required": ["text", "price"]},
        ],
    }),
}
process = CrawlerProcess({"LOG_LEVEL": "CRITICAL", "TELNETCONSOLE_ENABLED": False})
crawlers = {}
for name, (spider, settings) in CASES.items():
    for is_on in (False, True):
        store = folder / f"{name} {is_on}"
        feed = f"{store}-%(batch_id)d.jsonl" if name == "batches" else f"{store}.jsonl"
        crawler = process.create_crawler(type("Spider", (spider,), {"custom_settings": {
            **settings, "FILES_STORE": str(store), "FEEDS": {feed: {"format": "jsonlines"}},
            "DEDUP_PROGRESS": "table",
            **({"ADDONS": {"dedup.scrapy.DedupAddon": 500}} if is_on else {}),
        }}))
        process.crawl(crawler, start_urls=[site])
        crawlers[name, is_on] = crawler
process.start()
def found(name, is_on):
    files = sorted(folder.glob(f"{name} {is_on}*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    stats = {stat: value for stat, value in crawlers[name, is_on].stats.get_stats().items()
             if stat.startswith(("file_", "spidermon/validation", "item_", "dupefilter/"))}
    return {"rows": sorted(rows, key=str), "files": len(files), "stats": stats}
print(json.dumps({
    "quiet": ReactorBase.seconds is seconds and not any(h.filters for h in logging.root.handlers),
    **{name: [found(name, False), found(name, True)] for name in CASES},
}, default=str))
'''


@pytest.fixture(scope="module")
def beside(make: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By name: what a crawl gave without the add-on, and with it."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "script.py").write_text(_SCRIPT)
    routes = {"/": make.page("start", "/a", "/b"), "/a": make.page("a", "/b"), "/b": make.page("b")}
    with make.WebSite({**routes, "/b?x=1": make.page("form")}) as site:
        done = subprocess.run(
            [sys.executable, str(folder / "script.py"), site.url, str(folder)],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("name", "n_items"),
    [
        ("rules", 2),
        ("files", 2),
        ("files last", 2),
        ("requests", 4),
        ("batches", 2),
        ("monitored", 2),
    ],
)
def test_results_equal_those_without_the_addon(beside: Any, name: str, n_items: int) -> None:
    without, with_it = beside[name]
    assert len(without["rows"]) == n_items
    assert with_it == without


def test_nothing_of_the_process_is_replaced(beside: Any) -> None:
    assert beside["quiet"]


def test_batches_are_files_of_their_own(beside: Any) -> None:
    assert beside["batches"][1]["files"] == 2
