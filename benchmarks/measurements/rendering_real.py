"""Real sites crawled with DEDUP_RENDER off and auto: what rendering changes, and what it costs.

    python benchmarks/measurements/rendering_real.py FOLDER [--sites NAME…] [--pages 300]
        [--show N] [--json]

FOLDER has each site of `benchmarks/sites.tsv` in a folder NAME. The same pages are fetched both
ways, chosen and ordered by a seed; no links are followed, so that both see them in one order.

changed: pages of both crawls whose verdict or stored text is not the same
rendered: pages that the browser was given, by the job's record, and why
load: mean of the last minute when both crawls had ended
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.measure import environment, installed_versions
from benchmarks.sites.catalogue import Site, read_sites
from benchmarks.sites.container import Container
from benchmarks.sites.crawl import Crawled, crawl
from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer
from benchmarks.sites.verdict import judge
from benchmarks.tables import print_environment, print_section, wide_console

_WAYS = ("off", "auto")
_PAGES = ("**/*.html", "**/*.htm")
_SEED = 31


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sites", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--pages", type=int, default=300, metavar="N")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="changed pages, at most N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.sites or sorted(path.name for path in options.folder.iterdir())
    console = wide_console()
    if not options.json:
        print_environment(console, environment(installed_versions(("scrapy", "playwright"))))
    for site in read_sites(options.folder, names):
        rows = _rows(site, options.pages, options.settings, options.show)
        if options.json:
            print("\n".join(json.dumps(row) for row in rows), flush=True)
        else:
            print_section(console, site.name, rows)


def _rows(site: Site, most: int, settings: Sequence[str], show: int) -> list[dict[str, Any]]:
    container = Container(site.select, site.remove)
    # A list of files, of which the crawl takes the first: `starts` are not needed.
    listed = replace(site, lists=site.lists or _PAGES, starts=())
    with SiteServer(SiteFolder(site.folder, site.hosts)) as server:
        crawls = {
            way: crawl(
                listed,
                server.url,
                settings=[f"DEDUP_RENDER={way}", *settings],
                seed=_SEED,
                most=most,
            )
            for way in _WAYS
        }
        _show(crawls["off"], crawls["auto"], show)
        return [
            {"site": site.name, "way": way, **_figures(crawled, crawls["off"], container, server)}
            for way, crawled in crawls.items()
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
