"""What learned URL rules save and lose in crawls: `url_rules_crawl.py [--url URL] [options]`.

Without `--url`, sites are made and served on loopback: PAGES pages, each under a second URL of a
kind in `KINDS` that a rule calls the same, of which a share shows a page of its own. With `--url`,
a site that is served already. Each mode is a crawl of its own; `katana` follows the links in this
process, by katana's rule (`-fsu`): of a path's children beyond ten one stands for all. `lost` are
pages of which no URL was fetched: of those that were made, or, with `--url`, that the first mode's
crawl has found.
Pages of `redirect` and `canonical` are linked by their second URLs: the site redirects these, or
the page links to its own URL and names it as canonical. The lists of these are linked one by one.
`--max-pages` stops the crawls there. `--plain --modes suggest,defer,suggest,defer` gives the cost
where there is nothing to learn.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from dedup.store import STORE_NAME, open_store

_LINKS_PER_LIST = 100
_OPTIONS = (
    *("-s", "DEDUP_REPORT_ENABLED=0"),
    *("-s", "DEDUP_TRAP_PAGES=0"),
    *("-s", "LOG_LEVEL=WARNING"),
    *("-s", "DEDUP_PROGRESS=off"),
)
_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


KINDS: dict[str, Callable[[int, random.Random], str]] = {
    "parameter": lambda n, draw: f"/page/{n}/?ref=r{draw.randrange(50)}",
    "session": lambda n, draw: f"/page/{n}/?PHPSESSID={draw.getrandbits(128):032x}",
    "tracking": lambda n, draw: f"/page/{n}/?utm_source=s{draw.randrange(20)}",
    "print": lambda n, _: f"/page/{n}/?print=1",
    "folder": lambda n, _: f"/copy/page/{n}/",
    "index": lambda n, _: f"/page/{n}/index.html",
    "redirect": lambda n, _: f"/page/{n}",
    "canonical": lambda n, draw: f"/page/{n}/?ref=r{draw.randrange(50)}",
}
"""The second URL of a page, by what the site is planted with."""


class PlantedSite:
    """Pages by number; a second URL for each, which shows a page of its own for a share of them.

    Attributes:
        shown: names of pages, by targets.
        n_asked: requests.
    """

    def __init__(
        self, kind: str, n_pages: int, share: float, seed: int, *, is_plain: bool = False
    ) -> None:
        draw = random.Random(f"{kind} {n_pages} {share} {seed}")
        self.shown = {f"/page/{number}/": f"page {number}" for number in range(n_pages)}
        for number in () if is_plain else range(n_pages):
            name = "own" if draw.random() < share else "page"
            self.shown[KINDS[kind](number, draw)] = f"{name} {number}"
        self.n_asked = 0
        self.kind = kind
        targets = list(self.shown)[n_pages if kind in ("redirect", "canonical") else 0 :]
        draw.shuffle(targets)
        self.lists = [
            targets[start : start + _LINKS_PER_LIST]
            for start in range(0, len(targets), _LINKS_PER_LIST)
        ]

    def answer(self, target: str) -> bytes | str | None:
        """A page, or where it redirects to."""
        self.n_asked += 1
        if self.kind == "redirect" and target in self.shown and not target.endswith("/"):
            return target + "/"
        if target == "/":
            return page("start", self._later_lists(0))
        if target.startswith("/list/"):
            place = int(target[6:])
            return page(target[1:], [*self._later_lists(place + 1), *self.lists[place]])
        if target not in self.shown:
            return None
        canonical = target.partition("?")[0] if self.kind == "canonical" else ""
        return page(self.shown[target], [canonical] if canonical else [], canonical)

    def _later_lists(self, place: int) -> list[str]:
        """Links to the other lists; where pages are found while others are read, to the next."""
        targets = [f"/list/{each}" for each in range(place, len(self.lists))]
        if self.kind == "canonical":
            return targets[:1]
        return [] if place else targets

    def by_katana(self) -> tuple[int, set[str]]:
        """How many targets katana's rule fetches, and the names of the pages that they show."""
        children: dict[str, set[str]] = {}
        seen: set[str] = set()
        names = set()
        for target in (each for part in self.lists for each in part):
            path, _, query = target.partition("?")
            parent, shape = "", ""
            for segment in path.strip("/").split("/"):
                known = children.setdefault(parent, set())
                known.add(segment)
                parent += f"/{segment}"
                shape += f"/{segment if len(known) <= 10 else '{param}'}"
            if (shape := f"{shape}?{query.partition('=')[0]}") not in seen:
                seen.add(shape)
                names.add(self.shown[target])
        return len(seen), names


def page(name: str, hrefs: list[str], canonical: str = "") -> bytes:
    words = " ".join(random.Random(name).choices(_WORDS, k=120))
    links = "".join(f'<p><a href="{href}">{href}</a></p>' for href in hrefs)
    return (
        f"<!doctype html><meta charset=utf-8><title>{name}</title>"
        + (f'<link rel=canonical href="{canonical}">' if canonical else "")
        + f"<main><h1>{name}</h1><p>{words}.</p></main><nav>{links}</nav>"
    ).encode()


def serve(site: PlantedSite) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = site.answer(self.path)
            if isinstance(body, str):
                self.send_response(301)
                self.send_header("Location", body)
                body = b""
            else:
                self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


def crawl(url: str, mode: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={url}", *_OPTIONS]
    command += ["-s", f"DEDUP_URL_LEARNING={mode}", "-s", f"JOBDIR={folder}"]
    command += ["-s", f"DEDUP_URL_LEARNING_LOSS={options.loss}"]
    command += ["-a", f"max_pages={options.max_pages}"] if options.max_pages else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, check=True)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = json.loads((folder / "stats.json").read_text())
    store_bytes = sum(each.stat().st_size for each in folder.glob(f"{STORE_NAME}*"))
    with open_store(folder, read_only=True) as store:
        original = {str(each["url"]): str(each["url"]) for each in store.pages()}
        original |= {str(each["url"]): str(each["duplicate_of_url"]) for each in store.duplicates()}
        titles = {str(each["title"]) for each in store.pages()}
        known = store.url_knowledge.all_rules()
        rules = [
            f"{rule.name}: {rule.stage}, {rule.pairs} for, {rule.against} against,"
            f" {rule.deferred} put off"
            for rule in known
            if rule.pairs > 1
        ]
        size_bytes = sum(len(rule.to_json()) for rule in known)
    return {
        "fetched": stats["pages"]["fetched"],
        "original": original,
        "titles": titles,
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "skipped": stats["failed"].get("learned_rule", 0),
        "rules": rules,
        "size_bytes": size_bytes,
        "store_bytes": store_bytes,
    }


def n_lost(groups: dict[str, str], fetched: dict[str, str]) -> int:
    """Of the pages of one crawl, by their URLs, those of which another fetched no URL."""
    found = {groups[url] for url in fetched if url in groups}
    return len(set(groups.values()) - found)


def compare(
    name: str, url: str, options: argparse.Namespace, site: PlantedSite | None = None
) -> list[Row]:
    """Crawl a site in each mode; print and return what was fetched, found and lost."""
    print(f"{name}:", flush=True)
    names = set() if site is None else set(site.shown.values())
    groups: dict[str, str] = {}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for place, mode in enumerate(options.modes.split(",")):
            n_before = 0 if site is None else site.n_asked
            found = crawl(url, mode, Path(folder, str(place)), options)
            groups = groups or found["original"]
            lost = len(names - found["titles"]) if names else n_lost(groups, found["original"])
            pages = len(set(found["original"].values()))
            rows.append(Row(mode, found["fetched"], pages, lost, found["skipped"]))
            print(
                f"  {rows[-1]}"
                f" {found['fetched'] / found['seconds']:5.0f} pages/s,"
                f" {1000 * found['cpu'] / found['fetched']:.2f} ms CPU a page,"
                f" {found['store_bytes'] / found['fetched']:,.0f} bytes of store a page",
                flush=True,
            )
            if site is not None:
                print(f"    {site.n_asked - n_before:,} requests")
            if mode != "suggest":
                print(f"    {found['size_bytes']:,} bytes of rules")
            for rule in found["rules"]:
                print(f"    {rule}")
    return rows


class Row(NamedTuple):
    """What a crawl has fetched, found and lost."""

    mode: str
    fetched: int
    pages: int
    lost: int
    skipped: int

    def __str__(self) -> str:
        return (
            f"{self.mode:8} fetched {self.fetched:6,}, pages {self.pages:6,},"
            f" lost {self.lost:4,}, skipped {self.skipped:6,},"
        )


def planted(kind: str, share: float, seed: int, options: argparse.Namespace) -> list[Row]:
    """Crawl a site that is made, in each mode and by katana's rule."""
    site = PlantedSite(kind, options.pages, share, seed, is_plain=options.plain)
    names = set(site.shown.values())
    server = serve(site)
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        name = f"{kind}, {options.pages:,} pages twice, {share:.1%} own pages, seed {seed}"
        rows = compare(name, url, options, site)
    finally:
        server.shutdown()
        server.server_close()
    n_fetched, found = site.by_katana()
    rows.append(Row("katana", n_fetched, len(found), len(names - found), 0))
    print(f"  {rows[-1]}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--kinds", default="parameter", help=", ".join(KINDS))
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--shares", default="0,0.001,0.01,0.05")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--modes", default="suggest,defer,skip")
    parser.add_argument("--loss", type=float, default=0.001)
    parser.add_argument("--max-pages", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no second URLs: nothing to learn")
    options = parser.parse_args()
    if options.url:
        compare(options.url, options.url, options)
        return
    totals: dict[tuple[str, float, str], list[Row]] = {}
    for seed in range(options.seeds):
        for share in map(float, options.shares.split(",")):
            for kind in options.kinds.split(","):
                for row in planted(kind, share, seed, options):
                    totals.setdefault((kind, share, row.mode), []).append(row)
    for (kind, share, mode), rows in sorted(totals.items()):
        n_fetched = sum(row.fetched for row in rows) / len(rows)
        print(
            f"{kind}, {share:.1%} own pages, {mode}: fetched {n_fetched:,.0f} on average, lost"
            f" {max(row.lost for row in rows)} at most, of {len(rows)} crawls"
        )


if __name__ == "__main__":
    main()
