"""A shared job of millions of URLs: what it takes to join, to take hosts, and to keep the tables.

    python -m benchmarks.measurements.cluster_scale --address postgresql://USER@HOST/DATABASE
        [--urls 5000000] [--hosts 50000] [--pages 1000000] [--minutes 60] [--workers 2]

Fills a new job with queued URLs and stored pages (texts and bodies of 2 kB in all), then measures:

- join: seconds until a worker may write, and what its index takes in memory;
- hosts: to take 64, to read their first URLs, to give them back;
- replica: to take up what another worker has added;
- work: for so many minutes workers store pages and queue links as a crawl does, in turns of 20
  pages; then the time of a turn in the first and the last tenth, and each table's dead rows, vacuum
  runs and size.

The job is dropped at the end, unless `--keep`.
"""

import argparse
import json
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import Any

import psycopg

from dedup import Deduplicator
from dedup.document import Document
from dedup.store import JobStore, open_store
from dedup.store.records import NewUrl

SIGNATURES = {"body": 16, "text": 8, "sentences": 8, "simhash": 8, "minhash": 44}
"""Bytes by stage; a hash each, so random bytes are spread as real ones are."""

PAGES_PER_TURN, LINKS_PER_PAGE, NEW_PER_PAGE = 20, 10, 3

URLS = """
INSERT INTO urls (key, state, rank, depth, slot, url)
SELECT decode(md5(n::text), 'hex'), 0, 0, 3, 'host-' || n % {hosts} || '.example',
    'http://host-' || n % {hosts} || '.example/section/page-' || n || '.html'
FROM generate_series(1, {urls}) AS n
"""
PAGES = """
INSERT INTO pages (number, url, host, title, language, status, content_type, encoding, fetched_at,
    size_bytes, depth, heading, source, text, body)
SELECT n, 'http://host-' || n % {hosts} || '.example/kept/' || n, 'host-' || n % {hosts}
    || '.example', 'Page ' || n, 'en', 200, 'text/html', 'utf-8', 1.8e9 + n, 20000, 3, 'Page ' || n,
    'rules', decode(repeat(md5(n::text), 32), 'hex'), decode(repeat(md5(n::text), 96), 'hex')
FROM generate_series(1, {pages}) AS n
"""
SIGNED = """
INSERT INTO signatures (stage, page, value)
SELECT '{stage}', n, substring(decode(md5('{stage}' || n) || md5('2{stage}' || n)
    || md5('3{stage}' || n), 'hex') FOR {size}) FROM generate_series(1, {pages}) AS n
"""
TABLES = """
SELECT relname, n_live_tup, n_dead_tup, n_tup_upd, n_tup_hot_upd, autovacuum_count,
    pg_total_relation_size(relid) FROM pg_stat_user_tables WHERE schemaname = %s
    AND n_live_tup + n_dead_tup > 0 ORDER BY 1
"""


def fill(address: str, job: str, counts: dict[str, int]) -> None:
    with open_store(f"{address}#{job}", is_shared=True) as store:
        Deduplicator(store=store)
        store.commit()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{job}"')
        connection.execute(URLS.format(**counts))
        connection.execute(PAGES.format(**counts))
        for stage, size in SIGNATURES.items():
            connection.execute(SIGNED.format(stage=stage, size=size, **counts))
        connection.execute(f"UPDATE job SET last_number = {counts['pages']}")
        connection.execute("VACUUM ANALYZE")


def tables(address: str, job: str) -> dict[str, dict[str, int]]:
    names = ("rows", "dead", "updated", "updated_in_place", "vacuum_runs", "bytes")
    with psycopg.connect(address) as connection:
        rows = connection.execute(TABLES, [job]).fetchall()
    return {name: dict(zip(names, values, strict=True)) for name, *values in rows}


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return (time.perf_counter() - began) * 1e3, result


def join(place: str) -> dict[str, float]:
    """In a process of its own."""
    before = resident_mb()
    opened, store = timed(lambda: open_store(place, is_shared=True))
    loaded, deduplicator = timed(lambda: Deduplicator(store=store))
    found = {
        "open_ms": opened,
        "load_ms": loaded,
        "index_mb": deduplicator.size_bytes / 1e6,
        "resident_mb": resident_mb() - before,
    }
    store.close()
    return found


def hosts(place: str, rounds: int = 50) -> dict[str, float]:
    """The steps by which a worker changes its hosts, median ms of each."""
    times: dict[str, list[float]] = {}

    def step(name: str, call: Callable[[], Any]) -> Any:
        took, result = timed(call)
        times.setdefault(name, []).append(took)
        return result

    with open_store(place, is_shared=True) as store:
        workers, urls = store.workers, store.urls
        for _ in range(rounds):
            step("begin", lambda: workers.try_begin(waits=True))
            step("fair_share", workers.fair_share)
            step("beat", lambda: workers.beat(pages=1))
            slots = step("take_64", lambda: workers.take_hosts(64))
            step("look_64", workers.queued_hosts)
            step(
                "first_urls_64", lambda slots=slots: [urls.first_queued(each, 20) for each in slots]
            )
            step("free_64", lambda slots=slots: workers.free_hosts(dict.fromkeys(slots, 1.0)))
            step("commit", workers.end)
        for _ in range(5):
            step("any_queued", workers.has_queued)
            step("count_queued", urls.count_queued)
    return {f"{name}_ms": round(statistics.median(each), 2) for name, each in times.items()}


def replica(place: str, pages: int = 2_000) -> dict[str, float]:
    """What a worker takes up that another has added, in its next turn."""
    with open_store(place, is_shared=True) as ours, open_store(place, is_shared=True) as theirs:
        deduplicator = Deduplicator(store=ours)

        def take_up(stage: str, numbers: Any, values: Any) -> None:
            for detector in deduplicator.detectors:
                if detector.stage == stage:
                    detector.load(numbers, values)

        ours.workers.on_signatures(take_up)
        theirs.workers.try_begin(waits=True)
        for number in range(pages):
            theirs.add(Document(str(number), "Text."), signatures())
        theirs.workers.end()
        caught, _ = timed(lambda: ours.workers.try_begin(waits=True))
        ours.workers.end()
    return {"pages": pages, "take_up_us_a_page": round(caught * 1e3 / pages, 1)}


def signatures() -> dict[str, bytes]:
    return {stage: os.urandom(size) for stage, size in SIGNATURES.items()}


def work(place: str, seconds: float, seed: int, n_hosts: int) -> list[tuple[float, float]]:
    """Take hosts, store pages and queue links in turns; return when and how long each was."""
    source = random.Random(seed)
    turns: list[tuple[float, float]] = []
    text = os.urandom(500).hex()
    with open_store(place, is_shared=True) as store:
        workers = store.workers
        mine: list[str] = []
        began, last_beat = time.monotonic(), float("-inf")
        while time.monotonic() - began < seconds:
            start = time.perf_counter()
            workers.try_begin(waits=True)
            locked = time.perf_counter()
            if time.monotonic() - last_beat > 1:
                last_beat = time.monotonic()
                workers.beat(pages=len(turns) * PAGES_PER_TURN)
                workers.free_hosts(dict.fromkeys(mine[:8], 1.0))
                mine = mine[8:] + workers.take_hosts(64 - len(mine[8:]))
            for slot in source.sample(mine, min(5, len(mine))):
                for row in store.urls.first_queued(slot, 4):
                    _store_page(store, row, text, source, n_hosts)
            workers.end()
            turns.append((start, time.perf_counter() - locked))
    return turns


def _store_page(store: JobStore, row: Any, text: str, source: random.Random, n_hosts: int) -> None:
    with store.unit():
        store.add(Document(row.url, f"{text} {source.random()}", url=row.url), signatures())
        links = [_link(source.randrange(n_hosts), os.urandom(16)) for _ in range(NEW_PER_PAGE)]
        known = LINKS_PER_PAGE - NEW_PER_PAGE
        links += [_link(0, row.key)] * known
        store.urls.known([each.key for each in links])
        store.workers.queue_many(links[:NEW_PER_PAGE])
        store.urls.finish([(row.key, row.url)])


def _link(host: int, key: bytes) -> NewUrl:
    slot = f"host-{host}.example"
    return NewUrl(key, f"http://{slot}/found/{key.hex()}", 4, None, slot, 0)


def tenths(turns: list[tuple[float, float]]) -> dict[str, float]:
    turns = sorted(turns)
    n = max(len(turns) // 10, 1)
    parts = {"first": turns[:n], "last": turns[-n:]}
    found = {
        f"turn_{k}_tenth_ms": statistics.median(t for _, t in p) * 1e3 for k, p in parts.items()
    }
    return {"turns": len(turns), **{name: round(value, 2) for name, value in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", required=True)
    parser.add_argument("--urls", type=int, default=5_000_000)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    address, job = options.address, f"scale-{os.getpid()}"
    place = f"{address}#{job}"
    counts = {name: getattr(options, name) for name in ("urls", "hosts", "pages")}
    show("fill_ms", timed(lambda: fill(address, job, counts))[0])
    sizes = tables(address, job)
    show("bytes", {name: row["bytes"] for name, row in sizes.items()})
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        show("join", pool.apply(join, (place,)))
        show("hosts", pool.apply(hosts, (place,)))
        show("replica", pool.apply(replica, (place,)))
        jobs: list[AsyncResult[Any]] = [
            pool.apply_async(work, (place, options.minutes * 60, seed, options.hosts))
            for seed in range(options.workers)
        ]
        turns = [turn for each in jobs for turn in each.get()]
    show("work", tenths(turns))
    show("tables", tables(address, job))
    if not options.keep:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA "{job}" CASCADE')


def show(name: str, value: object) -> None:
    print(json.dumps({name: value}), flush=True)


if __name__ == "__main__":
    main()
