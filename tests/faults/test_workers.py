"""Processes that share a crawl: the same verdicts as one, also where one of them is killed."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measurements.cluster import Site, check, politeness, worker
from dedup.store import open_store
from tests.with_constants import with_constants

pytestmark = pytest.mark.slow

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


def _crawl(
    site: Site,
    tmp_path: Path,
    address: str,
    *,
    settings: Sequence[str] = (),
    python: Sequence[str] = (),
    fault: Callable[[subprocess.Popen[str]], object] | None = None,
) -> Any:
    """Crawl by two processes; call `fault` with the first one after a quarter of the pages."""
    pause = ["DOWNLOAD_DELAY=0.1"] if fault else []  # so that pages are left when it happens
    settings = [*COMMON, *settings, *pause, f"DEDUP_STORE={address}"]
    job = f"shared-{site.port}"
    crawls = [worker(site, tmp_path, settings, job, f"worker-{n}", python) for n in range(2)]
    try:
        if fault is not None:
            until = time.monotonic() + 120
            while len(site.requests()) < 12 and time.monotonic() < until:
                time.sleep(0.05)
            fault(crawls[0])
        codes = [each.wait(300) for each in crawls]
    finally:
        for each in crawls:
            each.kill()
    logs = "".join((tmp_path / f"worker-{n}.log").read_text() for n in range(2))
    with open_store(f"{address}#{job}", read_only=True) as store:
        return codes, check(store, site), logs


def _expect_exact(found: dict[str, Any], logs: str) -> None:
    assert (found["lost"], found["twice"]) == (0, 0), logs
    assert found["reconciled"]
    assert sum(found["duplicates"].values()) > 0
    problems = "other_verdicts", "without_original", "kept_twice"
    assert [found[name] for name in problems] == [0, 0, 0]


@pytest.mark.parametrize("n_requests", [16, 1], ids=["all hosts at once", "a host at a time"])
def test_shared_crawl_is_that_of_one_process_in_the_order_of_the_numbers(
    site: Site, tmp_path: Path, postgresql: Any, n_requests: int
) -> None:
    settings = [f"CONCURRENT_REQUESTS={n_requests}"]
    python = with_constants({"extensions.teamwork._HOSTS_PER_REQUEST": 1})
    address = postgresql.address
    codes, found, logs = _crawl(site, tmp_path, address, settings=settings, python=python)
    assert codes == [0, 0], logs
    _expect_exact(found, logs)
    assert len(site.requests()) == found["pages"]


def test_work_of_killed_process_is_done_by_another(
    site: Site, tmp_path: Path, postgresql: Any
) -> None:
    codes, found, logs = _crawl(site, tmp_path, postgresql.address, fault=subprocess.Popen.kill)
    assert codes == [-signal.SIGKILL, 0], logs
    _expect_exact(found, logs)
    assert len(site.requests()) <= found["pages"] + 16


def test_crawl_goes_on_when_the_server_is_back(
    site: Site, tmp_path: Path, own_postgresql: Any
) -> None:
    def crash(_: object) -> None:
        own_postgresql.stop(signal.SIGQUIT)
        time.sleep(2)
        own_postgresql.start()

    codes, found, logs = _crawl(site, tmp_path, own_postgresql.address, fault=crash)
    assert codes == [0, 0], logs
    assert "waiting for it" in logs
    _expect_exact(found, logs)


def test_delay_of_a_host_holds_over_all_processes(
    site: Site, tmp_path: Path, postgresql: Any
) -> None:
    settings = ["DOWNLOAD_DELAY=0.2", "RANDOMIZE_DOWNLOAD_DELAY=0"]
    settings.append("CONCURRENT_REQUESTS_PER_DOMAIN=1")
    address = postgresql.address
    codes, found, logs = _crawl(site, tmp_path, address, settings=settings)
    assert codes == [0, 0], logs
    assert found["lost"] == 0
    # A timer and the way to the server take some milliseconds, on a busy machine more.
    assert politeness(site.requests(), 0.2)["shortest_gap"] > 0.1
