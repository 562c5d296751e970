"""CPU a page of whole crawls, of this checkout and of an older one, in turn.

    python benchmarks/measurements/crawl_cpu.py OLD_CHECKOUT FOLDER [--start index.html]
        [--pages 600] [--rounds 3]

Serves FOLDER, the files of a site, and crawls it from START (several: divided by commas) until the
job has PAGES, all deduplication on. A crawl is one process with its reading processes; their CPU
time is counted from start to end, and divided by the pages that the server answered with. Missing
ones do not count; some older checkouts counted them among PAGES. Both sides run by this Python and
its libraries; the first round also compiles them. Prints medians, in milliseconds a page, and the
median of the ratios of each round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from benchmarks.crawl.contenders import SETTINGS, environment  # noqa: E402 -- in order
from benchmarks.sites.folder import HTML, Answer, SiteFolder  # noqa: E402 -- in order
from benchmarks.sites.server import SiteServer  # noqa: E402 -- in order


class _CountingFolder(SiteFolder):
    n_pages = 0

    def answer(self, target: str, base: str) -> Answer:
        found = super().answer(target, base)
        self.n_pages += found.status == 200 and found.content_type == HTML
        return found


def crawl(checkout: Path, site: Path, starts: list[str], n_pages: int) -> tuple[float, int]:
    """Crawl a site once; return CPU seconds of all processes, and the pages asked for."""
    folder = _CountingFolder(site, starts=starts)
    with TemporaryDirectory(prefix="dedup-crawl-") as jobs, SiteServer(folder) as server:
        settings = {**SETTINGS, "DEDUP_JOBS_DIR": jobs, "DEDUP_PROGRESS": "off"}
        urls = ",".join(server.url + start for start in starts)
        given = [f"url={urls}", f"max_pages={n_pages}", "job=job"]
        command = [sys.executable, "-m", "scrapy", "crawl", "site"]
        command += [word for each in given for word in ("-a", each)]
        command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        process = subprocess.Popen(
            command, cwd=checkout, env=environment(), stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not folder.n_pages:
        raise SystemExit(f"the crawl by {checkout} failed: {process.returncode=}")
    return usage.ru_utime + usage.ru_stime, folder.n_pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path, metavar="OLD_CHECKOUT")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--start", default="index.html")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, int]]] = {"old": [], "now": []}
    for _ in range(options.rounds):
        for side, checkout in (("old", options.old), ("now", _ROOT)):
            starts = options.start.split(",")
            found[side].append(crawl(checkout, options.folder, starts, options.pages))
    costs = {side: [1e3 * cpu / n for cpu, n in crawls] for side, crawls in found.items()}
    for side, each in costs.items():
        pages = statistics.median(n for _, n in found[side])
        print(f"{side}: {statistics.median(each):.2f} ms a page, {pages:g} pages")
    ratios = [now / old for old, now in zip(costs["old"], costs["now"], strict=True)]
    print(f"ratio: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
