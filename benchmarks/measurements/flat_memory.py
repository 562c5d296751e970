"""Does a long crawl slow down, and does its memory grow by more than its index?

Crawls a site made up as it is asked for.

Run: python benchmarks/measurements/flat_memory.py [--pages 100000] [--samples 20]

A process of its own serves pages on loopback: `/0`, `/1`, … without end, each with a text of its
own, but every fifth repeats the text of an earlier page, and every tenth is nearly that of one. A
page links to its ten neighbours before, which were seen, and to a few after it, so the queue stays
short: what grows is the rest. The memory of `scrapy crawl site` and of the processes that read its
pages is read from the system beside the number of pages in its store; its growth in each fifth of
the crawl is set beside the bytes that `stats.json` states for the index and the URL filter. Caches
of fixed size fill first: 64 MB of compared originals, 64 MB of the store's pages, 10 MB of recent
URLs. They are full after some 80,000 pages; a leak shows in the last fifth. Of each tenth of the
crawl: pages/s, CPU time a page (on a busy machine the clock says little), and bytes of the store.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from dedup.errors import StateError
from dedup.store import STORE_NAME, open_store

_ROOT = Path(__file__).parents[2]
_AHEAD = 16  # links to pages not seen yet: enough to keep all connections busy
_BEHIND = 10
_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi", "tu") for b in "nrstv" for c in "aeiou"]


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of a crawl: pages in its store, seconds by the clock and of CPU, bytes."""

    pages: int
    seconds: float
    cpu_seconds: float
    memory_bytes: int
    store_bytes: int


def text_of(number: int) -> str:
    """A hundred words; the same as an earlier page's, or nearly, for one number in three."""
    if number >= 100 and number % 10 in {4, 9}:
        return text_of(number - 51)
    words = random.Random(number).choices(_WORDS, k=100)
    if number >= 100 and number % 10 == 7:
        words = [*text_of(number - 44).split(), f"number{number}"]
    return " ".join(words)


def page_of(number: int) -> bytes:
    near = [*range(max(number - _BEHIND, 0), number), *range(number + 1, number + 1 + _AHEAD)]
    links = "".join(f'<li><a href="/{other}">page {other}</a>' for other in near)
    return (
        f"<!doctype html><meta charset=utf-8><title>Page {number}</title>"
        f"<main><p>{text_of(number)}.</p></main><nav><ul>{links}</ul></nav>"
    ).encode()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            target = head.split(b" ", 2)[1].strip(b"/")
            is_page = target.isdigit()
            body = page_of(int(target)) if is_page else b""
            status = b"200 OK" if is_page else b"404 Not Found"
            writer.write(
                b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
                % (status, len(body), body)
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def serve(told: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def crawl(port: int, pages: int, folder: Path, options: list[str]) -> list[Sample]:
    """Samples from the start of the crawl to its end."""
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", "job=flat"]
    command += ["-a", f"url=http://127.0.0.1:{port}/0", "-a", f"max_pages={pages}"]
    command += ["-s", f"DEDUP_JOBS_DIR={folder}", "-s", "DEDUP_TRAP_PAGES=0", *options]
    samples: list[Sample] = []
    with subprocess.Popen(command, cwd=_ROOT) as process:
        while process.poll() is None:
            time.sleep(1)
            count = _count(folder / "flat")
            processes = [process.pid, *_children(process.pid)]
            memory = sum(map(_resident_bytes, processes))
            cpu = sum(map(_cpu_seconds, processes))
            if count and _has_gone_on(samples, count, cpu):
                size = sum(each.stat().st_size for each in (folder / "flat").glob(f"{STORE_NAME}*"))
                samples.append(Sample(count, time.monotonic(), cpu, memory, size))
    return samples


def _has_gone_on(samples: list[Sample], n_pages: int, cpu_seconds: float) -> bool:
    """Are there more pages than at the last sample, and no fewer processes?"""
    last = samples[-1] if samples else Sample(0, 0.0, 0.0, 0, 0)
    return n_pages > last.pages and cpu_seconds > last.cpu_seconds


def _count(folder: Path) -> int:
    try:
        with open_store(folder, read_only=True) as store:
            return store.decisions.count()
    except StateError:  # not made yet, or in the middle of it
        return 0


def _children(process: int) -> list[int]:
    """The processes that read pages."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(number) for number in listed.split()]


def _resident_bytes(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cpu_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=20, help="lines to print")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory(prefix="dedup-flat-") as name:
        settings = [word for setting in options.setting for word in ("-s", setting)]
        samples = crawl(ours.recv(), options.pages, Path(name), settings)
        stats = json.loads((Path(name) / "flat" / "stats.json").read_text())
    server.terminate()
    report(samples, stats, options.samples)


def report(samples: list[Sample], stats: dict, lines: int) -> None:
    for each in samples[:: max(len(samples) // lines, 1)]:
        print(f"{each.pages:>9,} pages {each.memory_bytes / 1e6:8.1f} MB")
    for tenth in range(10):
        bounds = (samples[-1].pages * part / 10 for part in (tenth, tenth + 1))
        first, last = (min(samples, key=lambda each: abs(each.pages - bound)) for bound in bounds)
        if first is not last:
            n_pages = last.pages - first.pages
            print(
                f"{first.pages:>9,} to {last.pages:>9,} pages:"
                f" {n_pages / (last.seconds - first.seconds):6.1f} pages/s,"
                f" {(last.cpu_seconds - first.cpu_seconds) / n_pages * 1e3:5.2f} CPU ms a page,"
                f" {(last.store_bytes - first.store_bytes) / n_pages:6,.0f} bytes of the store"
            )
    pages, urls, index = stats["pages"], stats["urls"], stats["index"]
    print(json.dumps({"pages": pages, "urls": urls, "index": index, "rates": stats["rates"]}))
    counts = np.array([each.pages for each in samples])
    memory = np.array([each.memory_bytes for each in samples])
    for fifth in range(5):
        low, high = (counts[-1] * part / 5 for part in (fifth, fifth + 1))
        part = (counts >= low) & (counts <= high)
        slope = np.polyfit(counts[part], memory[part], 1)[0] if part.sum() > 1 else 0.0
        print(f"{int(low):>9,} to {int(high):>9,} pages: {slope:8,.0f} bytes a page")
    stated_index = index["bytes"] / pages["fetched"]
    stated_urls = urls["bloom"]["size_bytes"] / pages["fetched"]
    print(f"stated: {stated_index:,.0f} for the index, {stated_urls:,.0f} for the URL filter")


if __name__ == "__main__":
    main()
