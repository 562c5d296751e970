"""What learned URL rules save and lose in crawls: `url_rules_crawl.py [--url URL] [options]`.

Without `--url`, sites are made and served on loopback: PAGES pages, each under a second URL that a
rule calls the same (`/page/7?ref=r3`), of which a share shows a page of its own. With `--url`, a
site that is served already. Each mode is a crawl of its own. `lost` are pages of which no URL was
fetched: of those that were made, or, with `--url`, that the first mode's crawl has found.
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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from dedup.store import open_store

_LINKS_PER_LIST = 100
_OPTIONS = ("-s", "DEDUP_REPORT_ENABLED=0", "-s", "LOG_LEVEL=WARNING", "-s", "DEDUP_PROGRESS=off")
_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


class PlantedSite:
    """Pages by number; a second URL for each, which shows a page of its own for a share of them."""

    def __init__(self, n_pages: int, share: float, seed: int, *, is_plain: bool = False) -> None:
        draw = random.Random(f"{n_pages} {share} {seed}")
        self.own = {number for number in range(n_pages) if draw.random() < share}
        targets = [f"/page/{number}" for number in range(n_pages)]
        if not is_plain:
            targets += [f"/page/{number}?ref=r{draw.randrange(50)}" for number in range(n_pages)]
        draw.shuffle(targets)
        self.lists = [
            targets[start : start + _LINKS_PER_LIST]
            for start in range(0, len(targets), _LINKS_PER_LIST)
        ]

    def answer(self, target: str) -> bytes | None:
        if target == "/":
            return page("start", [f"/list/{place}" for place in range(len(self.lists))])
        kind, _, rest = target.strip("/").partition("/")
        number, _, query = rest.partition("?")
        if kind == "list":
            return page(f"list {number}", self.lists[int(number)])
        if kind != "page":
            return None
        is_own = bool(query) and int(number) in self.own
        return page(f"own {number}" if is_own else f"page {number}", [])


def page(name: str, hrefs: list[str]) -> bytes:
    words = " ".join(random.Random(name).choices(_WORDS, k=120))
    links = "".join(f'<p><a href="{href}">{href}</a></p>' for href in hrefs)
    return (
        f"<!doctype html><meta charset=utf-8><title>{name}</title>"
        f"<main><h1>{name}</h1><p>{words}.</p></main><nav>{links}</nav>"
    ).encode()


def serve(site: PlantedSite) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = site.answer(self.path)
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


def crawl(url: str, mode: str, folder: Path, options: argparse.Namespace) -> dict[str, object]:
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
    with open_store(folder, read_only=True) as store:
        original = {str(each["url"]): str(each["url"]) for each in store.pages()}
        original |= {str(each["url"]): str(each["duplicate_of_url"]) for each in store.duplicates()}
        titles = {str(each["title"]) for each in store.pages()}
        known = store.url_knowledge.all_rules()
        rules = [
            f"{rule.name}: {rule.stage}, {rule.pairs} for, {rule.against} against,"
            f" {rule.deferred} put off, {rule.skipped} skipped"
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
    }


def n_lost(groups: dict[str, str], fetched: dict[str, str]) -> int:
    """Of the pages of one crawl, by their URLs, those of which another fetched no URL."""
    found = {groups[url] for url in fetched if url in groups}
    return len(set(groups.values()) - found)


def compare(name: str, url: str, options: argparse.Namespace, names: set[str]) -> None:
    print(f"{name}:", flush=True)
    groups: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for place, mode in enumerate(options.modes.split(",")):
            found = crawl(url, mode, Path(folder, str(place)), options)
            groups = groups or found["original"]
            lost = len(names - found["titles"]) if names else n_lost(groups, found["original"])
            pages = len(set(found["original"].values()))
            print(
                f"  {mode:8} fetched {found['fetched']:6,}, pages {pages:6,},"
                f" lost {lost:4,}, skipped {found['skipped']:6,},"
                f" {found['fetched'] / found['seconds']:5.0f} pages/s,"
                f" {1000 * found['cpu'] / found['fetched']:.2f} ms CPU a page",
                flush=True,
            )
            if mode != "suggest":
                print(f"    {found['size_bytes']:,} bytes of rules")
            for rule in found["rules"]:
                print(f"    {rule}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--shares", default="0,0.001,0.01,0.05")
    parser.add_argument("--modes", default="suggest,defer,skip")
    parser.add_argument("--loss", type=float, default=0.001)
    parser.add_argument("--max-pages", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no second URLs: nothing to learn")
    options = parser.parse_args()
    if options.url:
        compare(options.url, options.url, options, set())
        return
    for seed, share in enumerate(map(float, options.shares.split(","))):
        site = PlantedSite(options.pages, share, seed, is_plain=options.plain)
        names = {f"page {number}" for number in range(options.pages)}
        names |= {f"own {number}" for number in site.own}
        server = serve(site)
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/"
            compare(f"{options.pages:,} pages twice, {share:.1%} own pages", url, options, names)
        finally:
            server.shutdown()


if __name__ == "__main__":
    main()
