"""The frontier alone: memory, time to open, to enqueue and to dequeue, with many queued URLs.

    python benchmarks/measurements/frontier.py [URLS] [HOSTS]

Default: 5 million URLs of 1,000 hosts. Each step runs in a process of its own, so that its memory
is that step's. Every URL is dequeued exactly once, which is checked.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dedup.store import store_path

_DEQUEUED = 200_000


def _key(number: int) -> bytes:
    return (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)).to_bytes(16, "big")


def _enqueue(path: Path, n_urls: int, n_hosts: int) -> dict[str, float]:
    from dedup.scrapy.frontier.window import Frontier
    from dedup.store.sql.url_table import UrlTable
    from dedup.store.sqlite.database import Database

    database = Database(path)
    urls = UrlTable(database)
    frontier = Frontier(urls)
    began = time.perf_counter()
    for number in range(n_urls):
        host = f"host{number % n_hosts}.example.org"
        url = f"https://{host}/section/page-{number}.html"
        row = urls.queue(_key(number), url, 3, slot=host, rank=number // 1_000_000)
        assert row is not None
        frontier.push(host, row)
        if number % 1_000 == 999:
            database.commit()
    seconds = time.perf_counter() - began
    database.close()
    return {"enqueue µs": seconds / n_urls * 1e6, "store MB": path.stat().st_size / 1e6}


def _dequeue(path: Path, n_urls: int, n_hosts: int) -> dict[str, float]:
    from dedup.scrapy.frontier.window import Frontier
    from dedup.store.records import QueuedUrl
    from dedup.store.sql.url_table import UrlTable
    from dedup.store.sqlite.database import Database

    began = time.perf_counter()
    database = Database(path)
    urls = UrlTable(database)
    frontier = Frontier(urls)
    opened = time.perf_counter()
    found = set()
    count = min(_DEQUEUED, n_urls)
    for number in range(count):
        row = frontier.pop(lambda slot: 0)
        assert isinstance(row, QueuedUrl)
        found.add(row.key)
        urls.finish([(row.key, row.url)])
        frontier.done([row.key])
        if number % 100 == 99:
            database.commit()
    seconds = time.perf_counter() - opened
    assert len(found) == count
    database.close()
    return {"open s": opened - began, "dequeue and finish µs": seconds / count * 1e6}


def _in_process(step: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, __file__, step, *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def main() -> None:
    steps = {"enqueue": _enqueue, "dequeue": _dequeue}
    if sys.argv[1:2] and sys.argv[1] in steps:
        path, n_urls, n_hosts = sys.argv[2:]
        sys.path.insert(0, str(Path(__file__).parents[2]))
        figures = steps[sys.argv[1]](Path(path), int(n_urls), int(n_hosts))
        figures["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps(figures))
        return
    n_urls, n_hosts = (int(float(a)) for a in [*sys.argv[1:], 5_000_000, 1_000][:2])
    if len(sys.argv) == 2:
        n_hosts = 1_000
    with tempfile.TemporaryDirectory() as folder:
        path = store_path(folder)
        print(f"{n_urls:,} URLs of {n_hosts:,} hosts")
        for step in steps:
            figures = _in_process(step, path, n_urls, n_hosts)
            print(
                f"{step}: " + ", ".join(f"{name} {value:,.2f}" for name, value in figures.items())
            )


if __name__ == "__main__":
    main()
