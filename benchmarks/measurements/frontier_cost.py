"""What the durable frontier costs a crawl: pages/s with it and with one in memory, in turn.

    python benchmarks/measurements/frontier_cost.py [FOLDER] [RUNS]

Crawls the HTML files of FOLDER (default: 3,000 made pages), served on loopback by another process.
In memory means: Scrapy's own queues, the Bloom filter alone, and no URL written before it is done.
Both crawls must store the same number of pages. Prints the median of RUNS (default 5) of each, and
their ratio.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import FifoMemoryQueue

from dedup.scrapy.job.job import Job
from dedup.scrapy.scheduler import DedupScheduler
from dedup.urls import SeenUrls

_ROOT = Path(__file__).parents[2]
_SERVE = """
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
handler = functools.partial(Handler, directory=sys.argv[1])
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    server.serve_forever()
"""


class MemoryScheduler(DedupScheduler):
    """The other half of the comparison."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        job = Job.of(crawler)
        job.urls = replace(job.urls, seen=SeenUrls(None))
        self._queue: Any = None

    def open(self, spider: Any) -> Any:
        self._queue = DownloaderAwarePriorityQueue(self._crawler, FifoMemoryQueue, "")
        return super().open(spider)

    def has_pending_requests(self) -> bool:
        return len(self._queue) > 0

    def enqueue_request(self, request: Request) -> bool:
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._spider)
            return False
        self._queue.push(request)
        return True

    def next_request(self) -> Request | None:
        request: Request | None = self._queue.pop()
        return request


@contextmanager
def _serving(folder: str | None) -> Iterator[str]:
    site = _ROOT / "tests" / "faults" / "site_process.py"
    command = ["-c", _SERVE, folder] if folder else [str(site), "3000"]
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def _crawl(url: str, *options: str) -> tuple[float, int]:
    """Pages a second, and pages stored."""
    with tempfile.TemporaryDirectory() as jobs:
        command = [sys.executable, "-m", "scrapy", "crawl", "site", f"-aurl={url}", "-ajob=job"]
        command += ["-s", f"DEDUP_JOBS_DIR={jobs}", *options]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        subprocess.run(command, check=True, cwd=_ROOT, capture_output=True, env=environment)
        stats = json.loads(Path(jobs, "job", "stats.json").read_text())
    return stats["rates"]["pages_per_second"], stats["pages"]["fetched"]


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    memory = ["-s", f"SCHEDULER={Path(__file__).stem}.MemoryScheduler"]
    rates: dict[str, list[float]] = {"durable": [], "in memory": []}
    pages = set()
    with _serving(folder) as url:
        for _ in range(runs):
            for name, options in (("durable", []), ("in memory", memory)):
                rate, count = _crawl(url, *options)
                rates[name].append(rate)
                pages.add(count)
    assert len(pages) == 1, f"the crawls fetched different numbers of pages: {pages}"
    for name, found in rates.items():
        print(f"{name}: {median(found):.1f} pages/s ({min(found):.1f} to {max(found):.1f})")
    ratio = median(rates["durable"]) / median(rates["in memory"])
    print(f"ratio {ratio:.3f}, {pages.pop():,} pages, {runs} runs each")


if __name__ == "__main__":
    main()
