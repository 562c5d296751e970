"""Turns of a worker of a shared job: pages a second under the lock, by the size of a turn.

    python -m benchmarks.measurements.cluster_turns --address postgresql://USER@HOST/DATABASE
        [--sizes 1,10,100] [--pages 400] [--rounds 1]

A worker reads pages of `cluster_site`, 40% of them copies or near copies, and judges and stores
them in turns of a given number of pages, as a crawl does; nothing is fetched. Its hosts are known
well (140 pages each were stored before), so no page waits. Of each size, PAGES pages are measured:

- the time from taking the lock to the end of the commit, by the clock;
- the CPU time of the worker meanwhile, and of the server's process for it, where that is local.

`--profile` prints where the worker spends the time under the lock. The job is dropped at the end.
"""

import argparse
import cProfile
import json
import os
import pstats
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import psycopg
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.project import get_project_settings
from twisted.internet.defer import DeferredList

from benchmarks.measurements.cluster_site import page
from dedup.scrapy.internals.engine import send_items
from dedup.scrapy.items import PageItem
from dedup.scrapy.spiders.site import SiteSpider

HOSTS, WARM_UP, PER_HOST = 4, 140, 1_000
SECONDS_PER_TICK = 1 / os.sysconf("SC_CLK_TCK")


class Lock:
    """Measures what happens while the worker has the lock."""

    def __init__(self, workers: Any, backend: int, *, profiles: bool) -> None:
        self.profile = cProfile.Profile() if profiles else None
        self._backend = backend
        self._begin, self._end = workers.try_begin, workers.end
        workers.try_begin, workers.end = self.begin, self.end
        self.reset()

    def reset(self) -> None:
        self.turns, self.seconds, self.cpu, self.server = 0, 0.0, 0.0, 0.0

    def begin(self, *, waits: bool) -> bool:
        self._at = time.perf_counter(), time.process_time(), self._server_seconds()
        if self.profile is not None:
            self.profile.enable()
        return self._begin(waits=waits)

    def end(self) -> None:
        self._end()
        if self.profile is not None:
            self.profile.disable()
        clock, cpu, server = self._at
        self.turns += 1
        self.seconds += time.perf_counter() - clock
        self.cpu += time.process_time() - cpu
        self.server += self._server_seconds() - server

    def _server_seconds(self) -> float:
        with suppress(OSError):
            fields = Path(f"/proc/{self._backend}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) * SECONDS_PER_TICK
        return 0.0


class Turns(SiteSpider):
    """Judges pages that it makes itself."""

    name = "turns"
    sizes: ClassVar[list[int]] = []
    pages, rounds = 0, 0
    profiles = False

    async def start(self) -> AsyncIterator[Any]:
        job = self.dedup_job
        job.urls.requests.hosts.update(f"host-{n}.example" for n in range(HOSTS))
        job.is_finished = True  # hosts without queued URLs would be given back
        backend = job.store.database.connection.raw.info.backend_pid
        responses = self._responses()
        await self._judge(responses, HOSTS * WARM_UP, 100)
        lock = Lock(job.store.workers, backend, profiles=self.profiles)
        for _ in range(self.rounds):
            for size in self.sizes:
                lock.reset()
                await self._judge(responses, self.pages, size)
                print(json.dumps({"size": size, **figures(lock, self.pages)}), flush=True)
        if lock.profile is not None:
            pstats.Stats(lock.profile).sort_stats("tottime").print_stats(45)
            pstats.Stats(lock.profile).sort_stats("cumtime").print_stats(80)
        return
        yield

    def _responses(self) -> Iterator[HtmlResponse]:
        for number in count():
            for host in range(HOSTS):
                url = f"http://host-{host}.example/{number}"
                request = self.page_request(url)
                body = page(host, number, HOSTS, PER_HOST, 80)
                yield HtmlResponse(url, body=body, request=request, encoding="utf-8")

    async def _judge(self, responses: Iterator[HtmlResponse], n_pages: int, size: int) -> None:
        for _ in range(0, n_pages, size):
            ready: list[PageItem] = []
            parts = [self._read(next(responses), ready) for _ in range(size)]
            await maybe_deferred_to_future(DeferredList(list(map(deferred_from_coro, parts))))
            await send_items(self.crawler, ready, at_once=size)

    async def _read(self, response: HtmlResponse, ready: list[PageItem]) -> None:
        found = [each async for each in self.parse(response)]
        ready += [each for each in found if isinstance(each, PageItem)]  # links are not followed


def figures(lock: Lock, n_pages: int) -> dict[str, float]:
    found = {
        "pages_per_second": n_pages / lock.seconds,
        "ms_a_page": lock.seconds / n_pages * 1e3,
        "cpu_ms_a_page": lock.cpu / n_pages * 1e3,
        "server_cpu_ms_a_page": lock.server / n_pages * 1e3,
        "turns": lock.turns,
    }
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", required=True)
    parser.add_argument("--sizes", default="1,10,100")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    job = f"turns-{os.getpid()}"
    Turns.sizes = list(map(int, options.sizes.split(",")))
    Turns.pages, Turns.rounds, Turns.profiles = options.pages, options.rounds, options.profile
    settings = get_project_settings()
    changed = {
        "DEDUP_STORE": options.address,
        "DEDUP_ALLOW_PRIVATE": True,
        "DEDUP_PROGRESS": "off",
        "DEDUP_READ_PROCESSES": 0,
        "DEDUP_JOBS_DIR": tempfile.mkdtemp(prefix="dedup-turns-"),
        "LOG_LEVEL": "WARNING",
    }
    settings.update(changed, priority="cmdline")
    process = CrawlerProcess(settings)
    process.crawl(Turns, url="http://host-0.example/", job=job)
    process.start()
    with psycopg.connect(options.address, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA "{job}" CASCADE')


if __name__ == "__main__":
    main()
