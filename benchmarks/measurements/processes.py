"""One crawl by several processes of this machine, beside one process: speed, texts, kills.

    python benchmarks/measurements/processes.py FOLDER [FOLDER] [--list] [--processes 1,2]
        [--runs 1] [--kills 0] [--parent-kills 0] [-s NAME=VALUE]

Serves the HTML files of each FOLDER on a loopback address of its own, and crawls all of them as one
job, by each number of processes in turn, RUNS times: by links from the index.html of each, or with
`--list` by a list of its files, which are dealt to two addresses where there is one folder. A line
of JSON for each crawl:

- pages a second between the first and the last page, CPU seconds of all processes, and of the
  busiest one: on idle cores a crawl takes at least that long;
- what differs from the first crawl: URLs on record, and texts kept. Which of two near duplicates is
  kept depends on their order, so two crawls by one process differ, too;
- verdicts that one process would not have reached, fed in the order of the numbers;
- URLs recorded twice.

`--kills N` kills a process of the crawl N times, `--parent-kills N` the one that started the
others, and reruns the command; only where several crawl.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from benchmarks.measurements.cluster import other_verdicts, recorded_urls  # noqa: E402 -- in order
from dedup.store import JobStore, open_store  # noqa: E402 -- in order

_SETTINGS = ["DEDUP_ALLOW_PRIVATE=1", "ROBOTSTXT_OBEY=0", "DEDUP_WORKER_LEASE_SECONDS=20"]


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """The crawl's own records are enough."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """A client that was killed."""


def serve(address: str, folder: str) -> tuple[multiprocessing.Process, str]:
    """Serve a folder in a process of its own; return that and its URL."""
    server = _Server((address, 0), partial(_Handler, directory=folder))
    process = multiprocessing.Process(target=server.serve_forever, daemon=True)
    process.start()
    return process, f"http://{address}:{server.server_port}/"


def urls_of(folders: list[Path], hosts: list[str]) -> list[str]:
    """The URLs of all HTML files; those of a single folder are dealt to all hosts."""
    found = []
    for folder, host in zip(folders, hosts, strict=False):
        files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
        of_hosts = hosts if len(folders) == 1 else [host]
        found += [of_hosts[n % len(of_hosts)] + quote(file) for n, file in enumerate(files)]
    return found


def children(pid: int) -> list[int]:
    """The processes that crawl, of the one that started them."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


def cpu_seconds_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busiest(pid: int) -> float:
    """The most CPU seconds of a process and those that it has started."""
    return max([cpu_seconds_of(pid), *(busiest(child) for child in children(pid))])


def run(command: list[str], kill: Callable[[int], bool], cost: Counter[str]) -> int:
    """Run a command to its end, or until `kill` has killed it; return its status."""
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL)
    most = 0.0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            cost.update(runs=1, cpu=usage.ru_utime + usage.ru_stime, busiest=most)
            return process.returncode
        time.sleep(0.2)
        most = max(most, busiest(process.pid))
        kill(process.pid)


class Killer:
    """Kills processes of a crawl when the job has had some more pages each time."""

    def __init__(self, job: Path, n_pages: int, kills: int, parent_kills: int) -> None:
        self._job = job
        kinds = ["child"] * kills + ["parent"] * parent_kills
        random.Random(1).shuffle(kinds)
        step = n_pages / (len(kinds) + 1)
        self._left = [(int(step * (n + 1)), kind) for n, kind in enumerate(kinds)]

    def __call__(self, pid: int) -> bool:
        if (
            not self._left
            or len(running := children(pid)) < 2
            or self._n_pages() < self._left[0][0]
        ):
            return False
        _, kind = self._left.pop(0)
        os.kill(pid if kind == "parent" else random.choice(running), signal.SIGKILL)
        return True

    def _n_pages(self) -> int:
        with open_store(self._job, read_only=True) as store:
            return store.stats.fetched()


def summary(store: JobStore) -> dict[str, object]:
    kept = set(store.exports.page_numbers())
    rows = list(store.exports.duplicate_rows())
    fetched = [float(row["fetched_at"]) for row in store.exports.pages()]
    recorded = Counter(recorded_urls(store))
    return {
        "pages": store.stats.fetched(),
        "seconds": max(fetched) - min(fetched),
        "unique": len(kept),
        "urls": set(recorded),
        "twice": sum(count - 1 for count in recorded.values()),
        "texts": {sha256(store.page(number).text.encode()).digest() for number in kept},
        "other_verdicts": other_verdicts(store, kept, {row.number: row.original for row in rows}),
    }


def crawl(options: argparse.Namespace, hosts: list[str], n: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        job = Path(name, "job")
        what = ["site", "-a", f"url={','.join(host + 'index.html' for host in hosts)}"]
        urls = urls_of(options.folders, hosts)
        if options.list:
            file = Path(name, "urls.txt")
            file.write_text("\n".join(urls))
            what = ["urls", "-a", f"file={file}"]
        command = [sys.executable, "-m", "scrapy", "crawl", *what, "-a", "job=job"]
        for each in (*_SETTINGS, *options.settings):
            command += ["-s", each]
        command += ["-s", f"DEDUP_PROCESSES={n}", "-s", f"DEDUP_JOBS_DIR={name}"]
        command += ["-s", "DEDUP_REPORT_ENABLED=0", "-s", "DEDUP_PROGRESS=off"]
        faults = (options.kills, options.parent_kills) if n > 1 else (0, 0)
        killer = Killer(job, len(urls), *faults)
        status, cost = -signal.SIGKILL, Counter[str]()
        began = time.monotonic()
        while status == -signal.SIGKILL:
            status = run(command, killer, cost)
        cost["wall"] = time.monotonic() - began
        with open_store(job, read_only=True) as store:
            found = summary(store)
    figures = {name: round(value, 1) for name, value in cost.items()}
    return {"processes": n, "status": status, **figures, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--processes", default="1,2")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--parent-kills", type=int, default=0)
    parser.add_argument("-s", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    options = parser.parse_args()
    served = options.folders if len(options.folders) > 1 else options.folders * 2
    servers = [serve(f"127.0.0.{n + 2}", str(folder)) for n, folder in enumerate(served)]
    first: dict[str, object] = {}
    for n in [int(each) for each in options.processes.split(",")] * options.runs:
        found = crawl(options, [url for _, url in servers], n)
        first = first or dict(found)
        for name in ("urls", "texts"):
            found[f"other_{name}"] = len(found.pop(name) ^ first[name])
        seconds = float(found.pop("seconds"))
        print(json.dumps({**found, "pages_per_second": round(found["pages"] / seconds, 1)}))
        sys.stdout.flush()
    for process, _ in servers:
        process.terminate()


if __name__ == "__main__":
    main()
