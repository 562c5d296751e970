"""Real sites crawled with DEDUP_RENDER off and auto: what rendering changes, and what it costs.

    python benchmarks/measurements/rendering_real.py FOLDER [--sites NAME…] [--pages 300]
        [--show N] [--slow SECONDS] [--json]

FOLDER has each site of `benchmarks/sites.tsv` in a folder NAME. The same pages are fetched both
ways, chosen by a seed; no links are followed. What a site repeats is learned from the pages that
arrive first, and in a crawl these are not always the same. So there is a third crawl: off, with the
pages one after the other, in the order in which auto has read them. That is what both are compared
with.

changed: pages whose verdict or stored text is not the same as in the third crawl. With off, this
    is what another order changes alone.
rendered: pages that the browser was given, by the job's record, and why
load: mean of the last minute when the crawls had ended
"""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.measure import environment, installed_versions
from benchmarks.sites.catalogue import Site, read_sites
from benchmarks.sites.container import Container
from benchmarks.sites.crawl import READ, Crawled, crawl
from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer
from benchmarks.sites.verdict import judge
from benchmarks.tables import print_environment, print_section, wide_console
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.rendering.browser import Browser
from dedup.scrapy.rendering.choice import RenderedPages

_SLOW = "SLOW_RENDERING_SECONDS"
_ONE_BY_ONE = (
    "CONCURRENT_REQUESTS=1",
    "CONCURRENT_REQUESTS_PER_DOMAIN=1",
    "DEDUP_READ_PROCESSES=0",
)
_EXTENSION = 'EXTENSIONS={"benchmarks.measurements.rendering_real.ReadOrder": 1}'
_PAGES = ("**/*.html", "**/*.htm")
_SEED = 31


class ReadOrder:
    """Extension: notes in which order pages are read, and slows the browser as a busy machine does.

    A page is rendered later by a random time of at most `SLOW_RENDERING_SECONDS`.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        most_seconds, random = crawler.settings.getfloat(_SLOW), Random(_SEED)
        read, render, file = RenderedPages.read, Browser.render, Path(READ).absolute()

        async def noted(pages: RenderedPages, response: Response, raw: Reading) -> Reading:
            with file.open("a", encoding="utf-8") as lines:
                lines.write(f"{response.url}\n")
            return await read(pages, response, raw)

        async def slow(browser: Browser, response: Response) -> HtmlResponse:
            await asyncio.sleep(most_seconds * random.random())
            return await render(browser, response)

        RenderedPages.read, Browser.render = noted, slow  # type: ignore[method-assign]
        return cls()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sites", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--pages", type=int, default=300, metavar="N")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="changed pages, at most N")
    parser.add_argument("--slow", type=float, default=0.0, metavar="SECONDS", help="see ReadOrder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.sites or sorted(path.name for path in options.folder.iterdir())
    settings = [*options.settings, f"{_SLOW}={options.slow}"]
    os.environ["PYTHONPATH"] = sys.path[0]  # the crawl imports this file for `ReadOrder`
    console = wide_console()
    if not options.json:
        print_environment(console, environment(installed_versions(("scrapy", "playwright"))))
    for site in read_sites(options.folder, names):
        rows = _rows(site, options.pages, settings, options.show)
        if options.json:
            print("\n".join(json.dumps(row) for row in rows), flush=True)
        else:
            print_section(console, site.name, rows)


def _rows(site: Site, most: int, settings: Sequence[str], show: int) -> list[dict[str, Any]]:
    container = Container(site.select, site.remove)
    # A list of files, of which the crawl takes the first: `starts` are not needed.
    listed = replace(site, lists=site.lists or _PAGES, starts=())
    with SiteServer(SiteFolder(site.folder, site.hosts)) as server:

        def crawled(way: str, *more: str, paths: Sequence[str] = ()) -> Crawled:
            given = [f"DEDUP_RENDER={way}", *settings, *more]
            return crawl(listed, server.url, settings=given, seed=_SEED, most=most, paths=paths)

        crawls = {
            "off": crawled("off"),
            "auto": crawled("auto", _EXTENSION),
        }
        paths = [each.removeprefix(server.url) for each in crawls["auto"].read]
        same = crawled("off", *_ONE_BY_ONE, paths=paths)
        _show(same, crawls["auto"], show)
        return [
            {"site": site.name, "way": way, **_figures(found, same, container, server)}
            for way, found in crawls.items()
        ]


def _figures(
    crawled: Crawled, without: Crawled, container: Container, server: SiteServer
) -> dict[str, Any]:
    verdict = judge(crawled.kept, crawled.dropped, lambda url: container.read(server.page(url)))
    mine, other = _outcomes(crawled), _outcomes(without)
    figures = verdict.figures()
    names = ("kept", "dropped", "wrong", "lost", "recall_mean", "precision_mean")
    return {
        **{name: figures[name] for name in names},
        "changed": sum(mine.get(url) != other.get(url) for url in mine.keys() | other.keys()),
        "rendered": len(crawled.rendered),
        "why": dict(Counter(crawled.rendered.values())),
        "seconds": round(crawled.seconds, 1),
        "cpu_seconds": round(crawled.cpu_seconds, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _show(off: Crawled, auto: Crawled, most: int) -> None:
    """Tell of changed pages how they were read, and from where on their outcomes differ."""
    before, after = _outcomes(off), _outcomes(auto)
    changed = sorted(url for url in before | after if before.get(url) != after.get(url))
    for url in changed[:most]:
        first, second = before.get(url, "(none)"), after.get(url, "(none)")
        differ = (n for n, pair in enumerate(zip(first, second, strict=False)) if len({*pair}) > 1)
        place = max(next(differ, min(len(first), len(second))) - 20, 0)
        print(url, auto.rendered.get(url, "not rendered"), len(first), len(second), file=sys.stderr)
        print(f"  off:  {first[place : place + 100]!r}", file=sys.stderr)
        print(f"  auto: {second[place : place + 100]!r}", file=sys.stderr)


def _outcomes(crawled: Crawled) -> dict[str, str]:
    """Of each page its text, or the page that it was dropped for."""
    kept = {row["url"]: row.get("text") or "" for row in crawled.kept}
    return kept | {row["url"]: row["duplicate_of_url"] for row in crawled.dropped}


if __name__ == "__main__":
    main()
