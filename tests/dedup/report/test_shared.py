"""Hosts that share pages, in the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from dedup.document import Match
from dedup.report import shared
from dedup.report.page import write_report
from dedup.report.shared import shared_pages
from dedup.store import Page, SqliteStore
from dedup.store.records import Claims


@pytest.fixture
def job(tmp_path: Path) -> Path:
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        for number in range(3):
            url = f"http://a.example/{number}"
            kept = store.add(Page("", f"Text {number}", url=url, fetched_at=1.0), {})
            copy = Page("", "copy", url=f"http://b.example/<b>{number}", fetched_at=0.5)
            copy.take_claims(Claims(canonical_url=url if number else None))
            store.add_duplicate(copy, Match(kept, "text"))
    return tmp_path


def test_pairs_of_hosts(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteStore(job / "crawl.sqlite", read_only=True) as store:
        found = shared_pages(store)
        (pair,) = found["pairs"]
        counts = {"pages": 3, "copied": 2, "first": 0, "unknown": 1, "median_days": None}
        assert pair == {"host": "b.example", "other": "a.example", **counts}
        assert not found["has_more"]
        monkeypatch.setattr(shared, "MAX_GROUPS", 2)
        found = shared_pages(store)
        assert (found["pairs"][0]["pages"], found["n_groups"], found["has_more"]) == (2, 2, True)


def test_the_page_has_a_section_of_them(job: Path) -> None:
    tree = LexborHTMLParser(write_report(job).read_text(encoding="utf-8"))
    rows = [node.text(separator="|") for node in tree.css("#shared tbody tr td")]
    assert rows == ["b.example", "a.example", "3", "2", "0", "1", "–"]


def test_without_such_hosts_there_is_no_section(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        store.add(Page("", "Text", url="http://a.example/"), {})
    assert 'id="shared"' not in write_report(tmp_path).read_text(encoding="utf-8")
