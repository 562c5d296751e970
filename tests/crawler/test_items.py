"""Items of any kind, and pipelines of the project's own that do anything with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from itemadapter import ItemAdapter

from dedup.scrapy.items import PageItem

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

_SCRIPT = """
import asyncio, dataclasses, json, sys
from collections import UserDict
import attrs, pydantic, scrapy
from itemadapter import ItemAdapter
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import DropItem

class AsItem(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()
@dataclasses.dataclass
class AsDataclass:
    url: str
    text: str
@attrs.frozen
class AsAttrs:
    url: str
    text: str
class AsPydantic(pydantic.BaseModel):
    model_config = {"frozen": True}
    url: str
    text: str
class AsObject:
    def __init__(self, url, text):
        self.url, self.text = url, text
class AsMapping(UserDict):
    pass

def url_of(item):
    return item["url"] if isinstance(item, (dict, UserDict, scrapy.Item)) else item.url

class Pages(scrapy.Spider):
    name = "pages"
    make = dict
    def parse(self, response):
        if self.fields == "html":
            yield self.make(url=response.url, html=response.text)
        elif self.fields == "review":
            for product in ("1", "2", "2"):
                yield {"page": response.url, "review": "Good.", "product": product}
            return
        else:
            text = " ".join(response.css("main ::text").getall())
            yield self.make(url=response.url, text=text)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

class AsDict:
    def process_item(self, item):
        return {"url": url_of(item), "text": ItemAdapter(item)["text"]}
class AsOther:
    async def process_item(self, item):
        await asyncio.sleep(0.01)
        return AsObject(url_of(item), "of other text: " + url_of(item))
class AsString:
    def process_item(self, item):
        return url_of(item)
class Drops:
    def process_item(self, item):
        if url_of(item).endswith("/b"):
            raise DropItem("not wanted")
        return AsDict().process_item(item)
class Raises:
    async def process_item(self, item):
        await asyncio.sleep(0.01)
        if url_of(item).endswith("/b"):
            raise RuntimeError("a fault of the project")
        return AsDict().process_item(item)

CASES = {name: ({"make": each}, {}, {}) for name, each in {
    "dict": dict, "Item": AsItem, "dataclass": AsDataclass, "attrs": AsAttrs,
    "pydantic": AsPydantic, "object": AsObject, "mapping": AsMapping,
}.items()}
for pipeline in (AsDict, AsOther, AsString, Drops, Raises):
    for order in (50, 150, 250, 850, 950):
        if pipeline in (AsOther, AsString) and order < 300:
            continue  # which change what is judged
        CASES[f"{pipeline.__name__} {order}"] = ({}, {pipeline: order}, {})
CASES["html"] = ({"fields": "html"}, {}, {})
CASES["reviews"] = ({"fields": "review"}, {}, {})
CASES["reviews by text"] = ({"fields": "review"}, {}, {
    "DEDUP_ITEM_TEXT_FIELDS": "review", "DEDUP_ITEM_URL_FIELD": "page"})
CASES["reviews without product"] = ({"fields": "review"}, {}, {
    "DEDUP_ITEM_TEXT_FIELDS": "review", "DEDUP_ITEM_URL_FIELD": "page",
    "DEDUP_ITEM_IGNORE_FIELDS": "product"})
CASES["reviews by product"] = ({"fields": "review"}, {}, {
    "DEDUP_ITEM_TEXT_FIELDS": "review", "DEDUP_ITEM_URL_FIELD": "page",
    "DEDUP_ITEM_KEY_FIELDS": "product"})

process = CrawlerProcess({"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False})
crawlers, kept, lost = {}, {name: [] for name in CASES}, {name: [] for name in CASES}
for name, (arguments, pipelines, settings) in CASES.items():
    crawler = crawlers[name] = process.create_crawler(type("Spider", (Pages,), {
        "custom_settings": {
            "ADDONS": {"dedup.scrapy.DedupAddon": 500}, "ITEM_PIPELINES": pipelines,
            "DEDUP_PROGRESS": "off", **settings,
        },
    }))
    def scraped(item, items=kept[name]):
        items.append(item)
    def failed(item, items=lost[name]):
        items.append(item)
    vars(crawler)["_held"] = scraped, failed
    crawler.signals.connect(scraped, scrapy.signals.item_scraped)
    crawler.signals.connect(failed, scrapy.signals.item_error)
    process.crawl(crawler, **{"fields": "text", **arguments}, start_urls=[sys.argv[1]])
process.start()
print(json.dumps({name: {
    "kept": len(kept[name]), "errors": len(lost[name]), "sample": repr(kept[name][0]),
    "stats": {k: v for k, v in crawler.stats.get_stats().items() if k.startswith("dedup/")},
    "followed": len(crawler.dedup_job.pages.judge._items._arrived),
} for name, crawler in crawlers.items()}))
"""


@pytest.fixture(scope="module")
def crawls(make: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What became of the items of each kind, and behind each pipeline: in one process."""
    routes = {
        "/": make.page("start", "/a", "/copy", "/b"),
        "/a": make.page("a"),
        "/copy": make.page("a"),
        "/b": make.page("b"),
    }
    script = tmp_path_factory.mktemp("items") / "script.py"
    script.write_text(_SCRIPT)
    with make.WebSite(routes) as site:
        done = subprocess.run(
            [sys.executable, str(script), site.url],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "kind", ["dict", "Item", "dataclass", "attrs", "pydantic", "object", "mapping", "html"]
)
def test_items_of_every_kind_are_judged(crawls: Any, kind: str) -> None:
    crawl = crawls[kind]
    assert (crawl["kept"], crawl["errors"]) == (3, 0)
    assert crawl["stats"] == {
        "dedup/pages/fetched": 4,
        "dedup/pages/unique": 3,
        "dedup/pages/duplicate/text": 1,
    }


@pytest.mark.parametrize("order", [50, 150, 250, 850, 950])
def test_a_pipeline_may_hand_on_another_object(crawls: Any, order: int) -> None:
    assert crawls[f"AsDict {order}"]["stats"] == crawls["dict"]["stats"]
    assert crawls[f"AsDict {order}"]["kept"] == 3


@pytest.mark.parametrize("order", [850, 950])
def test_a_pipeline_may_hand_on_another_kind_of_object(crawls: Any, order: int) -> None:
    for name in ("AsOther", "AsString"):
        crawl = crawls[f"{name} {order}"]
        assert (crawl["kept"], crawl["errors"]) == (3, 0)
        assert crawl["stats"] == crawls["dict"]["stats"]
    assert "http://" in crawls[f"AsString {order}"]["sample"]


@pytest.mark.parametrize(("name", "reason"), [("Drops", "dropped"), ("Raises", "error")])
@pytest.mark.parametrize("order", [50, 150, 250, 850, 950])
def test_a_pipeline_may_take_an_item_away(crawls: Any, name: str, reason: str, order: int) -> None:
    crawl = crawls[f"{name} {order}"]
    assert crawl["kept"] == 2
    stats = crawl["stats"]
    is_stored = order > 900
    assert stats["dedup/pages/fetched"] == 4
    assert stats["dedup/pages/unique"] == (3 if is_stored else 2)
    assert sum(n for stat, n in stats.items() if "/duplicate/" in stat) == 1
    assert stats.get(f"dedup/pages/skipped/pipeline_{reason}", 0) == (not is_stored)


def test_no_item_is_followed_after_its_end(crawls: Any) -> None:
    assert {crawl["followed"] for crawl in crawls.values()} == {0}


def test_nothing_is_added_to_an_item_that_has_no_field_for_it(crawls: Any) -> None:
    assert "'text'" not in crawls["html"]["sample"]


def test_items_without_pages_pass_and_are_counted(crawls: Any) -> None:
    crawl = crawls["reviews"]
    assert crawl["kept"] == 3
    assert crawl["stats"] == {"dedup/items/no_page": 3}


@pytest.mark.parametrize(
    ("name", "kept"),
    [("reviews by text", 2), ("reviews without product", 1), ("reviews by product", 2)],
)
def test_all_fields_count_unless_others_are_named(crawls: Any, name: str, kept: int) -> None:
    assert crawls[name]["kept"] == kept
    assert crawls[name]["stats"].get("dedup/items/kept_for_fields/product", 0) == kept - 1


def test_items_of_the_projects_own_spiders_are_plain_data() -> None:
    found = ItemAdapter(PageItem(url="http://a.example/", text="Text.")).asdict()
    assert found["text"] == "Text."
    assert not [value for value in found.values() if isinstance(value, list | tuple)]


_AS_DICT = """
from itemadapter import ItemAdapter
class AsDict:
    def process_item(self, item):
        return ItemAdapter(item).asdict()
"""


@pytest.mark.parametrize("order", [50, 250])
def test_own_pages_that_a_pipeline_makes_dicts_of_are_accounted_for(
    crawl: Crawler,
    site: WebSite,
    make: SimpleNamespace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: int,
) -> None:
    site.routes |= {
        "/": make.page("start", "/a", "/copy", "/b"),
        "/a": make.page("a"),
        "/copy": make.page("a"),
        "/b": make.page("b"),
    }
    (tmp_path / "as_dict.py").write_text(_AS_DICT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pipelines = f'ITEM_PIPELINES={{"as_dict.AsDict": {order}}}'
    crawled = crawl("site", "-s", pipelines, url=site.url, feed=True)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stats["pages"]["fetched"] == 4
    assert crawled.stats["urls"]["queued"] == 0
    assert [row["id"] for row in crawled.feed_rows()] == crawled.rows("SELECT number FROM pages")
