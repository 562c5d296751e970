"""`dedup stats` and `dedup export`, on a job's folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.files import open_text
from dedup.store import SqliteStore

STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for name, text in (("a", STORY), ("b", STORY + " Amen."), ("c", "其他的內容。" * 20)):
        url = f"http://example.com/{name}"
        deduplicator.process(Document(id="", text=text, url=url, title=name))
    store.add_skipped("http://example.com/d", "http_404", is_fetched=True, size_bytes=7)
    store.close()
    return tmp_path


def rows(path: Path) -> list[dict[str, Any]]:
    with open_text(path) as file:
        return [json.loads(line) for line in file]


def test_stats_as_json_reconcile(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(job), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert pages == {
        "fetched": 4,
        "unique": 2,
        "duplicates": {"sentences": 1},
        "skipped": {"http_404": 1},
    }


def test_stats_as_table_names_every_count(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(job)]) == 0
    table = capsys.readouterr().out
    for label in ("fetched", "unique", "duplicates: sentences", "skipped: http_404"):
        assert label in table


def test_export_writes_both_files_to_the_job(job: Path) -> None:
    assert main(["export", str(job)]) == 0
    assert [page["url"] for page in rows(job / "pages.jsonl")] == [
        "http://example.com/a",
        "http://example.com/c",
    ]
    (record,) = rows(job / "duplicates.jsonl")
    assert record["url"] == "http://example.com/b"
    assert (record["duplicate_of"], record["duplicate_of_url"]) == (1, "http://example.com/a")
    assert record["stage"] == "sentences"
    assert 0.9 < record["resemblance"] < 1


def test_export_compresses_by_ending_and_writes_only_what_is_asked(job: Path) -> None:
    assert main(["export", str(job), "-o", str(job / "p.jsonl.zst")]) == 0
    assert len(rows(job / "p.jsonl.zst")) == 2
    assert not (job / "duplicates.jsonl").exists()


def test_export_refuses_an_unknown_ending(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(job), "-o", "pages.xls"]) == 2
    assert "ending must be .jsonl" in capsys.readouterr().err


def test_missing_job_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(tmp_path / "nothing")]) == 2
    assert "there is no such job" in capsys.readouterr().err
