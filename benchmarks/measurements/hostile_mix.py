"""A crawl of good pages alone, with hostile ones among them, and with a hostile host beside them.

    python benchmarks/measurements/hostile_mix.py [GOOD]

All good pages must be stored, and each hostile one must be on record. With 200 good pages, the last
of them must come at most three times as late with the hostile host as without it.
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
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from hostile_pages import PAGES

from dedup.store import open_store

_ROOT = Path(__file__).parents[2]
_SIZES = (300_000, 1_500_000, 9_000_000)
_HOSTILE = [f"/bad/{n}-{size}.html" for n in range(len(PAGES)) for size in _SIZES]
_HOSTILE += [f"/{kind}/{n}.html" for kind in ("bomb", "cookies", "dropped", "file") for n in "abc"]
_WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]
_PAGE_LINKS = 20
_HOSTILE_HOST = "127.0.0.2"
_ROBOTS = b"User-agent: *\n" + b"Disallow: /*x*y*z*a\n" * 1_250 + b"Disallow: /none/aa\n" * 25_000
_PLACES = ("among", "beside")


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
    links: ClassVar[dict[str, list[str]]] = {}
    """By address of the server."""

    def do_GET(self) -> None:
        host = self.server.server_address[0]
        links = self.links[host]
        kind, _, name = self.path.strip("/").partition("/")
        if kind == "dropped":
            self.close_connection = True
            return
        headers: list[tuple[str, str]] = [("Content-Type", "text/html")]
        status, body = 200, b""
        if host == _HOSTILE_HOST and not kind:
            body = _good(10**6, links)
        elif host == _HOSTILE_HOST and kind == "robots.txt":
            body = _ROBOTS
        elif kind in {"", "good"}:
            number = int(name.removesuffix(".html") or 0) if kind else 0
            body = _good(number, links[number * _PAGE_LINKS : (number + 1) * _PAGE_LINKS])
        elif kind == "bad":
            which, size = name.removesuffix(".html").split("-")
            body = _bodies[int(which), int(size)]
        elif kind == "bomb":
            body = _bomb
            headers.append(("Content-Encoding", "gzip"))
        elif kind == "cookies":
            body = _good(10**6 + ord(name[0]), [])
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


def _crawl(n_good: int, hostile: str) -> Figures:
    """A crawl with hostile pages nowhere (""), "among" the good ones, or on a host "beside"."""
    good = [f"/good/{number}.html" for number in range(1, n_good)]
    # Each page links to the next twenty, so that the hostile ones are met all along.
    links = list(good)
    choose = random.Random(14)
    if hostile == "among":
        for target in _HOSTILE:
            links.insert(choose.randrange(20, len(links)), target)
    _Site.links = {"127.0.0.1": links, _HOSTILE_HOST: choose.sample(_HOSTILE, len(_HOSTILE))}
    servers = [ThreadingHTTPServer((address, 0), _Site) for address in _Site.links]
    for server in servers:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
    urls = [f"http://{server.server_address[0]}:{server.server_port}/" for server in servers]
    url = ",".join(urls if hostile == "beside" else urls[:1])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={url}"]
        command += ["-a", "job=job", "-a", r"deny=/x?\d+$", "-s", f"DEDUP_JOBS_DIR={folder}"]
        before, began = os.times(), time.time()
        subprocess.run(command, cwd=_ROOT, check=True, capture_output=True)
        after = os.times()
        with open_store(Path(folder, "job"), read_only=True) as store:
            times = {page["url"]: page["fetched_at"] for page in store.exports.pages()}
            skipped = {each.url: each.reason for each in store.report.skipped()}
            duplicates = [each["url"] for each in store.exports.duplicates()]
    for server in servers:
        server.shutdown()
        server.server_close()
    path = {each: urlsplit(each).path for each in (*times, *skipped, *duplicates)}
    mine = sorted(
        at for each, at in times.items() if each.startswith(urls[0]) and path[each] in {"/", *good}
    )
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
    plain = _crawl(n_good, "")
    for name, figures in (("alone", plain), *((each, _crawl(n_good, each)) for each in _PLACES)):
        print(
            f"{name}: {figures.good:,} good pages stored, the last after {figures.seconds:.1f} s"
            f" ({figures.seconds / plain.seconds:.1f} times), longest pause {figures.pause:.1f} s,"
            f" {figures.cpu:.1f} s of CPU"
        )
        if figures is not plain:
            outcomes = ", ".join(f"{each} {n}" for each, n in sorted(figures.outcomes.items()))
            print(f"  {len(_HOSTILE)} hostile pages, {len(figures.recorded)} on record: {outcomes}")


if __name__ == "__main__":
    main()
