"""A crawl of 2,000 good pages with 60 hostile ones mixed in, beside the same without those.

    python benchmarks/measurements/hostile_mix.py [GOOD]

All good pages must be stored, the last of them within 1.25 times the time of the plain crawl plus
the CPU seconds that the hostile ones took; each of these must be on record.
"""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hostile_pages import PAGES

from dedup.store import open_store

_ROOT = Path(__file__).parents[2]
_SIZES = (300_000, 1_500_000, 9_000_000)
_HOSTILE = [f"/bad/{n}-{size}.html" for n in range(len(PAGES)) for size in _SIZES]
_HOSTILE += [f"/{kind}/{n}.html" for kind in ("bomb", "cookies", "dropped", "file") for n in "abc"]
_WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]
_PAGE_LINKS = 20


class Figures(NamedTuple):
    """Of one crawl; `seconds` until the last good page was there, `pause` the longest without."""

    good: int
    seconds: float
    pause: float
    cpu: float
    outcomes: Counter[str]
    recorded: set[str]


def _good(number: int, links: list[str]) -> bytes:
    choose = random.Random(number)
    text = " ".join(choose.choices(_WORDS, k=250))
    nav = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>Page {number}</title></head><body><h1>Page {number}"
        f"</h1><main><p>{text}</p></main><nav><ul>{nav}</ul></nav></body></html>"
    ).encode()


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    links: list[str] = []  # noqa: RUF012 -- set once for all

    def do_GET(self) -> None:
        kind, _, name = self.path.strip("/").partition("/")
        if kind == "dropped":
            self.close_connection = True
            return
        headers: list[tuple[str, str]] = [("Content-Type", "text/html")]
        status, body = 200, b""
        if kind in {"", "good"}:
            number = int(name.removesuffix(".html") or 0) if kind else 0
            body = _good(number, self.links[number * _PAGE_LINKS : (number + 1) * _PAGE_LINKS])
        elif kind == "bad":
            which, size = name.removesuffix(".html").split("-")
            body = _bodies[int(which), int(size)]
        elif kind == "bomb":
            body = _bomb
            headers.append(("Content-Encoding", "gzip"))
        elif kind == "cookies":
            body = _good(-ord(name[0]), [])
            headers += [("Set-Cookie", f"c{n}={'x' * 4000}") for n in range(200)]
        elif kind == "file":
            status = 302
            headers.append(("Location", "file:///etc/hostname"))
        else:
            status = 404
        self.send_response(status)
        for header in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


_bodies = {(n, size): make(size) for n, make in enumerate(PAGES.values()) for size in _SIZES}
_bomb = gzip.compress(bytes(200_000_000), 9)


def _crawl(n_good: int, *, with_hostile: bool) -> Figures:
    good = [f"/good/{number}.html" for number in range(1, n_good)]
    # Each page links to the next twenty, so that the hostile ones are met all along.
    links = list(good)
    choose = random.Random(14)
    if with_hostile:
        for target in _HOSTILE:
            links.insert(choose.randrange(20, len(links)), target)
    _Site.links = links
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={url}"]
        command += ["-a", "job=job", "-a", r"deny=/x?\d+$", "-s", f"DEDUP_JOBS_DIR={folder}"]
        before, began = os.times(), time.time()
        subprocess.run(command, cwd=_ROOT, check=True, capture_output=True)
        after = os.times()
        with open_store(Path(folder, "job"), read_only=True) as store:
            times = {page["url"]: page["fetched_at"] for page in store.pages()}
            skipped = store.skipped_urls()
            duplicates = [each["url"] for each in store.duplicates()]
    server.shutdown()
    server.server_close()
    path = {each: urlsplit(each).path for each in (*times, *skipped, *duplicates)}
    mine = sorted(at for each, at in times.items() if path[each] in {"/", *good})
    outcomes = Counter(reason for each, reason in skipped.items() if path[each] in _HOSTILE)
    outcomes["stored"] = sum(path[each] in _HOSTILE for each in times)
    outcomes["duplicate"] = sum(path[each] in _HOSTILE for each in duplicates)
    return Figures(
        good=len(mine),
        seconds=mine[-1] - began,
        pause=max(later - earlier for earlier, later in pairwise(mine)),
        cpu=sum(after[2:4]) - sum(before[2:4]),
        outcomes=outcomes,
        recorded={path[each] for each in path} & set(_HOSTILE),
    )


def main() -> None:
    n_good = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    plain = _crawl(n_good, with_hostile=False)
    mixed = _crawl(n_good, with_hostile=True)
    for name, figures in (("plain", plain), ("mixed", mixed)):
        print(
            f"{name}: {figures.good:,} good pages stored, the last after {figures.seconds:.1f} s,"
            f" longest pause {figures.pause:.1f} s, {figures.cpu:.1f} s of CPU"
        )
    allowed: Any = 1.25 * plain.seconds + mixed.cpu - plain.cpu
    print(f"allowed for the last good page: {allowed:.1f} s")
    outcomes = ", ".join(f"{name} {count}" for name, count in sorted(mixed.outcomes.items()))
    print(f"{len(_HOSTILE)} hostile pages, {len(mixed.recorded)} on record: {outcomes}")


if __name__ == "__main__":
    main()
