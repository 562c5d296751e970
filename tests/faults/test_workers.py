"""Processes that share a crawl: the same verdicts as one, also where one of them is killed."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measurements.cluster import Site, check, politeness, worker
from dedup.store import open_store

COMMON = [
    "ROBOTSTXT_OBEY=0",
    "DEDUP_ALLOW_PRIVATE=1",
    "DEDUP_READ_PROCESSES=0",
    "DEDUP_WORKER_LEASE_SECONDS=5",
]


@pytest.fixture
def site(tmp_path: Path) -> Any:
    running = Site(6, 8, tmp_path / "requests.log")
    yield running
    running.process.terminate()
    running.process.wait()
    running.process.stdout.close()


def _crawl(site: Site, tmp_path: Path, address: str, *, kills: bool, settings: list[str]) -> Any:
    settings = [*COMMON, *settings, f"DEDUP_STORE={address}"]
    job = f"shared-{site.port}"
    crawls = [worker(site, tmp_path, settings, job, f"worker-{n}") for n in range(2)]
    try:
        if kills:
            until = time.monotonic() + 60
            while len(site.requests()) < 12 and time.monotonic() < until:
                time.sleep(0.05)
            crawls[0].send_signal(signal.SIGKILL)
        codes = [each.wait(150) for each in crawls]
    finally:
        for each in crawls:
            each.kill()
    logs = "".join((tmp_path / f"worker-{n}.log").read_text() for n in range(2))
    with open_store(f"{address}#{job}", read_only=True) as store:
        return codes, check(store, site), logs


@pytest.mark.parametrize("kills", [False, True], ids=["unharmed", "one is killed"])
def test_shared_crawl_is_that_of_one_process_in_the_order_of_the_numbers(
    site: Site, tmp_path: Path, postgresql: Any, kills: bool
) -> None:
    codes, found, logs = _crawl(site, tmp_path, postgresql.address, kills=kills, settings=[])
    assert codes == [-signal.SIGKILL if kills else 0, 0], logs
    assert (found["lost"], found["twice"]) == (0, 0), logs
    assert found["reconciled"]
    assert sum(found["duplicates"].values()) > 0
    assert (found["other_verdicts"], found["without_original"]) == (0, 0)
    n_asked = len(site.requests())
    assert n_asked == found["pages"] if not kills else n_asked <= found["pages"] + 16


def test_delay_of_a_host_holds_over_all_processes(
    site: Site, tmp_path: Path, postgresql: Any
) -> None:
    settings = ["DOWNLOAD_DELAY=0.2", "RANDOMIZE_DOWNLOAD_DELAY=0"]
    settings.append("CONCURRENT_REQUESTS_PER_DOMAIN=1")
    address = postgresql.address
    codes, found, logs = _crawl(site, tmp_path, address, kills=False, settings=settings)
    assert codes == [0, 0], logs
    assert found["lost"] == 0
    # A timer and the way to the server take some milliseconds, on a busy machine more.
    assert politeness(site.requests(), 0.2)["shortest_gap"] > 0.1
