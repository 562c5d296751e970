"""What the add-on costs beside plain Scrapy: CPU per item, per request, and at the start.

    python benchmarks/measurements/addon_overhead.py [--urls 2000] [--runs 5]

The same spider crawls the same URLs of a site that answers from memory, without a network: with
items of 300 words each, and without items. `deltafetch` stands for the approach of
scrapy-deltafetch: a spider middleware that keeps the fingerprint of each request that gave an item
in a dbm file (of the kind that `dbm` finds), and looks there for each new request. `add-on` keeps
no job, `add-on, JOBDIR` does, and `analysis` is the library alone on the texts of those items
(`Deduplicator`). The ways take turns in each run; the figures are medians, with the least and the
greatest, of CPU time (µs), from spider_opened to spider_closed. `start` is the CPU of a whole
process with one URL, seconds; byte code is kept (PYTHONDONTWRITEBYTECODE is not set), and compiled
in a run before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

_WAYS = ("plain", "deltafetch", "add-on", "add-on, JOBDIR")
_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


def text_of(number: int) -> str:
    return " ".join(random.Random(number).choices(_WORDS, k=300))


def crawl(way: str, n_urls: int, *, with_items: bool) -> float:
    """CPU seconds between the spider's signals."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.http import TextResponse

    class FromMemory:
        lazy = False

        @classmethod
        def from_crawler(cls, crawler):
            return cls()

        async def download_request(self, request):
            return TextResponse(request.url, body=b"x", encoding="utf-8", request=request)

        async def close(self):
            pass

    class Pages(scrapy.Spider):
        name = "pages"

        async def start(self):
            yield scrapy.Request("http://a.example/0")

        def parse(self, response):
            number = int(response.url.rsplit("/", 1)[1])
            if with_items:
                yield {"url": response.url, "text": texts[number]}
            for each in (2 * number + 1, 2 * number + 2):
                if each < n_urls:
                    yield scrapy.Request(f"http://a.example/{each}")

    class DeltaFetch:
        def __init__(self):
            import dbm

            self._seen = dbm.open(str(Path(folder, "delta")), "c")  # noqa: SIM115 -- closed with the spider
            crawler.signals.connect(self._seen.close, scrapy.signals.engine_stopped)

        def process_spider_output(self, response, result):
            return filter(partial(self._is_new, response.request), result)

        async def process_spider_output_async(self, response, result):
            async for output in result:
                if self._is_new(response.request, output):
                    yield output

        def _is_new(self, request, output):
            key = crawler.request_fingerprinter.fingerprint
            if isinstance(output, scrapy.Request):
                return key(output) not in self._seen
            self._seen[key(request)] = str(time.time())
            return True

    settings = {
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_HANDLERS": {"http": FromMemory},
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }
    texts = [text_of(number) for number in range(n_urls)] if with_items else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if way == "deltafetch":
            settings["SPIDER_MIDDLEWARES"] = {DeltaFetch: 100}
        if way.startswith("add-on"):
            settings["ADDONS"] = {"dedup.scrapy.DedupAddon": 500}
        if way.endswith("JOBDIR"):
            settings["JOBDIR"] = str(Path(folder, "job"))
        process = CrawlerProcess(settings)
        crawler = process.create_crawler(Pages)
        moments = []

        def note():
            moments.append(time.process_time())

        crawler.signals.connect(note, scrapy.signals.spider_opened)
        crawler.signals.connect(note, scrapy.signals.spider_closed)
        process.crawl(crawler)
        process.start()
    assert crawler.stats.get_value("response_received_count") == n_urls
    assert crawler.stats.get_value("item_scraped_count", 0) == n_urls * with_items
    return moments[1] - moments[0]


def analyse(n_urls: int) -> float:
    """CPU seconds of the library alone, a document at a time."""
    from dedup import Deduplicator, Document

    texts = [text_of(number) for number in range(n_urls)]
    deduplicator = Deduplicator()
    deduplicator.process(Document(id="warm", text=text_of(-1)))
    before = time.process_time()
    for number, text in enumerate(texts):
        deduplicator.process(Document(id=str(number), text=text, url=f"http://a.example/{number}"))
    return time.process_time() - before


def measure(way: str, n_urls: int, kind: str) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, __file__, "--way", way, "--urls", str(n_urls), "--kind", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(json.loads(done.stdout.splitlines()[-1]))


def show(name: str, found: list[float], plain: float, scale: float, unit: str) -> None:
    middle = statistics.median(found) * scale
    more = middle - plain * scale
    print(
        f"  {name:15} {middle:8,.2f} {unit} ({min(found) * scale:,.2f} to"
        f" {max(found) * scale:,.2f}), {more:+,.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--way")
    parser.add_argument("--kind")
    given = parser.parse_args()
    if given.way == "analysis":
        print(analyse(given.urls))
        return
    if given.way:
        seconds = crawl(given.way, given.urls, with_items=given.kind == "items")
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(usage.ru_utime + usage.ru_stime if given.kind == "start" else seconds)
        return
    for kind, n_urls, scale, unit in (
        ("items", given.urls, 1e6 / given.urls, "µs an item"),
        ("requests", given.urls, 1e6 / given.urls, "µs a request"),
        ("start", 1, 1.0, "s"),
    ):
        ways = (*_WAYS, "analysis") if kind == "items" else _WAYS
        found = {way: [] for way in ways}
        for way in ways:
            measure(way, 1, kind)
        for _ in range(given.runs):
            for way in ways:
                found[way].append(measure(way, n_urls, kind))
        print(f"{kind}, {n_urls:,} URLs, {given.runs} runs:")
        for way in ways:
            show(way, found[way], statistics.median(found["plain"]), scale, unit)


if __name__ == "__main__":
    main()
