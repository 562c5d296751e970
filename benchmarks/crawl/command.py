"""`python -m benchmarks crawl`: the crawler beside others."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.crawl import report
from benchmarks.crawl.contenders import PACKAGES, SETTINGS
from benchmarks.crawl.run import compare
from benchmarks.crawl.server import Nginx
from benchmarks.measure import environment, installed_versions
from benchmarks.tables import print_environment, print_section, wide_console
from dedup.cli.console import ERRORS


def add_parser(kinds: Any) -> None:
    parser = kinds.add_parser("crawl", help="whole crawls of sites on loopback, beside others")
    parser.add_argument(
        "sites",
        type=Path,
        nargs="+",
        metavar="SITE_DIR",
        help="a folder of pages, served by nginx; or what --json gave before: RESULTS.json",
    )
    parser.add_argument(
        "--rounds", type=_rounds, default=5, metavar="N", help="crawls by each crawler (default: 5)"
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    versions = {**installed_versions(PACKAGES), "nginx": Nginx.version()}
    made_on = environment(versions, rounds=options.rounds)
    console = wide_console()
    if not options.json:
        print_environment(console, made_on, options.rounds)
        console.print("pages/s: from the first answer to the end of the process. Settings of all:")
        console.print(", ".join(f"{name}={value}" for name, value in SETTINGS.items()))
    results = []
    for site in options.sites:
        for result in _measured(site, options.rounds):
            result["ratios"] = report.ratios(result)
            results.append(result)
            if not options.json:
                _print(console, result)
    if options.json:
        found = {"environment": made_on, "settings": SETTINGS, "sites": results}
        print(json.dumps(found, ensure_ascii=False, indent=2))
    if options.picture:
        report.draw(results, options.picture)
    _require_same_pages(results)


def _measured(site: Path, rounds: int) -> list[dict[str, Any]]:
    """The results for a folder of pages, or those of an earlier run."""
    if site.suffix == ".json" and site.is_file():
        earlier: list[dict[str, Any]] = json.loads(site.read_text(encoding="utf-8"))["sites"]
        return earlier
    with ERRORS.status(f"{site}"):
        return [compare(site, rounds)]


def _print(console: Console, result: dict[str, Any]) -> None:
    print_section(console, result["site"], list(report.rows(result)))
    for label, ratio in result["ratios"].items():
        console.print(f"  {label}: {ratio:.2f}")
    if (rate := report.saturation(result)) is not None:
        console.print(f"  one process of ours is busy all the time at {rate:,.0f} pages/s")


def _require_same_pages(results: list[dict[str, Any]]) -> None:
    sentences = [
        f"{result['site']}: {sentence}" for result in results for sentence in result["differences"]
    ]
    if sentences:
        raise ValueError(
            "the crawlers did not find the same pages, so the times cannot be compared:\n  "
            + "\n  ".join(sentences)
        )


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text}")
    return int(text)
