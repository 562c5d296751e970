"""One crawl by many processes: the same verdicts, nothing lost, polite, and how fast.

    python -m benchmarks.measurements.cluster --address postgresql://USER@HOST/DATABASE
        [--workers 1,2,4] [--hosts 200] [--pages 20] [--kills 0] [--delay 0] [--sqlite]

Crawls HOSTS hosts of PAGES pages on loopback, with copies planted among them, by each number of
processes in turn, into a new job each time, and checks:

- each page of the site is on record once: none lost, none twice; counts reconcile;
- the verdicts are those of one process that is fed in the order of the numbers;
- each dropped page has an original that was kept;
- of each host no two requests are closer than the delay (from the server's log).

With `--kills N` random workers are killed (SIGKILL) N times while they work, and started again.
With `--sqlite` one process crawls into SQLite first, to compare with.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.measurements.cluster_site import host_name, urls
from dedup import Deduplicator
from dedup.store import JobStore, open_store, summarise

ROOT = Path(__file__).parents[2]


class Site:
    def __init__(self, n_hosts: int, n_pages: int, log: Path) -> None:
        self.n_hosts, self.n_pages, self.log = n_hosts, n_pages, log
        command = [sys.executable, "-m", "benchmarks.measurements.cluster_site"]
        command += [str(n_hosts), str(n_pages), str(log)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.port = int(self.process.stdout.readline())

    @property
    def start(self) -> str:
        return ",".join(f"http://{host_name(n)}:{self.port}/0" for n in range(self.n_hosts))

    def requests(self) -> list[tuple[float, float, str, str]]:
        rows = [line.split() for line in self.log.read_text().splitlines()]
        return [(float(came), float(went), host, target) for came, went, host, target in rows]


def worker(
    site: Site, jobs_dir: Path, settings: list[str], job: str, name: str
) -> subprocess.Popen:
    command = [sys.executable, "-m", "scrapy", "crawl", "site"]
    command += ["-a", f"url={site.start}", "-a", f"job={job}", "-s", f"DEDUP_JOBS_DIR={jobs_dir}"]
    for each in settings:
        command += ["-s", each]
    with (jobs_dir / f"{name}.log").open("w") as output:
        return subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )


def crawl(site: Site, jobs_dir: Path, settings: list[str], job: str, n: int, n_kills: int) -> dict:
    """Run the workers to their end; return seconds, kills and exit codes."""
    began = time.monotonic()
    source = random.Random(n)
    names = iter(range(10**6))
    running = [worker(site, jobs_dir, settings, job, f"{job}-{next(names)}") for _ in range(n)]
    codes, killed = [], 0
    next_kill = began + 6 + source.random() * 4
    while running:
        time.sleep(0.1)
        for each in [each for each in running if each.poll() is not None]:
            running.remove(each)
            codes.append(each.returncode)
        if killed < n_kills and running and time.monotonic() > next_kill:
            victim = source.choice(running)
            victim.kill()
            victim.wait()
            running.remove(victim)
            killed += 1
            running.append(worker(site, jobs_dir, settings, job, f"{job}-{next(names)}"))
            next_kill = time.monotonic() + 4 + source.random() * 4
    return {"seconds": time.monotonic() - began, "kills": killed, "codes": codes}


def check(store: JobStore, site: Site) -> dict:
    """Compare what is on record with the site, and with one process in the order of the numbers."""
    expected = set(urls(site.n_hosts, site.n_pages, site.port))
    recorded = Counter(store.recorded_urls())
    counts = summarise(store)
    pages = counts["pages"]
    total = pages["unique"] + sum(pages["duplicates"].values()) + sum(pages["skipped"].values())
    kept = set(store.page_numbers())
    rows = list(store.duplicate_rows())
    return {
        "pages": len(expected),
        "unique": pages["unique"],
        "duplicates": pages["duplicates"],
        "lost": len(expected - set(recorded)),
        "twice": sum(count - 1 for count in recorded.values()),
        "reconciled": total == pages["fetched"] == len(recorded) and not pages["waiting"],
        "without_original": sum(row.original not in kept for row in rows),
        "other_verdicts": other_verdicts(store, kept, {row.number: row.original for row in rows}),
        "left_hosts": counts["urls"]["queued"],
    }


def other_verdicts(store: JobStore, kept: set[int], dropped: dict[int, int]) -> int:
    """How many pages one process would have judged otherwise, fed in the order of the numbers."""
    deduplicator = Deduplicator()
    numbers: dict[int, int] = {}
    different = 0
    for number in sorted({*kept, *dropped}):
        page = store.page(number) if number in kept else store.dropped_page(number)
        verdict = deduplicator.process(page)
        if verdict.match is None:
            numbers[verdict.number] = number
            different += number not in kept
        else:
            different += dropped.get(number) is None
    return different


def politeness(requests: list[tuple[float, float, str, str]], delay: float) -> dict:
    """Of each host, the shortest time between two requests, and the most at a time."""
    by_host = defaultdict(list)
    for came, went, host, target in requests:
        if target != "/robots.txt":
            by_host[host].append((came, went))
    gaps = [
        later[0] - earlier[0]
        for times in by_host.values()
        for earlier, later in zip(sorted(times), sorted(times)[1:], strict=False)
    ]
    close = sum(gap < 0.95 * delay for gap in gaps)
    return {"shortest_gap": round(min(gaps, default=0), 4), "closer_than_delay": close}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", required=True)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--sqlite", action="store_true")
    options = parser.parse_args()
    common = [f"DOWNLOAD_DELAY={options.delay}", "RANDOMIZE_DOWNLOAD_DELAY=0"]
    common += [
        "ROBOTSTXT_OBEY=0",
        "DEDUP_ALLOW_PRIVATE=1",
        "CONCURRENT_REQUESTS=32",
        "DEDUP_READ_PROCESSES=0",
    ]
    common += ["CONCURRENT_REQUESTS_PER_DOMAIN=1"] if options.delay else []
    runs = [("sqlite", 1)] if options.sqlite else []
    runs += [("postgresql", int(n)) for n in options.workers.split(",")]
    for kind, n in runs:
        with tempfile.TemporaryDirectory() as folder:
            jobs_dir = Path(folder)
            site = Site(options.hosts, options.pages, jobs_dir / "requests.log")
            job = f"{kind}_{n}_{os.getpid()}"
            store = [f"DEDUP_STORE={options.address}"] if kind == "postgresql" else []
            try:
                run = crawl(site, jobs_dir, [*common, *store], job, n, options.kills)
            finally:
                site.process.send_signal(signal.SIGTERM)
                site.process.wait()
            place = f"{options.address}#{job}" if store else str(jobs_dir / job)
            with open_store(place, read_only=True) as found:
                result = check(found, site)
            requests = site.requests()
            fetches = [row for row in requests if row[3] != "/robots.txt"]
            result |= politeness(requests, options.delay)
            span = max(row[0] for row in fetches) - min(row[0] for row in fetches)
            result |= {"refetches": len(fetches) - result["pages"], **run}
            result["pages_per_second"] = round(result["pages"] / span, 1)
            print(json.dumps({"store": kind, "workers": n, **result}), flush=True)


if __name__ == "__main__":
    main()
