"""What a crawl tells of items: a line for each drop, counts at the end, and names of no field."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

_SCRIPT = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from dedup.scrapy.pipelines import DuplicatePage

STORY = " ".join(f"Letter {n} came by the evening post." for n in range(40))

class Shop(scrapy.Spider):
    name = "shop"
    start_urls = ["data:,nothing"]
    def parse(self, response):
        for n in range(30):
            yield {"url": f"http://shop.example/{n}", "sku": n, "text": STORY}
        for n in range(25):
            near = STORY if n % 2 else STORY + " Amen."
            yield {"url": f"http://shop.example/copy/{n}", "sku": 5, "text": near}
        yield {"url": "http://shop.example/", "links": 55}

class Notes(scrapy.Spider):
    name = "notes"
    start_urls = ["data:,nothing"]
    def parse(self, response):
        yield {"text": STORY, "author": "A.", "year": 1}
        yield {"text": STORY, "author": "A.", "year": 1}
        yield {"text": STORY, "author": "B.", "year": 2}

process = CrawlerProcess({
    "ADDONS": {"dedup.scrapy.DedupAddon": 500}, "LOG_LEVEL": sys.argv[1],
    "LOG_FILE": sys.argv[2], "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
    "LOG_FORMAT": "%(levelname)s %(message)s",
    "DEDUP_ITEM_IGNORE_FIELDS": "authr, seller"})
found = []
def dropped(item, exception):
    assert isinstance(exception, DuplicatePage)
    found.append((item.get("url"), exception.url, exception.original_url, exception.stage,
                  round(exception.resemblance, 2)))
for spider in (Shop, Notes):
    crawler = process.create_crawler(spider)
    crawler.signals.connect(dropped, scrapy.signals.item_dropped)
    process.crawl(crawler)
process.start()
print(json.dumps(found))
"""


def _run(folder: Path, level: str) -> tuple[str, list[str], list[Any]]:
    """What was shown, logged and signalled."""
    script = folder / "script.py"
    script.write_text(_SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), level, "log.txt"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    log = (folder / "log.txt").read_text().splitlines()
    return done.stderr, log, json.loads(done.stdout)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str], list[Any]]:
    return _run(tmp_path_factory.mktemp("told"), "INFO")


def test_each_spider_has_a_table_of_its_items(told: Any) -> None:
    shown, _, _ = told
    tables = {
        each.split()[0]: each for each in re.split(r"\n(?=\w+ +items\n)", f"\n{shown}") if each
    }
    assert tables.keys() == {"shop", "notes"}
    shop = " ".join(tables["shop"].split())
    assert "in 56 kept 31 dropped: text 12 dropped: sentences 13" in shop
    assert "29 items have the same text as another but were kept because `sku` differs" in shop
    assert "25 were dropped; the first 3: http://shop.example/copy/" in shop
    assert shop.count(" duplicates http://shop.example/5 (") == 3
    assert "kept without comparison because they have no text or no readable fields: 1 (" in shop
    notes = " ".join(tables["notes"].split())
    assert "in 3 kept 2 dropped: text 1" in notes
    assert (
        "1 item has the same text as another but was kept because fields differ:"
        " `author` (1), `year` (1)"
    ) in notes
    assert "1 was dropped: An item duplicates item 1 (text, resemblance 1.00)" in notes


def test_first_drops_are_logged_with_their_exception(told: Any) -> None:
    _, log, signalled = told
    logged = [line for line in log if line.startswith("INFO Dropped: http")]
    assert len(logged) == 20
    pattern = r"INFO Dropped: (\S+) duplicates (\S+) \((\w+), resemblance (\d\.\d\d)\)"
    parts = [re.fullmatch(pattern, line) for line in logged]
    assert None not in parts
    shop = [each[1:] for each in signalled if each[0] is not None]
    assert len(shop) == 25
    assert [[*each.groups()[:3], float(each[4])] for each in parts if each] == shop[:20]
    assert all(url == told_url for url, told_url, *_ in signalled)


def test_unknown_field_names_the_nearest(told: Any) -> None:
    _, log, _ = told
    warned = [line for line in log if line.startswith("WARNING")]
    setting = "WARNING DEDUP_ITEM_IGNORE_FIELDS: no item had a field"
    assert sorted(line.partition(" (all")[0] for line in warned) == [
        f"{setting} `authr`; the nearest is `author`",
        f"{setting} `authr`; the nearest is `url`",
        f"{setting} `seller`; columns: `text`, `author`, `year`",
        f"{setting} `seller`; columns: `url`, `sku`, `text`, `links`",
    ]


def test_where_only_warnings_are_logged_no_table_is_shown(tmp_path: Path) -> None:
    shown, log, signalled = _run(tmp_path, "WARNING")
    assert shown == ""
    assert len(signalled) == 26
    assert {line.split()[0] for line in log} == {"WARNING"}
