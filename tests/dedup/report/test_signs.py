"""The verdict of a report: warning signs, and what could not be looked at."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.document import Match
from dedup.report.page import write_report
from dedup.store import Page, SqliteStore
from tests.dedup.report.site_job import HOST, data_of, job_of, read_pages
from tests.dedup.sites.conftest import prose


def findings_of(folder: Path) -> dict[str, Any]:
    data = data_of(folder)
    return {**data["findings"], "verdict": data["verdict"]}


def test_a_job_of_whole_texts_has_no_signs(tmp_path: Path) -> None:
    found = findings_of(job_of(tmp_path, read_pages(12)))
    assert found["verdict"] == (
        "No warning signs in texts, names, short drops and what the second look kept."
    )
    assert found["checked"].startswith("12 pages of 1 host were checked. The median text")
    assert (found["signs"], found["unchecked"]) == ((), "")


def test_the_second_look_is_named_only_where_it_was_taken(tmp_path: Path) -> None:
    found = findings_of(job_of(tmp_path, read_pages(12, rest=None), is_known=False))
    assert found["verdict"] == "No warning signs in texts, names and short drops."


def test_small_texts_are_a_sign_with_three_examples(tmp_path: Path) -> None:
    pages = [replace(page, text=page.heading) for page in read_pages(12)]
    found = findings_of(job_of(tmp_path, pages))
    assert found["verdict"] == "Not yet: there is a warning sign."
    (sign,) = found["signs"]
    assert "of 12 pages checked, 12 have less than half" in sign["what"]
    assert len(sign["examples"]) == 3
    assert "rare words, in a text of" in sign["examples"][0][1]
    assert found["are_texts_doubtful"]
    assert not found["checked"]


def test_pages_read_by_rules_alone_are_a_sign(tmp_path: Path) -> None:
    pages = read_pages(12, source="page", site_version=None)
    (sign,) = findings_of(job_of(tmp_path, pages))["signs"]
    assert sign["what"] == f"Nothing was known of {HOST} when 12 of its 12 pages were read."


@pytest.mark.parametrize(
    ("count", "changes", "words"),
    [
        (12, {"body": None}, "no page’s body is stored"),
        (5, {}, "no host has ten pages with different names"),
    ],
)
def test_what_could_not_be_checked_is_said(
    tmp_path: Path, count: int, changes: dict[str, Any], words: str
) -> None:
    verdict = findings_of(job_of(tmp_path, read_pages(count, **changes)))["verdict"]
    assert verdict.startswith("No warning signs in what could be checked; the texts could not")
    assert words in verdict


def test_many_short_drops_are_a_sign(tmp_path: Path) -> None:
    job_of(tmp_path, read_pages(12))
    store = SqliteStore(tmp_path / "crawl.sqlite")
    for number in range(25):
        page = Page(id="", url=f"http://{HOST}/s/{number}", text=f"filter {number}", title="filter")
        store.add_duplicate(page, Match(1, "text", resemblance=1.0))
    store.close()
    (sign,) = findings_of(tmp_path)["signs"]
    assert sign["what"].startswith("25 pages, 68% of all, were dropped with texts of fewer than 20")
    assert sign["examples"][0][1].startswith(f"duplicate of http://{HOST}/0: “filter ")


def test_drops_of_long_texts_are_no_warning_sign(tmp_path: Path) -> None:
    job_of(tmp_path, read_pages(12))
    store = SqliteStore(tmp_path / "crawl.sqlite")
    for number in range(25):
        page = Page(id="", url=f"http://{HOST}/s/{number}", text=prose("long"), title="filter")
        store.add_duplicate(page, Match(1, "text", resemblance=1.0))
    store.close()
    assert findings_of(tmp_path)["signs"] == ()


def kept(folder: Path, count: int) -> Path:
    job_of(folder, read_pages(20))
    store = SqliteStore(folder / "crawl.sqlite")
    for number in range(2, 2 + count):
        store.note_apart(number, 1, [f"Line <b> of {number}"] if number % 2 else [])
    store.close()
    return folder


def test_many_pages_kept_by_the_second_look_are_a_sign(tmp_path: Path) -> None:
    (sign,) = findings_of(kept(tmp_path, 12))["signs"]
    assert sign["what"].startswith("The second look kept 12 pages, 60% of those stored")
    assert [words for _, words in sign["examples"]] == [
        f"kept for “Line <b> of {number}”" for number in (3, 5, 7)
    ]


def test_pages_kept_by_the_second_look_are_listed_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = kept(tmp_path, 4)
    assert findings_of(folder)["signs"] == ()
    text = write_report(folder).read_text(encoding="utf-8")
    assert "4 pages were kept by the second look:" in text
    assert "Line &lt;b&gt; of 3" in text
    assert "not shown: the body is large" in text
    assert main(["stats", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "kept by the second look for their own lines: 4 of the unique pages" in said
    assert main(["stats", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept_apart"] == 4
    assert main(["stats", str(folder), str(folder)]) == 0
    assert "kept by the second look" in capsys.readouterr().out


def test_a_job_without_pages_has_nothing_to_check(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    Deduplicator(store=store)
    store.close()
    assert findings_of(tmp_path)["unchecked"] == ""
