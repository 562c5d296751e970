"""Items with values of any kind are neither lost nor taken for one another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

_SCRIPT = """
import json, sys
import numpy as np
import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

TEXT = " ".join(f"The keeper of lighthouse {n} wrote down the weather." for n in range(20))

class Price:
    def __init__(self, amount):
        self.amount = amount

class Unwritable:
    def __repr__(self):
        raise ValueError("it has no words")

def long(n):
    values = np.zeros(5_000)
    values[2_500] = n
    return values

CASES = {
    "array": long,
    "arrays": lambda n: [long(n)],
    "object": Price,
    "generator": lambda n: (each for each in [n]),
    "unwritable": lambda n: Unwritable(),
    "unwritable name": lambda n: {Unwritable(): n},
    "number": lambda n: 10**5_000 + n,
}
NUMBERS = [10**30, -(10**30), float("nan"), float("inf")]

class OwnSpider(scrapy.Spider):
    name = "values"
    start_urls = [f"data:,{n}" for n in range(40)]
    custom_settings = {"ADDONS": {"dedup.scrapy.DedupAddon": 500}}
    def parse(self, response):
        for name, make in CASES.items():
            yield {"url": response.url, "text": TEXT + name, "of": name, "value": make(seen["n"])}
        for field in ("status", "depth", "fetched_at"):
            for number in NUMBERS:
                text = f"{TEXT} {field} {number}"
                of = f"{response.url} {field} {number}"
                yield {"url": response.url, "text": text, "of": of, field: number}
        seen["n"] += 1

seen = {"n": 0, "scraped": 0, "failed": [], "dropped": []}
process = CrawlerProcess({"LOG_LEVEL": "WARNING", "DEDUP_PROGRESS": "off"})
crawler = process.create_crawler(OwnSpider)
def scraped(item):
    seen["scraped"] += 1
def dropped(item, exception):
    seen["dropped"].append(item["of"])
def failed(item, failure):
    seen["failed"].append(f"{item['of']}: {failure.value}")
crawler.signals.connect(scraped, signals.item_scraped)
crawler.signals.connect(dropped, signals.item_dropped)
crawler.signals.connect(failed, signals.item_error)
process.crawl(crawler)
process.start()
print(json.dumps(seen))
"""


def test_items_with_values_of_any_kind_are_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    seen = json.loads(done.stdout)
    assert seen["failed"] == []
    assert seen["dropped"] == []
    assert seen["scraped"] == 40 * (7 + 3 * 4)
    assert done.stderr.count("is kept without comparison: ValueError") == 40 * 3
