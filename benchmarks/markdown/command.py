"""`python -m benchmarks markdown`: what of a page's structure is left in its Markdown?"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from benchmarks.markdown.contenders import Convert, StoredPage, contenders, names
from benchmarks.markdown.structure import (
    KINDS,
    Structure,
    formulas_in,
    show_tex,
    structure_of,
    words_of,
)
from benchmarks.measure import environment, installed_versions
from benchmarks.sites.catalogue import Site, read_sites
from benchmarks.sites.container import Container
from benchmarks.sites.crawl import crawl
from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer
from benchmarks.tables import print_environment, print_section, wide_console
from dedup.cli.console import ERRORS

_SEED = 1
_LEAST_WORDS = 5
_FOOTNOTE = re.compile(r"^\[\^[^\]]+\]: ", re.MULTILINE)
_RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def add_parser(kinds: Any) -> None:
    """Add `markdown` to what the benchmarks can do."""
    parser = kinds.add_parser("markdown", help="what is left of pages in their Markdown")
    parser.add_argument("names", nargs="+", metavar="NAME", help="sites in benchmarks/sites.tsv")
    parser.add_argument(
        "--folder", type=Path, required=True, metavar="DIR", help="has each site in a folder NAME"
    )
    parser.add_argument(
        "--pages", type=int, default=100, metavar="N", help="of a site, by chance (default: 100)"
    )
    parser.add_argument("--ours", action="store_true", help="without other packages")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    sites = read_sites(options.folder, options.names)
    converts, missing = contenders()
    if options.ours:
        converts, missing = {"ours": converts["ours"]}, []
    for name in missing:
        ERRORS.print(f"not installed: {name}")
    made_on = environment(installed_versions(("selectolax", "markdown-it-py", *names())))
    console = wide_console()
    if not options.json:
        print_environment(console, made_on)
    results = {}
    for site in sites:
        with ERRORS.status(site.name):
            pages = stored_pages(site, options.pages)
            rows = list(compare(pages, Container(site.select, site.remove), converts))
        results[site.name] = rows
        if not options.json:
            print_section(console, f"{site.name}, {len(pages)} pages", rows)
    if options.json:
        print(json.dumps({"environment": made_on, "sites": results}, indent=2))


def stored_pages(site: Site, count: int) -> list[StoredPage]:
    """Crawl a site; return some of the pages that were kept, by chance but always the same."""
    with SiteServer(SiteFolder(site.folder, site.hosts, site.starts)) as server:
        kept = sorted(crawl(site, server.url).kept, key=lambda row: str(row["url"]))
        random.Random(_SEED).shuffle(kept)  # noqa: S311 -- an order, not a secret
        return [
            StoredPage(row["url"], server.page(row["url"]), row["text"]) for row in kept[:count]
        ]


def compare(
    pages: Sequence[StoredPage], container: Container, converts: Mapping[str, Convert]
) -> Iterator[dict[str, Any]]:
    """For each contender, the share of what the containers have that is in its Markdown.

    `beside` is the share of words that the containers do not have.
    """
    truths = list(_truths(pages, container))
    for name, convert in converts.items():
        kept, wanted = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        beside = total = 0
        seconds = 0.0
        for page, truth, words in truths:
            started = process_time()
            markdown = convert(page)
            seconds += process_time() - started
            found, found_words = rendered(markdown, page.url)
            for kind in KINDS:
                kept[kind] += (found[kind] & truth[kind]).total()
                wanted[kind] += truth[kind].total()
            beside += (Counter(found_words) - words).total()
            total += len(found_words)
        yield {
            "markdown by": name,
            **{kind: _share(kept[kind], wanted[kind]) for kind in KINDS},
            "beside": _share(beside, total),
            "cpu_ms_a_page": round(seconds * 1e3 / max(1, len(truths)), 2),
        }


def _truths(
    pages: Iterable[StoredPage], container: Container
) -> Iterator[tuple[StoredPage, Structure, Counter[str]]]:
    for page in pages:
        boxes = container.boxes(page.body)
        formulas = structure_of(boxes, page.url)["formulas"]
        for box in boxes:
            show_tex(box)
        words = Counter(word for box in boxes for word in words_of(box))
        if words.total() >= _LEAST_WORDS:
            yield page, {**structure_of(boxes, page.url), "formulas": formulas}, words


def rendered(markdown: str, url: str) -> tuple[Structure, tuple[str, ...]]:
    """The structure and the words of Markdown as a browser would show it."""
    without_labels = _FOOTNOTE.sub("", markdown)  # which are not CommonMark's
    body = LexborHTMLParser(f"<body>{_RENDERER.render(without_labels)}").body
    if body is None:
        return {kind: Counter() for kind in KINDS}, ()
    found = structure_of([body], url)
    return {**found, "formulas": formulas_in(markdown)}, words_of(body)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
