"""Scrapy's commands for developers, in the project itself: they work, and open no job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import WebSite

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("fetch", "--nolog", "{site}"), "<title>"),
        (("shell", "--nolog", "{site}", "-c", "response.status"), "200"),
    ],
)
def test_a_developers_command_opens_no_job(
    tmp_path: Path,
    site: WebSite,
    make: SimpleNamespace,
    command: tuple[str, ...],
    expected: str,
) -> None:
    site.routes["/"] = make.page("/")
    jobs = tmp_path / "jobs"
    given = [part.format(site=site.url) for part in command]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *given, "-s", f"DEDUP_JOBS_DIR={jobs}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert expected in done.stdout
    assert not jobs.exists()
