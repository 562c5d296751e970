"""Repeated passages in the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from dedup.report import repeated
from dedup.report.page import write_report
from dedup.report.repeated import repeated_passages
from dedup.store import Page, SqliteStore

NOTE = "All <b>texts</b> of this site may be copied by everybody for any purpose."
CHINESE = "两个版本之间的差别，请参阅第三页的安装说明。"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        for number in range(30):
            text = f"Page {number}" + f"\n{NOTE}" * (number % 2) + f"\n{CHINESE}" * (number < 6)
            store.add(Page(id="", url=f"http://a.example/{number}", title="x", text=text), {})
        for number in range(4):
            store.add(Page(id="", url=f"http://b.example/{number}", title="x", text=NOTE), {})
    return tmp_path


def found(job: Path) -> list[dict[str, object]]:
    with SqliteStore(job / "crawl.sqlite", read_only=True) as store:
        return repeated_passages(store)


def test_passages_are_listed_with_words_and_pages(job: Path) -> None:
    assert found(job) == [
        {
            "host": "a.example",
            "pages": 30,
            "read": 30,
            "repeated": 15 * 15 + 6 * 20,
            "n_passages": 2,
            "passages": [
                {"text": NOTE, "words": 15, "pages": 15},
                {"text": CHINESE, "words": 20, "pages": 6},
            ],
        }
    ]


def test_of_large_hosts_some_pages_are_read(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "MAX_PAGES", 20)
    (host,) = found(job)
    assert (host["pages"], host["read"]) == (30, 20)
    monkeypatch.setattr(repeated, "MAX_CHARACTERS", 1_600)
    (host,) = found(job)
    assert 5 < int(str(host["read"])) < 20


def test_the_page_has_a_section_of_them(job: Path) -> None:
    section = LexborHTMLParser(write_report(job).read_text(encoding="utf-8")).css_first("#repeated")
    assert section is not None
    assert f"{NOTE} 15 words on 15 pages (50%)" in " ".join(section.text().split())


def test_jobs_without_them_have_no_section(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "SHARE", 0.9)
    assert found(job) == []
    assert 'id="repeated"' not in write_report(job).read_text(encoding="utf-8")
