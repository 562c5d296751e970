"""Crawls of sites that scripts make: what each way of rendering finds, renders and costs.

    python benchmarks/measurements/rendering.py BUILT --data DATA [--sites NAME…]
        [--ways off auto always crawlee] [-s NAME=VALUE] [--json]

BUILT is made by `python -m benchmarks.rendering.build BUILT --data DATA`. Two sites more are made
here: `turning`, whose template turns to scripts half-way, and `thirtieth`, of whose pages one in
thirty has most of its text from a script. `crawlee` is its AdaptivePlaywrightCrawler, which is told
what to wait for on each site; its texts are those of whole pages, so that its precision says less.

found: of the true pages, those that were kept, or dropped as duplicates
recall: share of the words of all true texts that is stored, for a rightful duplicate its original's
precision: share of the words of the stored texts that are the page's own
wrong, lost: see `benchmarks/sites/verdict.py`
needed: pages whose text or links are made by scripts
rendered: pages that the browser was given, by the job's record; for crawlee, by the server's log
peak_mb: most memory of all processes together; what they share counts for each
load: mean of the last minute, as the crawl began and as it ended
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.crawl.run import measure
from benchmarks.measure import environment, installed_versions
from benchmarks.rendering import records
from benchmarks.rendering.server import BuiltSite, LoggedServer, TrueSite, TurningSite
from benchmarks.rendering.truth import TRUTH, TruePage
from benchmarks.sites.catalogue import Site
from benchmarks.sites.container import WORDS, Content
from benchmarks.sites.crawl import Crawled, crawl
from benchmarks.sites.verdict import Verdict, judge
from benchmarks.tables import print_environment, print_section, wide_console
from dedup.scrapy.rendering.chromium import find_program

_CRAWLEE = "crawlee"
_WAYS = ("off", "auto", "always", _CRAWLEE)
_CONCURRENCY = 8
_SCRIPT = Path(__file__).parents[1] / "rendering" / "scripts" / "crawlee_adaptive.py"


_WAITS = {
    "svelte": "h1",
    "vitepress": "main h1",
    "endless": "section:nth-of-type(1) h2, article h1",
    "reviews": "#review p:first-of-type, article p:nth-of-type(3), main li:first-child",
    "turning": ".rest p:first-of-type, main li:first-child",
    "thirtieth": ".rest p:first-of-type, main li:first-child",
}
"""The one element of each page that crawlee waits for; without it, it takes shells for pages."""

_WAIT = "article h1, main li:first-child"  # of the other sites


@dataclass(frozen=True, slots=True)
class Measured:
    """A crawl, and the paths of pages that a browser was given."""

    crawled: Crawled
    rendered: Sequence[str]


def main() -> None:
    options = _options()
    console = wide_console()
    made_on = environment(installed_versions(("scrapy", "crawlee", "playwright")))
    if not options.json:
        print_environment(console, made_on)
    for name in options.sites or _names(options.built):
        rows = []
        for way in options.ways:
            try:
                rows.append(_row(name, way, options))
            except ValueError as error:
                print(f"{name}, {way}: {error}"[-2_000:], file=sys.stderr)
            else:
                if options.json:
                    print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
        if not options.json and rows:
            print_section(console, name, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("built", type=Path, metavar="BUILT")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sites", nargs="+", metavar="NAME")
    parser.add_argument("--ways", nargs="+", choices=_WAYS, default=_WAYS)
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="pages missed, at most N")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _names(built: Path) -> list[str]:
    return [*sorted(truth.parent.name for truth in built.glob(f"*/{TRUTH}")), *_TURNING]


def _turning(data: Path) -> TrueSite:
    return TurningSite(records.news(data, 0, 240))


def _thirtieth(data: Path) -> TrueSite:
    return TurningSite(records.news(data, 300, 300), every=30, until=2)


_TURNING = {"turning": _turning, "thirtieth": _thirtieth}


def _row(name: str, way: str, options: argparse.Namespace) -> dict[str, Any]:
    make = _TURNING.get(name)
    site = make(options.data) if make else BuiltSite(options.built / name)
    before = os.getloadavg()[0]
    measured = (
        _crawlee(site, _WAITS.get(name, _WAIT))
        if way == _CRAWLEE
        else _ours(site, way, options.settings)
    )
    load = [round(each, 1) for each in (before, os.getloadavg()[0])]
    return {"site": name, "way": way, **figures(site.pages, measured, options.show), "load": load}


def _ours(site: TrueSite, way: str, settings: Sequence[str]) -> Measured:
    mode = [] if way == "off" else [f"DEDUP_RENDER={way}"]
    with LoggedServer(site) as server:
        crawled = crawl(Site("", Path(), ""), server.url, settings=[*mode, *settings])
    return Measured(crawled, [*crawled.rendered])


def _crawlee(site: TrueSite, selector: str) -> Measured:
    chromium = find_program({}) or ""
    with LoggedServer(site, "Chrome") as server, TemporaryDirectory(prefix="dedup-crawlee-") as at:
        script = [str(_SCRIPT), server.url, str(_CONCURRENCY), "pages.jsonl", chromium, selector]
        cost = measure([sys.executable, *script], Path(at))
        if cost["status"]:
            errors = (Path(at) / "errors.txt").read_text(errors="replace")
            raise ValueError(f"crawlee failed: {errors or cost['status']}")
        with (Path(at) / "pages.jsonl").open(encoding="utf-8") as lines:
            kept = list({row["url"]: row for row in map(json.loads, lines)}.values())
        seconds = cost["ended"] - cost["began"]
        crawled = Crawled(kept, [], seconds, cost["cpu_seconds"], peak_bytes=cost["peak_bytes"])
        return Measured(crawled, server.log.rendered())


def figures(pages: Mapping[str, TruePage], measured: Measured, show: int = 0) -> dict[str, Any]:
    """A crawl's figures beside a site's truth."""
    crawled = measured.crawled
    truth = {_key(path): page for path, page in pages.items()}
    texts = {_key(row["url"]): row.get("text") or "" for row in crawled.kept}
    originals = {_key(row["url"]): _key(row["duplicate_of_url"]) for row in crawled.dropped}
    verdict = judge(crawled.kept, crawled.dropped, lambda url: _content(truth, _key(url)))
    needed = {path for path, page in truth.items() if page.scripted}
    rendered = {*map(_key, measured.rendered)} & truth.keys()
    found = (texts.keys() | originals.keys()) & truth.keys()
    if show:
        _show(truth, texts, originals, rendered, show)
    return {
        "true": len(truth),
        "found": len(found),
        "kept": len(texts),
        "dropped": len(originals),
        "recall": _recall(truth, texts, originals, verdict),
        "precision": _precision(verdict),
        "wrong": verdict.count("wrong"),
        "lost": verdict.count("lost"),
        "needed": len(needed),
        "rendered": len(rendered),
        "rendered_needed": len(rendered & needed),
        "why": dict(Counter(crawled.rendered.values())),
        "share": round(len(rendered) / len(needed), 3) if needed else None,
        "pages_a_second": round(len(found) / crawled.seconds, 2),
        "seconds": round(crawled.seconds, 1),
        "cpu_seconds": round(crawled.cpu_seconds, 1),
        "peak_mb": round(crawled.peak_bytes / 2**20),
    }


def _content(truth: Mapping[str, TruePage], path: str) -> Content:
    """A page's own words; a list's are its path, so that no two lists are the same."""
    if (page := truth.get(path)) is None:
        return Content()
    return Content(words=_words(page.text) or [path], name=page.title.lower())


def _recall(
    truth: Mapping[str, TruePage],
    texts: Mapping[str, str],
    originals: Mapping[str, str],
    verdict: Verdict,
) -> float:
    wrong = {_key(drop.url) for drop in verdict.drops if "wrong" in drop.kinds}
    shares = []
    for path, page in truth.items():
        if page.text:
            place = path if path in texts or path in wrong else originals.get(path, "")
            shares.append(_share(_words(page.text), _words(texts.get(place, ""))))
    return round(fmean(shares), 4)


def _precision(verdict: Verdict) -> float | None:
    """Of the kept pages that have a true text and any stored one."""
    shares = [text.precision for text in verdict.texts]
    return round(fmean(shares), 4) if shares else None


def _show(
    truth: Mapping[str, TruePage],
    texts: Mapping[str, str],
    originals: Mapping[str, str],
    rendered: set[str],
    most: int,
) -> None:
    missing = sorted(truth.keys() - texts.keys() - originals.keys())
    poor = sorted(
        (_share(_words(truth[path].text), _words(text)), path)
        for path, text in texts.items()
        if path in truth and truth[path].text
    )
    other = sorted(texts.keys() - truth.keys())
    needless = sorted(path for path in rendered if not truth[path].scripted)
    for words, found in (
        ("not found", missing),
        ("least recall", poor),
        ("no true page", other),
        ("rendered without need", needless),
        ("dropped", sorted(originals.items())),
    ):
        print(f"{words} ({len(found)}): {found[:most]}", file=sys.stderr)


def _share(own: Sequence[str], stored: Sequence[str]) -> float:
    return (Counter(own) & Counter(stored)).total() / len(own)


def _words(text: str) -> list[str]:
    return WORDS.findall(text.lower())


def _key(url: str) -> str:
    """The path of a URL, with its route; with or without a slash at its end it is one page."""
    parts = urlsplit(url)
    path = unquote(parts.path).removesuffix("index.html").rstrip("/") or "/"
    return path + (f"#{unquote(parts.fragment)}" if parts.fragment else "")


if __name__ == "__main__":
    main()
