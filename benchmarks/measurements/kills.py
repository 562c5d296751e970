"""The same crawl killed twenty times: ours, Scrapy with JOBDIR, and crawlee, side by side.

    python benchmarks/measurements/kills.py [--crawlee PYTHON]

PYTHON is one of an environment with `crawlee[httpx]`; without it crawlee is left out. Every crawler
gets the same site of 1,600 pages, 8 requests at once, and SIGKILL after the same numbers of pages,
then one run to its end. A page is lost that never reached the output (Scrapy's is a JSON Lines
feed, of which a kill takes what is not written yet), stored twice that is in it more than once, and
fetched again what the server was asked for beyond once.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from dedup.store import open_store  # noqa: E402 -- in order
from tests.faults.conftest import Job, SiteProcess, kill_when  # noqa: E402 -- in order
from tests.with_constants import groups_of  # noqa: E402 -- in order

_SIZE, _CONCURRENT, _KILLS = 1_600, 8, 20

_SCRAPY = """
import scrapy, sys
from scrapy.crawler import AsyncCrawlerProcess
class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1]]
    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
        yield {"url": response.url}
process = AsyncCrawlerProcess({"JOBDIR": sys.argv[2], "LOG_LEVEL": "CRITICAL",
    "CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "TELNETCONSOLE_ENABLED": False,
    "FEEDS": {sys.argv[2] + ".jsonl": {"format": "jsonlines"}}})
process.crawl(Pages)
process.start()
"""

_CRAWLEE = """
import asyncio, re, sys
from datetime import timedelta
from urllib.parse import urljoin
from crawlee import ConcurrencySettings, service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import HttpCrawler
from crawlee.http_clients import HttpxHttpClient
service_locator.set_configuration(
    Configuration(purge_on_start=False, storage_dir=sys.argv[2], log_level="CRITICAL"))
async def main():
    crawler = HttpCrawler(http_client=HttpxHttpClient(), concurrency_settings=ConcurrencySettings(
        desired_concurrency=8, max_concurrency=8), configure_logging=False)
    @crawler.router.default_handler
    async def handle(context):
        html = (await context.http_response.read()).decode()
        links = [urljoin(context.request.url, href) for href in re.findall('href="([^"]+)"', html)]
        await context.add_requests(links)
        await context.push_data({"url": context.request.url})
    await crawler.run([sys.argv[1]])
asyncio.run(main())
"""


def _ours(site: SiteProcess, folder: Path) -> tuple[list[str], Callable[[], list[str]]]:
    job = Job(site.url, folder)
    command = [sys.executable, *groups_of(25), "-m", "scrapy", "crawl", "site", *job._arguments]
    command += ["-s", f"CONCURRENT_REQUESTS={_CONCURRENT}"]

    def stored() -> list[str]:
        with open_store(job.folder, read_only=True) as store:
            pages = (*store.exports.pages(), *store.exports.duplicates())
            return [*(row["url"] for row in pages), *(row.url for row in store.report.skipped())]

    return command, stored


def _scrapy(site: SiteProcess, folder: Path) -> tuple[list[str], Callable[[], list[str]]]:
    def stored() -> list[str]:
        urls = []
        for line in (folder / "job.jsonl").read_text().splitlines():
            try:
                urls.append(json.loads(line)["url"])
            except ValueError:  # torn by a kill
                continue
        return urls

    return [sys.executable, "-c", _SCRAPY, site.url, str(folder / "job")], stored


def _crawlee(python: str) -> Callable[..., tuple[list[str], Callable[[], list[str]]]]:
    def prepare(site: SiteProcess, folder: Path) -> tuple[list[str], Callable[[], list[str]]]:
        def stored() -> list[str]:
            files = (folder / "datasets" / "default").glob("[0-9]*.json")
            return [json.loads(file.read_text())["url"] for file in files]

        return [python, "-c", _CRAWLEE, site.url, str(folder)], stored

    return prepare


def _measure(prepare: Callable[..., tuple[list[str], Callable[[], list[str]]]]) -> dict[str, int]:
    choose = random.Random(6)
    with SiteProcess(_SIZE) as site, tempfile.TemporaryDirectory() as folder:
        command, stored = prepare(site, Path(folder))
        start = {"cwd": _ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        kills = 0
        for _ in range(_KILLS):
            process = subprocess.Popen(command, text=True, **start)  # type: ignore[call-overload]
            target = site.n_asked() + choose.randint(20, 90)
            kills += kill_when(process, lambda target=target: site.n_asked() >= target)
        subprocess.run(command, cwd=_ROOT, capture_output=True, check=True, timeout=300)
        found = Counter(urlsplit(url).path for url in stored())
        wanted = {f"/{number}" for number in range(1, _SIZE)}
        asked = site.asked()
    return {
        "kills": kills,
        "pages": len(wanted),
        "never fetched": sum(page not in asked for page in wanted),
        "lost": len(wanted - set(found)),
        "stored twice": sum(count - 1 for page, count in found.items() if page in wanted),
        "fetched again": sum(asked.get(page, 1) - 1 for page in wanted),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crawlee", metavar="PYTHON")
    options = parser.parse_args()
    systems = {"ours": _ours, "Scrapy, JOBDIR": _scrapy}
    if options.crawlee:
        systems["crawlee"] = _crawlee(options.crawlee)
    for name, prepare in systems.items():
        figures = _measure(prepare)
        print(f"{name}: " + ", ".join(f"{key} {value:,}" for key, value in figures.items()))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
