"""What a crawl that stays takes over many visits, and whether it survives being killed.

    python benchmarks/measurements/kept_crawl.py [--visits 1000] [--pages 60] [--budget 30]
        [--kills 10] [--minutes 0] [--history-days 365] [--seed 1] [--forked | --store]

Serves a small site on loopback, which changes between visits: each page by a rate of its own, and
every twentieth visit a page goes and a new one comes. `dedup crawl --keep 1s` visits it; every
hundred visits or so, at a random moment, the visiting process is killed. After visits 10, 30, 100,
300 and so on, and the last one, a row tells the memory of the process that stays and the peak of a
visit's, the sizes of store and log, the rows that grow, how long a visit and a report take. At the
end, no page may be missing or stored twice, each stored text must be the last one that was served,
and `dedup changes` must tell exactly what the server knows to be new, changed and gone. `--minutes`
ends it early. Most of a short visit's CPU time is the start of Python and Scrapy: with `--forked`,
visits are forked from a process that has imported them, and are otherwise the same. With `--store`,
nothing is fetched: the store alone gets what hourly visits find, with the same choice of pages, the
end of each refresh, and what is summed up and deleted; the clock is the replay's. Pages change at
random moments between visits there, and `fresh_true` is the share of time in which they were as
stored, since the first of the visits that `fresh_measured` counts. A crawl's pages change right
after each visit, which no visit can tell: its `fresh_measured` is too high, as changes count as if
they came at any time.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[2]))

from dedup import cli
from dedup.changes import settle
from dedup.cli import keeping
from dedup.report.page import write_report
from dedup.revisits import Schedule, SharedPassages
from dedup.store import STORE_NAME, JobStore, Page, open_store, summarise
from dedup.store.sql.retention import WHOLE

_FORKING = "forking"

_CHANGES = (0.5, 0.1, 0.1, 0.02, 0.02, 0.005, 0.005, 0.005)
"""Changes a visit, of every eighth page."""

_WORDS = [f"{a}{b}{c}" for a in "bdfklmnprst" for b in "aeiou" for c in ("ne", "ra", "lo", "tis")]


class Site:
    """Pages that change, go and come. `/` links to all; `served` has each answer, in its order."""

    def __init__(self, n_pages: int, seed: int) -> None:
        self._random = random.Random(seed)
        self.versions = dict.fromkeys(range(n_pages), 0)
        self._next = n_pages
        self.served: list[tuple[float, int, int | None]] = []
        """When, which page, and which version; None: it was not there."""
        self.lock = threading.Lock()

    def change(self, n_visits: int) -> None:
        with self.lock:
            for page in self.versions:
                if self._random.random() < _CHANGES[page % len(_CHANGES)]:
                    self.versions[page] += 1
            if n_visits % 20 == 10:
                del self.versions[self._random.choice(list(self.versions))]
                self.versions[self._next] = 0
                self._next += 1

    def answer(self, path: str) -> bytes | None:
        with self.lock:
            if path == "/":
                links = "".join(f'<li><a href="/p/{page}">{page}</a>' for page in self.versions)
                return _html("All pages", f"<ul>{links}</ul>").encode()
            page = int(path.rpartition("/")[2]) if path.startswith("/p/") else -1
            version = self.versions.get(page)
            self.served.append((time.time(), page, version))
            return None if version is None else text_of(page, version).encode()


def text_of(page: int, version: int) -> str:
    """A page of 15 sentences, of which one tells its versions apart."""
    chosen = random.Random(page)
    title = " ".join(chosen.choices(_WORDS, k=3))
    sentences = [" ".join(chosen.choices(_WORDS, k=14)) + "." for _ in range(15)]
    changed = random.Random(f"{page} {version}")
    sentences[version % 15] = " ".join(changed.choices(_WORDS, k=14)) + f" {sign(page, version)}."
    return _html(title, "".join(f"<p>{each}</p>" for each in sentences))


def sign(page: int, version: int) -> str:
    return f"sign{page}x{version}"


def _html(title: str, body: str) -> str:
    menu = '<nav><a href="/">All pages</a></nav>'
    return f"<html><title>{title}</title><body>{menu}<main><h1>{title}</h1>{body}</main></html>"


def serve(site: Site) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = site.answer(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Kept:
    """The crawl that stays, as seen from outside."""

    def __init__(self, url: str, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.log = folder, folder / "keep.log"
        self.job = folder / "crawls/site"
        start = [__file__, _FORKING] if options.forked else ["-m", "dedup.cli"]
        command = [sys.executable, *start, "crawl", url, "--job", "site"]
        command += ["--keep", "1s", "--max-pages", str(options.budget), "--log", str(self.log)]
        command += ["-s", f"DEDUP_HISTORY_DAYS={options.history_days}"]
        command += ["-s", "DEDUP_READ_PROCESSES=0", "-s", "DEDUP_REPORT_ENABLED=0"]
        self.process = subprocess.Popen(command, cwd=folder)
        self.peak_mb = 0.0
        self.n_ended, self._position = 0, 0

    def wait_for_end(self, kill_after: float | None) -> tuple[float, bool]:
        """Wait for the end of a visit; return its seconds, and whether it was killed."""
        began, is_killed, self.peak_mb = time.monotonic(), False, 0.0
        while not self._has_ended():
            child = self.child()
            if child is not None:
                self.peak_mb = max(self.peak_mb, resident_mb(child, "VmHWM"))
                if kill_after is not None and time.monotonic() - began > kill_after:
                    with suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
                        is_killed = True
                    kill_after = None
            time.sleep(0.1)
            if self.process.poll() is not None:
                sys.exit(f"the crawl has ended: {self.process.returncode}; see {self.log}")
        return time.monotonic() - began, is_killed

    def _has_ended(self) -> bool:
        if not self.log.exists():
            return False
        if self.log.stat().st_size < self._position:  # it began anew
            self._position = 0
        with self.log.open("rb") as file:
            file.seek(self._position)
            found = file.read()
        end = found.find(b"keep: exit status ")
        if end < 0:
            return False
        self._position += end + 18
        self.n_ended += 1
        return True

    def child(self) -> int | None:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        with suppress(OSError):
            found = path.read_text().split()
            return int(found[0]) if found else None
        return None

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def resident_mb(pid: int, name: str) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) / 1024
    return 0.0


def size_mb(*paths: Path) -> float:
    return sum(path.stat().st_size for path in paths if path.exists()) / 1e6


def row(
    kept: Kept, n_visits: int, seconds: float, fresh: list[tuple[float, float]]
) -> dict[str, float]:
    began = time.monotonic()
    run("report", str(kept.job), cwd=kept.folder)
    report = time.monotonic() - began
    with closing(sqlite3.connect(kept.job / STORE_NAME)) as store:
        rows = {
            name: store.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in ("visits", "visited", "visit_counts", "versions")
        }
        free = store.execute("PRAGMA freelist_count").fetchone()[0]
        rows["refresh"] = int(
            store.execute("SELECT value FROM meta WHERE name='refresh'").fetchone()[0]
        )
    found = json.loads(run("stats", str(kept.job), "--json", cwd=kept.folder))["freshness"]
    return {
        "visit": n_visits,
        "keeper_mb": round(resident_mb(kept.process.pid, "VmRSS"), 1),
        "visit_peak_mb": round(kept.peak_mb, 1),
        "store_mb": round(size_mb(kept.job / STORE_NAME, kept.job / f"{STORE_NAME}-wal"), 3),
        "free_pages": free,
        "log_mb": round(size_mb(kept.log, kept.log.with_name("keep.log.1")), 3),
        "stats_json_kb": round(1000 * size_mb(kept.job / "stats.json"), 1),
        "report_kb": round(1000 * size_mb(kept.job / "report.html"), 1),
        "visit_s": round(seconds, 2),
        "report_s": round(report, 2),
        **rows,
        "fresh_before": round(sum(before for before, _ in fresh) / len(fresh), 3),
        "fresh_after": round(sum(after for _, after in fresh) / len(fresh), 3),
        "fresh_estimated": round(found["estimated"], 3),
        "fresh_measured": round(found["measured"], 3),
    }


def run(*arguments: str, cwd: Path) -> str:
    command = [sys.executable, "-m", "dedup.cli", *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def is_last(site: Site) -> float:
    """The share of pages whose last answer is what they are."""
    last = {page: version for _, page, version in site.served}
    return sum(last.get(page) == version for page, version in site.versions.items()) / len(
        site.versions
    )


def told_wrongly(site: Site, kept: Kept, url: str) -> dict[str, list[object]]:
    """What the store and `dedup changes` have wrong, by the server's own records."""
    with closing(sqlite3.connect(kept.job / STORE_NAME)) as store:
        began = dict(store.execute("SELECT refresh, seen_at FROM visits WHERE url = ''"))
        urls = [each for (each,) in store.execute("SELECT url FROM pages WHERE url IS NOT NULL")]
    since = sorted(began)[-10]
    then, now, first = {}, {}, {}
    for at, page, version in site.served:
        if page < 0:
            continue
        if version is not None:
            first.setdefault(page, at)
            now[page] = version
        if at <= began[since] and version is not None:
            then[page] = version
    gone_then = {}
    last = {}
    for at, page, version in site.served:
        last[page] = version
        if at <= began[since]:
            gone_then[page] = version is None
    expected = {(f"{url}p/{page}", "new") for page, at in first.items() if at > began[since]}
    expected |= {
        (f"{url}p/{page}", "changed")
        for page in then
        if now[page] != then[page] and last[page] is not None
    }
    expected |= {
        (f"{url}p/{page}", "gone") for page in then if last[page] is None and not gone_then[page]
    }
    found = json.loads(
        run("changes", str(kept.job), "--since", str(since), "--json", cwd=kept.folder)
    )
    told = {(each["url"], each["change"]) for each in found if each["url"] != url}
    stored = {}
    run("export", str(kept.job), "-o", "pages.jsonl", cwd=kept.folder)
    for line in (kept.folder / "pages.jsonl").read_text().splitlines():
        page = json.loads(line)
        stored[page["url"]] = page["text"]
    return {
        "since": [since, len(expected)],
        "not told": sorted(expected - told),
        "told wrongly": sorted(told - expected),
        "stored twice": sorted({each for each in urls if urls.count(each) > 1}),
        "not stored": [page for page in now if f"{url}p/{page}" not in stored],
        "stored otherwise": [
            page
            for page, version in now.items()
            if sign(page, version) not in stored.get(f"{url}p/{page}", "")
        ],
    }


class Forked:
    """A visit that is forked; has what `keep` uses of `subprocess.Popen`."""

    def __init__(self, command: list[str], env: dict[str, str], **_: object) -> None:
        self.returncode: int | None = None
        end, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setpgid(0, 0)
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
                    signal.signal(number, signal.SIG_DFL)
                signal.set_wakeup_fd(-1)
                os.dup2(write_end, 1)
                os.dup2(write_end, 2)
                os.environ.update(env)
                status = cli.main(command[3:])
                logging.shutdown()
                sys.stdout.flush()
                sys.stderr.flush()
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                os._exit(status)
        os.close(write_end)
        self.stdout = os.fdopen(end, "rb")

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def fork_visits() -> None:
    """Be the process that stays, with visits that are forked."""
    import scrapy.core.downloader.handlers.http11  # noqa: F401 -- all of these for the visits

    import dedup.report.page
    import dedup.scrapy.addon
    import dedup.scrapy.extensions.job_files
    import dedup.scrapy.scheduler
    import dedup.scrapy.spiders.site
    import dedup.scrapy.standalone  # noqa: F401

    keeping.subprocess = SimpleNamespace(Popen=Forked, PIPE=-1, STDOUT=-2)  # type: ignore[assignment]
    sys.exit(cli.main(sys.argv[2:]))


def schedule(store: JobStore, now: float) -> Schedule:
    known = store.refreshes.histories
    passages = SharedPassages(known.texts())
    return Schedule(known.histories(), [*known.began(), now], known.visits(), passages)


def store_alone(options: argparse.Namespace) -> None:
    """Give a store what hourly visits find, and print what it takes."""
    site, now, numbers = Site(options.pages, options.seed), [1.7e9], {}
    time.time = lambda: now[0]
    with tempfile.TemporaryDirectory(prefix="kept-") as name, open_store(Path(name)) as store:
        store.set_meta("started", repr(now[0]))

        def page(number: int, version: int) -> Page:
            body = text_of(number, version)
            return Page(
                "", body, url=f"http://a.example/p/{number}", body=body.encode(), fetched_at=now[0]
            )

        def note(number: int) -> None:
            version, url = site.versions.get(number), f"http://a.example/p/{number}"
            if version is None:
                store.refreshes.note_visit(url, "missing")
            elif number not in numbers:
                numbers[number] = store.add(page(number, version), {}), version
            else:
                is_changed = numbers[number][1] != version
                if is_changed:
                    store.refreshes.replace_page(numbers[number][0], page(number, version), {})
                    numbers[number] = numbers[number][0], version
                store.refreshes.note_visit(url, "changed" if is_changed else "unchanged")

        for number in [*site.versions]:
            note(number)
        fresh, chosen = [], random.Random(options.seed)
        for n_visits in range(1, options.visits + 1):
            now[0] += 3_600
            before = dict(site.versions)
            site.change(n_visits)
            stored = {number: version for number, (_, version) in numbers.items()}
            fresh = [*fresh, fresh_share(stored, before, site.versions, chosen)][-WHOLE:]
            order = schedule(store, now[0]).order()[: options.budget]
            store.refreshes.begin(order)
            new = [number for number in site.versions if number not in numbers]
            for number in [*new, *(int(url.rpartition("/")[2]) for url in order)]:
                note(number)
            began = time.process_time()
            settle(store)
            store.refreshes.retention.sum_up(options.history_days)
            store.commit()
            seconds = time.process_time() - began
            if n_visits in (10, 30, 100, 300, 1_000) or n_visits == options.visits:
                began = time.process_time()
                write_report(Path(name))
                report = time.process_time() - began
                found = _of_store(Path(name), n_visits, seconds, report)
                found["fresh_true"] = round(sum(fresh) / len(fresh), 3)
                found["fresh_measured"] = round(summarise(store)["freshness"]["measured"], 3)
                print(json.dumps(found), flush=True)


def fresh_share(
    stored: dict[int, int], before: dict[int, int], now: dict[int, int], chosen: random.Random
) -> float:
    """The share of time in which pages were as stored, from one visit to the next."""
    shares = []
    for page in stored.keys() & now.keys():
        share = float(before.get(page) == stored[page])
        if share and now[page] != stored[page]:  # the moment of the first change
            changes = _CHANGES[page % len(_CHANGES)]
            share = math.log1p(-chosen.random() * changes) / math.log1p(-changes)
        shares.append(share)
    return sum(shares) / len(shares)


def _of_store(folder: Path, n_visits: int, seconds: float, report: float) -> dict[str, float]:
    path = folder / STORE_NAME
    with closing(sqlite3.connect(path)) as store:
        sizes = {
            table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("pages", "visits", "visited", "visit_counts", "versions")
        }
    return {
        "visit": n_visits,
        "store_mb": round(size_mb(path), 3),
        "wal_mb": round(size_mb(path.with_name(f"{STORE_NAME}-wal")), 3),
        **sizes,
        "end_cpu_s": round(seconds, 3),
        "report_cpu_s": round(report, 3),
    }


def main() -> None:
    if sys.argv[1:2] == [_FORKING]:
        fork_visits()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--history-days", type=float, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forked", action="store_true")
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    if options.store:
        store_alone(options)
        return
    site = Site(options.pages, options.seed)
    server = serve(site)
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    chosen = random.Random(options.seed)
    kills = set(chosen.sample(range(5, options.visits - 5), options.kills))
    rows = {each * power for each in (10, 30) for power in (1, 10, 100)} | {500, 700}
    began, n_kills, seconds, before = time.monotonic(), 0, 3.0, 0.0
    fresh: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(prefix="kept-") as name:
        kept = Kept(url, Path(name), options)
        for n_visits in range(options.visits + 1):
            is_late = options.minutes and time.monotonic() - began > 60 * options.minutes
            after = chosen.uniform(0.5, max(seconds, 1.0)) if n_visits in kills else None
            took, is_killed = kept.wait_for_end(after)
            n_kills += is_killed
            seconds = seconds if is_killed else took
            fresh = [*fresh, (before, is_last(site))][-24:]
            if n_visits in rows:
                print(json.dumps(row(kept, n_visits, seconds, fresh)), flush=True)
            if is_late:
                break
            site.change(n_visits)
            before = is_last(site)
        for _ in range(6):  # what is gone is asked for twice
            took, _ = kept.wait_for_end(None)
        print(json.dumps(row(kept, kept.n_ended - 1, took, fresh)), flush=True)
        status = kept.stop()
        wrong = told_wrongly(site, kept, url)
        print(json.dumps({"kills": n_kills, "status": status, **wrong}))
    server.shutdown()
    sys.exit(any(found for name, found in wrong.items() if name != "since"))


if __name__ == "__main__":
    main()
