"""What is kept of a host's pages besides what is learned of sites, see `tests/dedup/sites`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dedup.store import SqliteStore
from dedup.store.sql import learned


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    yield store
    store.close()


def test_encoding_of_a_host_is_that_of_most_of_its_pages(store: SqliteStore) -> None:
    kept = store.learned
    assert kept.encoding("a.example") is None
    kept.add_encoding("a.example", "cp1252")
    assert kept.encoding("a.example") == "cp1252"
    for _ in range(2):
        kept.add_encoding("a.example", "gb18030")
    assert kept.encoding("a.example") == "gb18030"
    kept.add_encoding("a.example", "cp1252")
    assert kept.encoding("a.example") == "cp1252"  # of equally many the first by name
    assert kept.encoding("b.example") is None


def test_encoding_of_a_host_is_there_when_the_job_goes_on(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.learned.add_encoding("a.example", "gb18030")
    store.close()
    store = SqliteStore(tmp_path / "crawl.sqlite")
    assert store.learned.encoding("a.example") == "gb18030"
    store.close()


def test_hosts_in_memory_are_bounded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "_HOSTS_IN_MEMORY", 3)
    for number in range(10):
        store.learned.add_encoding(f"{number}.example", "gb18030")
        assert store.learned.encoding(f"{number}.example") == "gb18030"
    assert len(store.learned._encodings) <= 3
