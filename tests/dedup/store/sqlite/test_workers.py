"""Processes that share a job in an SQLite file: its tables, and who may open it alone."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dedup.document import Document
from dedup.errors import StateError
from dedup.store import open_store
from dedup.store.sqlite.processes import is_alive, started


def _tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path / "crawl.sqlite")) as connection:
        query = "SELECT name FROM sqlite_schema WHERE name IN ('workers', 'hosts', 'changes')"
        return {name for (name,) in connection.execute(query)}


def test_job_has_tables_of_its_processes_only_while_it_is_shared(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    assert _tables(tmp_path) == set()
    with open_store(tmp_path, is_shared=True) as store:
        store.add(Document("a", "A."), {"text": b"1"})
        assert _tables(tmp_path) == {"workers", "hosts", "changes"}
        with open_store(tmp_path, read_only=True) as reader:
            assert [each.pages for each in reader.stats.workers()] == [0]
    with open_store(tmp_path) as store:
        assert _tables(tmp_path) == set()
        assert store.add(Document("b", "B."), {"text": b"2"}) == 2


def test_job_is_not_opened_alone_while_it_is_shared(tmp_path: Path) -> None:
    with open_store(tmp_path, is_shared=True):
        with pytest.raises(StateError, match="in use by another process"):
            open_store(tmp_path)
        assert len(_tables(tmp_path)) == 3


def test_what_a_killed_crawl_leaves_is_removed(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
import os, signal
from dedup.store import open_store
store = open_store(Path({str(tmp_path)!r}), is_shared=True)
store.set_meta("kept", "1")
store.workers.try_begin(waits=True)
store.set_meta("lost", "1")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    with open_store(tmp_path, read_only=True) as store:
        assert store.stats.workers() == []
    with open_store(tmp_path) as store:
        assert (store.meta("kept"), store.meta("lost")) == ("1", None)
    assert _tables(tmp_path) == set()


def test_signatures_that_all_have_loaded_are_forgotten(tmp_path: Path) -> None:
    with open_store(tmp_path, is_shared=True) as one, open_store(tmp_path, is_shared=True) as two:
        for store in (one, two):
            store.workers.on_signatures(lambda *_: None)
        one.add(Document("a", "A."), {"text": b"1"})
        one.workers.beat(pages=1)
        assert [each.behind for each in one.stats.workers()] == [0, 1]
        two.workers.beat(pages=0)
        assert one.database.value("SELECT count(*) FROM changes") == 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_process_is_known_by_its_start() -> None:
    pid, start = os.getpid(), started(os.getpid())
    assert is_alive(pid, start)
    assert not is_alive(pid, str(int(start) + 1))
    process = subprocess.Popen(["true"])
    start = started(process.pid)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a process that nobody waits for
    assert not is_alive(process.pid, start or "1")
    process.wait()
    assert not is_alive(process.pid, "")
