"""A crawl that stays: the first crawl fetches all, later visits have a budget."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING

import pytest

from dedup.store import open_store, summarise

if TYPE_CHECKING:
    from tests.crawler.conftest import WebSite


def _until_end_of_visit(lines: IO[str]) -> str:
    return next(line for line in lines if line.startswith("keep: exit status"))


@pytest.mark.slow
def test_first_crawl_is_whole_and_visits_read_their_budget_and_settings_anew(
    site: WebSite, make: SimpleNamespace, tmp_path: Path
) -> None:
    site.routes |= {"/": make.page("home", "/a", "/b"), "/a": make.page("a"), "/b": make.page("b")}
    (tmp_path / "settings").write_text("LOG_LEVEL=ERROR\nDEDUP_REPORT_ENABLED=0\n")
    command = [sys.executable, "-m", "dedup.cli", "crawl", site.url, "--job", "kept"]
    command += ["--keep", "1d", "--max-pages", "2", "-s", "@settings"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as kept:
        assert kept.stderr is not None
        assert "exit status 0" in _until_end_of_visit(kept.stderr)
        (tmp_path / "settings").write_text("DEDUP_HISTORY_DAYS=-1\n")
        kept.send_signal(signal.SIGHUP)
        assert "exit status 2" in _until_end_of_visit(kept.stderr)
        (tmp_path / "settings").write_text("DEDUP_HISTORY_DAYS=9\nDEDUP_REPORT_ENABLED=0\n")
        kept.send_signal(signal.SIGHUP)
        assert "exit status 0" in _until_end_of_visit(kept.stderr)
        kept.send_signal(signal.SIGTERM)
        assert kept.wait() == 0
    with open_store(tmp_path / "crawls/kept", read_only=True) as store:
        found = summarise(store)
        assert (found["pages"]["unique"], found["refresh"]) == (3, {"number": 1, "unchanged": 2})
        assert found["freshness"]["measured"] == 1
        settings = json.loads(store.meta("settings") or "{}")
        assert settings["DEDUP_HISTORY_DAYS"] == "9"
