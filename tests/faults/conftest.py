"""Crawls of a site in another process, killed as a machine may kill them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

ROOT = Path(__file__).parents[2]


class SiteProcess:
    """`site_process.py`, running."""

    def __init__(self, size: int) -> None:
        self.size = size
        command = [sys.executable, str(Path(__file__).with_name("site_process.py")), str(size)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def asked(self) -> dict[str, int]:
        """How often each target was asked for."""
        with urllib.request.urlopen(self.url + "count") as answer:
            return dict(json.loads(answer.read()))

    def n_asked(self) -> int:
        return sum(count for target, count in self.asked().items() if target != "/robots.txt")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()


class Job:
    """A crawl's command, and what it has stored."""

    def __init__(self, url: str, jobs_dir: Path) -> None:
        self.folder = jobs_dir / "job"
        self._arguments = [f"-aurl={url}", "-ajob=job", "-s", f"DEDUP_JOBS_DIR={jobs_dir}"]

    def start(
        self,
        *options: str,
        python: Sequence[str] = ("-m", "scrapy", "crawl", "site"),
        **more: Any,
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *python, *self._arguments, *options],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **more,
        )

    def run(self, *options: str, timeout: float = 240, **more: Any) -> tuple[int, str]:
        process = self.start(*options, **more)
        try:
            output = process.communicate(timeout=timeout)[0]
        finally:
            process.kill()
        return process.returncode, output

    def rows(self, query: str) -> list[Any]:
        connection = sqlite3.connect(self.folder / "crawl.sqlite")
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    @property
    def stats(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "stats.json").read_text()))


def kill_when(process: subprocess.Popen[str], is_time: Callable[[], bool]) -> bool:
    """SIGKILL the process once it is time; False: it ended before."""
    while process.poll() is None:
        if is_time():
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        time.sleep(0.03)  # the other processes' turn
    process.communicate()
    return False


@pytest.fixture
def serve() -> Iterator[Callable[[int], SiteProcess]]:
    running: list[SiteProcess] = []

    def start(size: int) -> SiteProcess:
        running.append(SiteProcess(size))
        return running[-1]

    yield start
    for site in running:
        site.__exit__()


@pytest.fixture
def make_job(tmp_path: Path) -> Callable[[str], Job]:
    return lambda url: Job(url, tmp_path)


@pytest.fixture
def kill() -> Callable[[subprocess.Popen[str], Callable[[], bool]], bool]:
    return kill_when
