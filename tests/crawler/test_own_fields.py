"""No item is lost that its owner wants: what items say besides their texts, in real crawls.

All cases of a crawl are yielded by one spider, so that each is seen among items of other kinds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.crawler.forked import Forked

pytestmark = pytest.mark.slow

_SCRIPT = """
import dataclasses, json, random, sys
from collections import Counter
from datetime import datetime, timedelta, timezone
import attrs, pydantic, scrapy
from scrapy.crawler import CrawlerProcess

SITE = sys.argv[1]
N = int(sys.argv[2])
LANGUAGES = [f"l{n:02}" for n in range(N)]

def story(name, words=120):
    drawn = random.Random(name)
    return " ".join("".join(drawn.choices("aeioklmnrst", k=6)) for _ in range(words)) + "."

def when(n):
    return datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(minutes=n)

class AsItem(scrapy.Item):
    url = scrapy.Field()
    name = scrapy.Field()
    offer = scrapy.Field()
    text = scrapy.Field()
@dataclasses.dataclass
class Offer:
    price: float
@dataclasses.dataclass
class AsDataclass:
    url: str
    name: str
    offer: Offer
    text: str
@attrs.frozen
class AsAttrs:
    url: str
    name: str
    offer: dict
    text: str
class AsPydantic(pydantic.BaseModel):
    url: str
    name: str
    offer: dict
    text: str

CASES = {
    "products": lambda url, n: {
        "url": url, "name": f"Shirt, size {n}", "price": 10 + n, "text": story("shirt")},
    "reviews": lambda url, n: {"url": url, "product": n, "text": "Good. I would buy it again."},
    "long reviews": lambda url, n: {"url": url, "product": n, "text": story("review")},
    "cards": lambda url, n: {
        "url": SITE + "list", "sku": f"S{n}", "html": "<div><h3>Shirt</h3><p>Buy me</p></div>"},
    "quotes": lambda url, n: {"text": story("quote", 20), "author": f"Author {n}"},
    "links": lambda url, n: {"url": url, "text": "Read more", "found_on": SITE + "list"},
    "job ads": lambda url, n: {
        "url": url, "title": "A cook", "location": f"Town {n}", "text": story("job")},
    "events": lambda url, n: {"url": url, "date": f"2026-05-{n + 1:02}", "text": story("event")},
    "translations": lambda url, n: {
        "url": url, "language": LANGUAGES[n], "text": story("translated") if n else None},
    "nested": lambda url, n: {
        "url": url, "text": story("nested"), "offers": [{"price": {"value": n, "unit": "EUR"}}]},
    "times of events": lambda url, n: {"url": url, "starts_at": when(n), "text": story("time")},
    "other ids": lambda url, n: {"url": url, "product_id": str(n), "text": story("id")},
    "case": lambda url, n: {
        "url": url, "text": story("case"),
        "sku": "".join(c.upper() if n >> i & 1 else c for i, c in enumerate("abcde"))},
    "Item": lambda url, n: AsItem(url=url, name="n", offer={"price": n}, text=story("Item")),
    "dataclass": lambda url, n: AsDataclass(url, "n", Offer(n), story("dataclass")),
    "attrs": lambda url, n: AsAttrs(url, "n", {"price": n}, story("attrs")),
    "pydantic": lambda url, n: AsPydantic(
        url=url, name="n", offer={"price": n}, text=story("pydantic")),
    # These are copies.
    "copies": lambda url, n: {
        "url": url, "sku": "S1", "text": story("copy"), "scraped_at": when(n).isoformat(),
        "crawledAt": when(n), "timestamp": 1.7e9 + n, "_id": f"{n:024x}", "uuid": n},
    "spaced copies": lambda url, n: {
        "url": url, "sku": " S" + " " * (n + 1) + "1", "text": story("spaced")},
    "copied dataclass": lambda url, n: AsDataclass(url, "n", Offer(1), story("copied dataclass")),
    "near copies": lambda url, n: {
        "url": url, "title": "One", "sku": 1, "html": f"<!-- {n} -->",
        "text": f"{story('near')} {n}"},
    "copies in html": lambda url, n: {
        "url": url, "sku": 1, "title": "", "canonical_url": None,
        "html": f"<title>One</title><!-- {n} --><article><p>{story('html')}</p></article>"},
    "pages": lambda url, n: {
        "url": url, "title": "A page", "text": story("page"), "html": f"<!-- {n} -->"},
    "three times": lambda url, n: {
        "url": SITE + f"one?n={n // 3}", "sku": n // 3, "text": story(f"page {n // 3}")},
}

class Every(scrapy.Spider):
    name = "every"
    async def start(self):
        for n in range(N):
            yield scrapy.Request(SITE + f"item?n={n}", cb_kwargs={"n": n})
            yield scrapy.Request(
                SITE + "monitor", self.parse_price, dont_filter=True, cb_kwargs={"n": n})
    def parse(self, response, n):
        for name, make in CASES.items():
            yield self.noted(name, make(f"{SITE}{name}/{n}".replace(" ", "-"), n))
        yield self.noted("empty text", {
            "url": f"{SITE}empty/{n}", "sku": n, "text": "",
            "html": f"<article><p>{story('empty')}</p></article>"})
    def parse_price(self, response, n):
        yield self.noted("prices", {"url": response.url, "price": n, "text": story("monitor")})
    def noted(self, name, item):
        self.items.append((name, item))
        return item

PIPELINES = "dedup.scrapy.pipelines."
WAYS = {
    "addon": {},
    "exact": {"ITEM_PIPELINES": {PIPELINES + "NearDuplicate": None}},
    "near": {"ITEM_PIPELINES": {PIPELINES + "ExactContent": None}},
    "near first": {"ITEM_PIPELINES": {
        PIPELINES + "NearDuplicate": 150, PIPELINES + "ExactContent": 250}},
    "baidu": {f"DEDUP_{stage}_ENABLED": False for stage in ("BODY", "TEXT", "SIMHASH", "MINHASH")},
    "minhash": {f"DEDUP_{stage}_ENABLED": False for stage in
                ("BODY", "TEXT", "SENTENCES", "SIMHASH")},
}
process = CrawlerProcess({"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False})
crawls = {}
for way in ("plain", *WAYS):
    settings = {"ADDONS": {"dedup.scrapy.DedupAddon": 500}, "DEDUP_PROGRESS": "off",
                **WAYS.get(way, {})} if way != "plain" else {}
    spider = type("Every", (Every,), {"custom_settings": settings, "items": []})
    crawler = process.create_crawler(spider)
    kept = []
    def scraped(item, kept=kept):
        kept.append(id(item))
    crawls[way] = crawler, spider.items, kept, scraped
    crawler.signals.connect(scraped, scrapy.signals.item_scraped)
    process.crawl(crawler)
process.start()
print(json.dumps({way: {
    "kept": Counter(name for name, item in items if id(item) in kept),
    "filled": sum(1 for name, item in items if name == "empty text" and item["text"]),
    "errors": crawler.stats.get_value("log_count/ERROR", 0),
    "stats": {k: v for k, v in crawler.stats.get_stats().items() if k.startswith("dedup/")},
} for way, (crawler, items, kept, _) in crawls.items()}))
"""

N = 12
"""Items of each case; one in three is another page of "three times"."""

_COPIES = {
    "copies": 1,
    "spaced copies": 1,
    "copied dataclass": 1,
    "near copies": 1,
    "copies in html": 1,
    "pages": 1,
    "three times": N // 3,
}


@pytest.fixture(scope="module")
def crawls(make: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What was kept of the items of each case, without the add-on and with it in many ways."""
    script = tmp_path_factory.mktemp("fields") / "script.py"
    script.write_text(_SCRIPT)
    routes = {f"/item?n={n}": make.page("a") for n in range(N)} | {"/monitor": make.page("a")}
    with make.WebSite(routes) as site:
        done = subprocess.run(
            [sys.executable, str(script), site.url, str(N)],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["addon", "exact", "near", "near first", "baidu", "minhash"])
def test_only_copies_are_dropped(crawls: Any, way: str) -> None:
    plain, kept = crawls["plain"], crawls[way]
    assert plain["kept"] == dict.fromkeys(plain["kept"], N)
    assert len(plain["kept"]) == 26
    expected = {name: _COPIES.get(name, N) for name in plain["kept"]}
    if way in ("baidu", "minhash"):  # what is near may be furniture, until a site is known
        expected["copies in html"] = 5
    assert kept["kept"] == expected
    assert (plain["errors"], kept["errors"]) == (0, 0)


def test_an_empty_text_is_filled_from_the_page(crawls: Any) -> None:
    assert crawls["plain"]["filled"] == 0
    assert crawls["addon"]["filled"] == N


def test_the_fields_are_counted_by_which_items_of_one_text_differ(crawls: Any) -> None:
    found = {
        name.removeprefix("dedup/items/kept_for_fields"): count
        for name, count in crawls["addon"]["stats"].items()
        if name.startswith("dedup/items/kept_for_fields")
    }
    assert found["/price"] == 2 * (N - 1)  # of products and of prices
    assert found["/name"] == found["/location"] == found["/author"] == found["/date"] == N - 1
    assert found["/offer"] == 4 * (N - 1)
    assert found[""] > found["/price"]


_RESUMED = """
import random, scrapy

def story(name):
    drawn = random.Random(name)
    return " ".join("".join(drawn.choices("aeioklmnrst", k=6)) for _ in range(120))

class Shop(scrapy.Spider):
    name = "shop"
    def __init__(self, site):
        self.start_urls = [f"{site}item?n={n}" for n in range(30)]
    def parse(self, response):
        n = int(response.url.rpartition("=")[2])
        yield {"case": "products", "url": response.url, "price": n, "text": story("product")}
        near = story("copy") + (" new" if n % 2 else "")
        yield {"case": "copies", "url": response.url, "price": 1, "text": near}
"""


def test_fields_count_after_a_resumed_run_and_are_counted(
    make: SimpleNamespace, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(_RESUMED)
    addon = 'ADDONS={"dedup.scrapy.DedupAddon": 500}'
    options = ("-s", addon, "-s", "JOBDIR=job", "-s", "CONCURRENT_REQUESTS=2", "-L", "INFO")
    said = []
    with make.WebSite({f"/item?n={n}": make.page("a") for n in range(30)}) as site:
        command = ["runspider", "shop.py", "-a", f"site={site.url}", "-o", "items.jsonl", *options]
        for more in (("-s", "CLOSESPIDER_PAGECOUNT=10"), ()):
            status, output = _scrapy(tmp_path, *command, *more)
            assert status == 0, output
            said.append(output)
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sorted(item["price"] for item in items if item["case"] == "products") == [*range(30)]
    assert [item["price"] for item in items if item["case"] == "copies"] == [1]
    first, second = (
        int(re.findall(r"'dedup/items/kept_for_fields': (\d+)", each)[0]) for each in said
    )
    assert 0 < first < 29
    assert first + second == 29
    _, refused = _scrapy(tmp_path, *command, "-s", "DEDUP_ITEM_KEY_FIELDS=price")
    assert "setting DEDUP_ITEM_KEY_FIELDS [], now ['price']" in refused


def _scrapy(folder: Path, *arguments: str) -> tuple[int | None, str]:
    running = Forked(["-m", "scrapy", *arguments], cwd=folder, environment=os.environ)
    output = running.communicate(timeout=240)[0].decode()
    return running.returncode, output
