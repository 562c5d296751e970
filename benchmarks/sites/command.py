"""`python -m benchmarks site|sites`: is what a crawl drops and stores right for readers?"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.measure import environment, installed_versions
from benchmarks.sites.catalogue import Site, read_sites, split
from benchmarks.sites.container import Container
from benchmarks.sites.crawl import crawl
from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer
from benchmarks.sites.verdict import MISTAKES, Verdict, judge
from benchmarks.tables import print_environment, print_section, wide_console
from dedup.cli.console import ERRORS

_PACKAGES = ("scrapy", "selectolax", "resiliparse", "xxhash")

_COLUMNS = (
    *("site", "kept", "dropped", "wrong", "lost", "twins", "copies_dropped", "missed"),
    *("recall_mean", "recall_p10", "precision_mean", "code_kept", "crawl_seconds", "cpu_ms_a_page"),
)
"""Of the table of several sites; --json has all figures."""


def add_parsers(kinds: Any) -> None:
    """Add `site` and `sites` to what the benchmarks can do."""
    for parser in (_site_parser(kinds), _sites_parser(kinds)):
        parser.add_argument("--shuffle", type=int, metavar="SEED", help="the order of a list")
        parser.add_argument(
            "-s",
            dest="settings",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting of the crawl",
        )
        parser.add_argument("--json", action="store_true", help="for machines: all figures")
        parser.set_defaults(execute=_execute)


def _site_parser(kinds: Any) -> Any:
    parser = kinds.add_parser("site", help="a site's crawl, judged by what its readers see")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the files of a built site")
    parser.add_argument(
        "--select", required=True, metavar="CSS", help="the elements with a page's own content"
    )
    for name, metavar, text in (
        ("--remove", "CSS", "furniture inside of these"),
        ("--start", "PATHS", "where the crawl begins (default: the site's root)"),
        ("--list", "GLOB", "crawl these files, and follow no links"),
        ("--rewrite", "HOSTS", "absolute links to these lead into the folder"),
    ):
        parser.add_argument(name, default="", metavar=metavar, help=text)
    parser.add_argument(
        "--show", type=int, default=5, metavar="N", help="examples of each mistake (default: 5)"
    )
    parser.set_defaults(chosen=_site_of_options)
    return parser


def _sites_parser(kinds: Any) -> Any:
    parser = kinds.add_parser("sites", help="the same of the sites in benchmarks/sites.tsv")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument(
        "--folder", type=Path, required=True, metavar="DIR", help="has each site in a folder NAME"
    )
    parser.set_defaults(chosen=lambda options: read_sites(options.folder, options.names))
    return parser


def _site_of_options(options: argparse.Namespace) -> list[Site]:
    site = Site(
        name=options.folder.name,
        folder=options.folder,
        select=options.select,
        remove=options.remove,
        starts=[start.lstrip("/") for start in split(options.start)] or [""],
        lists=[pattern.lstrip("/") for pattern in split(options.list)],
        hosts=split(options.rewrite),
    )
    return [site]


def _execute(options: argparse.Namespace) -> None:
    sites = options.chosen(options)
    for site in sites:
        _opened(site)  # before the first crawl
    made_on = environment(installed_versions(_PACKAGES), settings=options.settings)
    console = wide_console()
    if not options.json:
        print_environment(console, made_on)
    found = list(_judged(sites, options))
    rows = [figures for figures, _ in found]
    if options.json:
        print(json.dumps({"environment": made_on, "sites": rows}, ensure_ascii=False, indent=2))
    elif "show" in options:
        ((figures, verdict),) = found
        print_section(console, figures["site"], [figures])
        _print_examples(console, verdict, options.show)
    else:
        print_section(console, "sites", [{name: row[name] for name in _COLUMNS} for row in rows])


def _judged(
    sites: Iterable[Site], options: argparse.Namespace
) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """The figures and the verdict on each site, one crawl after the other."""
    for site in sites:
        with ERRORS.status(site.name):
            yield measure_site(site, settings=options.settings, seed=options.shuffle)


def _opened(site: Site) -> tuple[Container, SiteFolder]:
    return Container(site.select, site.remove), SiteFolder(site.folder, site.hosts, site.starts)


def measure_site(
    site: Site, *, settings: Sequence[str] = (), seed: int | None = None
) -> tuple[dict[str, Any], Verdict]:
    """Serve a site, crawl it, and judge what was kept and dropped; arguments: see `crawl`.

    Raises:
        ValueError: the site is not there, its CSS is none, or the crawl failed.
    """
    container, folder = _opened(site)
    with SiteServer(folder) as server:
        crawled = crawl(site, server.url, settings=settings, seed=seed)
    verdict = judge(crawled.kept, crawled.dropped, lambda url: container.read(server.page(url)))
    n_pages = verdict.kept + verdict.dropped
    figures = {
        "site": site.name,
        **verdict.figures(),
        "crawl_seconds": round(crawled.seconds, 2),
        "cpu_ms_a_page": round(crawled.cpu_seconds * 1e3 / n_pages, 2),
    }
    return figures, verdict


def _print_examples(console: Console, verdict: Verdict, most: int) -> None:
    for kind in MISTAKES:
        for drop in [drop for drop in verdict.drops if kind in drop.kinds][:most]:
            console.print(
                f"{kind}: by {drop.stage}, resemblance of contents {drop.jaccard:.2f}: "
                f"{drop.url} => {drop.original_url}",
                markup=False,
            )
    for text in sorted(verdict.texts, key=lambda text: (text.recall, text.precision))[:most]:
        told = f"least recall: {text.recall:.2f}, precision {text.precision:.2f}: {text.url}"
        console.print(told, markup=False)
