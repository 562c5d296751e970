"""`dedup stats` and `dedup export`, on a job's folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.files import open_binary
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.sites.site import Site
from dedup.store import Page, SqliteStore

STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for name, text in (("a", STORY), ("b", STORY + " Amen."), ("c", "其他的內容。" * 20)):
        url = f"http://example.com/{name}"
        deduplicator.process(Document(id="", text=text, url=url, title="A letter"))
    store.add_skipped("http://example.com/d", "http_404", is_fetched=True, size_bytes=7)
    store.close()
    return tmp_path


def rows(path: Path) -> list[dict[str, Any]]:
    with open_binary(path) as file:
        return [json.loads(line) for line in file]


def test_stats_as_json_reconcile(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(job), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert pages == {
        "fetched": 4,
        "unique": 2,
        "duplicates": {"sentences": 1},
        "skipped": {"http_404": 1},
        "waiting": 0,
    }


def test_stats_as_table_names_every_count(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(job)]) == 0
    table = capsys.readouterr().out
    for label in ("fetched", "unique", "duplicates: sentences", "skipped: http_404"):
        assert label in table


def test_waiting_pages_are_counted(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SqliteStore(job / "crawl.sqlite")
    outline = page_text(bounded("<p>Not yet.</p>"), "", site=Site()).outline
    assert outline is not None
    url = "http://example.com/waits"
    store.learned.add_waiting(Page(id="", text="Not yet.", url=url, size_bytes=5), outline)
    store.close()
    assert main(["stats", str(job)]) == 0
    assert "waiting to be read 1 0.00" in " ".join(capsys.readouterr().out.split())
    assert main(["stats", str(job), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert (pages["fetched"], pages["waiting"]) == (5, 1)
    assert main(["stats", str(job), "--by", "host", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["fetched"], row["waiting"]) == (5, 1)
    assert main(["stats", str(job), str(job), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"name": "waiting", "first": 1, "second": 1, "change": 0} in rows


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


def exported(job: Path, *options: str) -> tuple[list[str], list[str]]:
    """The names of the pages and of the duplicates that are exported with these options."""
    assert main(["export", str(job), *options]) == 0
    pages, duplicates = rows(job / "pages.jsonl"), rows(job / "duplicates.jsonl")
    return [row["url"][-1] for row in pages], [row["url"][-1] for row in duplicates]


# The filter, and the pages and duplicates that it leaves.
FILTERS = {
    "--host=example.com": ("ac", "b"),
    "--host=EXAMPLE.com": ("ac", "b"),
    "--host=example.org": ("", ""),
    "--url=/[bc]$": ("c", "b"),
    "--stage=sentences": ("a", "b"),  # the pages that such duplicates refer to
    "--stage=body": ("", ""),
    "--since=2001-01-01": ("ac", "b"),
    "--since=2999-01-01T00:00+08:00": ("", ""),
}


@pytest.mark.parametrize("option", FILTERS)
def test_export_can_be_narrowed(job: Path, option: str) -> None:
    pages, duplicates = FILTERS[option]
    assert exported(job, option) == (list(pages), list(duplicates))


def test_filters_are_joined(job: Path) -> None:
    assert exported(job, "--host=example.com", "--url=/[ab]", "--stage=sentences") == (["a"], ["b"])


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--since=yesterday", "--since must be an ISO 8601 date or time, got 'yesterday'"),
        ("--url=(", "--url must be a regular expression, got '('"),
    ],
)
def test_a_wrong_filter_is_one_sentence(
    job: Path, capsys: pytest.CaptureFixture[str], option: str, says: str
) -> None:
    assert main(["export", str(job), option]) == 2
    assert says in capsys.readouterr().err


def test_a_warc_file_holds_pages_and_revisits_unless_duplicates_go_elsewhere(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, table = str(job / "x.warc"), str(job / "d.csv")
    assert main(["export", str(job), "-o", path]) == 0
    assert "2 pages and 1 duplicates in" in capsys.readouterr().err
    assert main(["export", str(job), "-o", path, "-d", table, "--overwrite"]) == 0
    assert "2 pages in" in capsys.readouterr().err
    assert b"WARC-Type: revisit" not in (job / "x.warc").read_bytes()


def test_a_running_job_is_exported_as_it_was_when_opened(job: Path) -> None:
    writer = SqliteStore(job / "crawl.sqlite", group_units=1)
    assert exported(job) == (["a", "c"], ["b"])
    reader = SqliteStore(job / "crawl.sqlite", read_only=True)
    for number in range(3):
        document = Document(id="", text=f"Text {number}.", url=f"http://example.com/{number}")
        writer.add(document, {})
    assert [row["url"][-1] for row in reader.exports.pages()] == ["a", "c"]
    reader.close()
    assert exported(job)[0] == ["a", "c", "0", "1", "2"]
    writer.close()


def test_reading_a_job_leaves_nothing_beside_it(job: Path) -> None:
    before = sorted(path.name for path in job.iterdir())
    assert main(["stats", str(job)]) == 0
    assert sorted(path.name for path in job.iterdir()) == before


@pytest.mark.parametrize("option", ["-o", "-d"])
def test_export_replaces_a_file_only_if_asked(
    job: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = job / "mine.jsonl"
    path.write_text("my own\n")
    assert main(["export", str(job), option, str(path)]) == 2
    said = capsys.readouterr().err
    assert f"{option}: '{path}' already exists; --overwrite replaces it" in said
    assert path.read_text() == "my own\n"
    assert main(["export", str(job), option, str(path), "--overwrite"]) == 0
    assert rows(path)


def test_export_refuses_an_unknown_ending(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(job), "-o", "pages.xls"]) == 2
    assert "extension must be .jsonl" in capsys.readouterr().err


def test_arguments_in_invalid_utf8_are_not_found(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["why", str(job)], ["pair", str(job), "http://example.com/a"]):
        assert main([*arguments, "a\udcb1"]) == 2
        assert "URL must be a page's URL, got 'a?'" in capsys.readouterr().err
    assert main(["export", str(job), "-o", str(job / "x.jsonl"), "--host", "a\udcb1"]) == 0
    assert "the job has no page of it" in capsys.readouterr().err


def test_missing_job_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(tmp_path / "nothing")]) == 2
    assert "job not found" in capsys.readouterr().err
