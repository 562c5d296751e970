"""One crawl by many processes: the same verdicts, nothing lost, polite, and how fast.

    python -m benchmarks.measurements.cluster --address postgresql://USER@HOST/DATABASE
        [--workers 1,2,4] [--hosts 200] [--pages 20] [--delay 0] [--sqlite]
        [--kills 0] [--freezes 0] [--cuts 0] [--restarts 0 --server DATA_FOLDER]

Crawls HOSTS hosts of PAGES pages on loopback, with copies planted among them, by each number of
processes in turn, into a new job each time, and checks:

- each page of the site is on record once: none lost, none twice; counts reconcile;
- the verdicts are those of one process that is fed in the order of the numbers;
- each dropped page has an original that was kept, and no two kept pages of one planted text are
  one page by the second check;
- of each host no two requests are closer than the delay (from the server's log).

While they work, at random moments:

- `--kills N`: a worker is killed (SIGKILL), and another one is started;
- `--freezes N`: a worker is stopped (SIGSTOP) for longer than its lease of 5 s, and goes on;
- `--cuts N`: of the first worker, which reaches the server through a proxy, nothing is forwarded
  for 20 s, longer than its lease;
- `--restarts N`: the server is killed (SIGKILL of all its processes), and started again; its data
  folder is `--server`.

A worker that ends because it was shut out is started again, as a service is. With `--sqlite` one
process crawls into SQLite first, to compare with.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measurements.cluster_faults import Faults
from benchmarks.measurements.cluster_site import family, host_name, urls
from dedup import Deduplicator
from dedup.config import DedupConfig
from dedup.detectors.second_check import SecondCheck
from dedup.store import JobStore, open_store, summarise

ROOT = Path(__file__).parents[2]
FAULTS = ("kills", "freezes", "cuts", "restarts")


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
    site: Site,
    jobs_dir: Path,
    settings: list[str],
    job: str,
    name: str,
    python: Sequence[str] = (),
) -> subprocess.Popen:
    command = [sys.executable, *python, "-m", "scrapy", "crawl", "site"]
    command += ["-a", f"url={site.start}", "-a", f"job={job}", "-s", f"DEDUP_JOBS_DIR={jobs_dir}"]
    for each in settings:
        command += ["-s", each]
    with (jobs_dir / f"{name}.log").open("w") as output:
        return subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )


def crawl(start: Callable[[str], subprocess.Popen], n: int, faults: Faults) -> dict:
    """Run the workers to their end; return seconds, faults and exit codes.

    Args:
        start: starts a worker of a name.
    """
    began = time.monotonic()
    names = map("worker-{}".format, range(10**6))
    running = [start(next(names)) for _ in range(n)]
    codes = Counter()
    is_done = False
    while running:
        time.sleep(0.1)
        for each in [each for each in running if each.poll() is not None]:
            running.remove(each)
            codes[each.returncode] += 1
            is_done = is_done or each.returncode == 0
            if each.returncode != 0 and not is_done:
                running.append(start(next(names)))
        faults.happen(running)
    seconds = round(time.monotonic() - began, 1)
    return {"seconds": seconds, "faults": dict(faults.counts), "codes": dict(codes)}


def recorded_urls(store: JobStore) -> list[str]:
    """The URLs of all records: stored pages, dropped ones, and URLs that were skipped."""
    pages = (*store.exports.pages(), *store.exports.duplicates())
    return [*(row["url"] for row in pages), *(row.url for row in store.report.skipped())]


def check(store: JobStore, site: Site) -> dict:
    """Compare what is on record with the site, and with one process in the order of the numbers."""
    expected = set(urls(site.n_hosts, site.n_pages, site.port))
    recorded = Counter(recorded_urls(store))
    counts = summarise(store)
    pages = counts["pages"]
    total = pages["unique"] + sum(pages["duplicates"].values()) + sum(pages["skipped"].values())
    kept = set(store.exports.page_numbers())
    rows = list(store.exports.duplicate_rows())
    return {
        "pages": len(expected),
        "unique": pages["unique"],
        "duplicates": pages["duplicates"],
        "lost": len(expected - set(recorded)),
        "twice": sum(count - 1 for count in recorded.values()),
        "reconciled": total == pages["fetched"] == len(recorded) and not pages["waiting"],
        "without_original": sum(row.original not in kept for row in rows),
        "kept_twice": kept_twice(store, site, kept),
        "other_verdicts": other_verdicts(store, kept, {row.number: row.original for row in rows}),
        "left_hosts": counts["urls"]["queued"],
    }


def kept_twice(store: JobStore, site: Site, kept: set[int]) -> int:
    """How many pairs of kept pages with one planted text are one page by the second check."""
    size = site.n_hosts, site.n_pages
    places = [(host, number) for host in range(site.n_hosts) for number in range(site.n_pages)]
    of_url = dict(
        zip(urls(*size, site.port), (family(*place, *size) for place in places), strict=True)
    )
    families = defaultdict(list)
    for number in sorted(kept):
        if (found := of_url[store.label(number)[1]]) is not None:
            families[found].append(number)
    config = DedupConfig()
    check = SecondCheck(
        store.document,
        near_resemblance=config.near_resemblance,
        short_shingles=config.short_shingles,
        names=config.near_names,
    )
    return sum(
        check.is_equal(page, store.document(earlier)) or check.nearest(page, [earlier]) is not None
        for numbers in families.values()
        for place, number in enumerate(numbers)
        for page in [store.document(number)]
        for earlier in numbers[:place]
    )


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
    for fault in FAULTS:
        parser.add_argument(f"--{fault}", type=int, default=0)
    parser.add_argument("--server", type=Path)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--sqlite", action="store_true")
    options = parser.parse_args()
    common = [f"DOWNLOAD_DELAY={options.delay}", "RANDOMIZE_DOWNLOAD_DELAY=0"]
    common += [
        "ROBOTSTXT_OBEY=0",
        "DEDUP_ALLOW_PRIVATE=1",
        "CONCURRENT_REQUESTS=32",
        "DEDUP_READ_PROCESSES=0",
        "DEDUP_WORKER_LEASE_SECONDS=5",
    ]
    common += ["CONCURRENT_REQUESTS_PER_DOMAIN=1"] if options.delay else []
    runs = [("sqlite", 1)] if options.sqlite else []
    runs += [("postgresql", int(n)) for n in options.workers.split(",")]
    for kind, n in runs:
        print(json.dumps({"store": kind, "workers": n, **_measured(options, common, kind, n)}))
        sys.stdout.flush()


def _measured(options: argparse.Namespace, common: list[str], kind: str, n: int) -> dict:
    """Crawl a new site into a new job by `n` processes; return what was found."""
    is_shared = kind == "postgresql"
    counts = {each: getattr(options, each) for each in FAULTS} if is_shared else {}
    job = f"{kind}_{n}_{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        jobs_dir = Path(folder)
        site = Site(options.hosts, options.pages, jobs_dir / "requests.log")
        faults = Faults(counts, options.address, options.server, site.log, seed=n)

        def start(name: str) -> subprocess.Popen:
            store = [f"DEDUP_STORE={faults.address_of(name)}"] if is_shared else []
            return worker(site, jobs_dir, [*common, *store], job, f"{job}-{name}")

        try:
            run = crawl(start, n, faults)
        finally:
            faults.close()
            site.process.send_signal(signal.SIGTERM)
            site.process.wait()
        place = f"{options.address}#{job}" if is_shared else str(jobs_dir / job)
        with open_store(place, read_only=True) as store:
            result = check(store, site)
        requests = site.requests()
        said = Counter(each for log in jobs_dir.glob("*.log") for each in _complaints(log))
    fetches = [row for row in requests if row[3] != "/robots.txt"]
    result |= politeness(requests, options.delay)
    span = max(row[0] for row in fetches) - min(row[0] for row in fetches)
    result |= {"refetches": len(fetches) - result["pages"], **run, "said": dict(said)}
    result["pages_per_second"] = round(result["pages"] / span, 1)
    return result


def _complaints(log: Path) -> set[str]:
    """What a worker had to say of the database."""
    lines = [line for line in log.read_text().splitlines() if "#" in line]
    return {line.split(": ", 2)[1] for line in lines if line.count(": ") > 1 and "job:" not in line}


if __name__ == "__main__":
    main()
