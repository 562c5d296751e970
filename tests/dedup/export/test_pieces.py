"""The pieces of a job's pages, from the command line."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from dedup.document import Match
from dedup.store import Page, SqliteStore


def _sentences(name: str) -> str:
    choice = random.Random(name)
    return " ".join(
        f"{name.title()} {' '.join(f'w{choice.randrange(999)}' for _ in range(7))}."
        for _ in range(10)
    )


SECTIONS = {name: _sentences(name) for name in ("one", "two", "three", "four")}
DAY = 86_400.0


def page(url: str, *names: str, fetched_at: float = DAY, **sections: str) -> Page:
    known = SECTIONS | sections
    body = "".join(f"<h2>{name}</h2><p>{known[name]}</p>" for name in names)
    text = "\n".join(["Top", "Welcome.", *(f"{name}\n{known[name]}" for name in names)])
    return Page(
        id="",
        url=url,
        title=url,
        text=text,
        body=f"<h1>Top</h1><p>Welcome.</p>{body}".encode(),
        status=200,
        content_type="text/html; charset=utf-8",
        fetched_at=fetched_at,
        size_bytes=len(body),
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    store_pages(tmp_path, [page("http://a/", "one", "two"), page("http://b/", "two", "three")])
    return tmp_path


def store_pages(folder: Path, pages: list[Page]) -> None:
    with SqliteStore(folder / "crawl.sqlite") as store:
        for each in pages:
            store.add(each, {})


def exported(job: Path, *options: object) -> list[dict[str, Any]]:
    path = job / "found.jsonl"
    given = ["export", job, "--pieces", 100, "-o", path, "--overwrite", *options]
    assert main(list(map(str, given))) == 0
    return list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


def ids(rows: list[dict[str, Any]]) -> set[str]:
    return {row["id"] for row in rows}


def test_piece_that_stands_on_two_pages_is_written_once(job: Path) -> None:
    rows = exported(job)
    assert len(ids(rows)) == len(rows)
    shared = [row for row in rows if len(row["places"]) == 2]
    assert {place["url"] for row in shared for place in row["places"]} == {"http://a/", "http://b/"}
    texts = {row["text"]: row["headings"] for row in shared}
    two = f"## two\n\n{SECTIONS['two']}"
    assert texts == {"# Top\n\nWelcome.": ["Top"], two: ["Top", "two"]}


def test_ids_do_not_depend_on_order_or_path(job: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    moved = [page("http://x/b", "two", "three"), page("http://x/a", "one", "two")]
    store_pages(other, moved)
    assert ids(exported(job)) == ids(exported(other))


def test_default_file_is_in_the_folder_of_the_job(job: Path) -> None:
    for _ in range(2):
        assert main(["export", str(job), "--pieces", "100"]) == 0
    assert (job / "pieces.jsonl").exists()


def test_formats_have_the_same_rows(job: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    rows = exported(job)
    for name in ("p.parquet", "p.csv"):
        assert main(["export", str(job), "--pieces", "100", "-o", str(tmp_path / name)]) == 0
    assert parquet.read_table(tmp_path / "p.parquet").to_pylist() == rows
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        found = [
            {**row, "headings": json.loads(row["headings"]), "places": json.loads(row["places"])}
            for row in csv.DictReader(file)
        ]
    assert found == rows
    for name in ("p.parquet", "p.csv"):
        assert exported(job, "--pieces-since", tmp_path / name) == []


def _number(store: SqliteStore) -> int:
    return next(n for n, url in store.exports.page_urls().items() if url == "http://a/")


def refresh(job: Path) -> None:
    """A section of a page changes, the other page is gone."""
    with SqliteStore(job / "crawl.sqlite") as store:
        new = page("http://a/", "one", "two", fetched_at=3 * DAY, one="Something else.")
        store.refreshes.begin()
        store.refreshes.replace_page(_number(store), new, {})
        store.refreshes.note_visit("http://a/", "changed")
        store.refreshes.note_visit("http://b/", "gone")


def test_changes_are_those_between_two_exports(job: Path) -> None:
    before = exported(job)
    (job / "before.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in before))
    refresh(job)
    after = exported(job)
    changes = exported(job, "--pieces-since", job / "before.jsonl")
    assert exported(job, "--pieces-since", "1970-01-03") == changes
    added = {row["id"] for row in changes if row["change"] == "add"}
    deleted = {row["id"] for row in changes if row["change"] == "delete"}
    assert added == ids(after) - ids(before)
    assert deleted == ids(before) - ids(after)
    assert (ids(before) | added) - deleted == ids(after)
    texts = [row["text"] for row in changes if row["change"] == "add"]
    assert texts == ["## one\n\nSomething else."]
    assert len(deleted) == 2  # the old section, and the one that only the other page had


def test_pieces_of_a_page_that_is_gone_stay_while_a_duplicate_is_there(job: Path) -> None:
    before = ids(exported(job))
    with SqliteStore(job / "crawl.sqlite") as store:
        gone = next(n for n, url in store.exports.page_urls().items() if url == "http://b/")
        match = Match(gone, stage="text", resemblance=1.0)
        store.add_duplicate(replace(store.page(gone), url="http://b/copy"), match)
        store.refreshes.begin()
        store.refreshes.note_visit("http://b/", "gone")
    assert ids(exported(job)) == before
    with SqliteStore(job / "crawl.sqlite") as store:
        store.refreshes.note_visit("http://b/copy", "gone")
    assert ids(exported(job)) < before


def test_changes_since_a_time_without_bodies(job: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    store_pages(plain, [replace(page("http://a/", "one", "two"), body=None)])
    before = ids(exported(plain))
    with SqliteStore(plain / "crawl.sqlite") as store:
        new = page("http://a/", "one", "two", fetched_at=3 * DAY, one="Something else.")
        store.refreshes.begin()
        store.refreshes.replace_page(_number(store), replace(new, body=None), {})
    after = ids(exported(plain))
    changes = exported(plain, "--pieces-since", "1970-01-03")
    assert {row["id"] for row in changes if row["change"] == "delete"} == before - after
    assert {row["id"] for row in changes if row["change"] == "add"} == after - before


def test_near_pieces_are_left_out_if_asked(job: Path) -> None:
    store_pages(job, [page("http://c/", "four", "one", one=SECTIONS["one"] + " Amen.")])
    assert len(exported(job, "--pieces-without-near")) < len(exported(job))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pieces-since", "2026"], "--pieces-since needs --pieces"),
        (["--pieces", "100", "-d", "x.jsonl"], "leave -d out"),
        (["--pieces", "100", "--fields", "url"], "leave --fields out"),
        (["--pieces", "100", "-o", "x.warc"], "WARC"),
        (["--pieces", "100", "--pieces-since", "yesterday"], "ISO 8601"),
        (["--pieces", "100", "--pieces-tokens", "crawl.sqlite"], "tokenizer.json"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    job: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    given = [str(job / each) if each.startswith("crawl") else each for each in options]
    assert main(["export", str(job), *given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_changes_are_not_taken_for_an_earlier_export(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(job, "--pieces-since", "1970-01-01")
    (job / "found.jsonl").rename(job / "changes.jsonl")
    given = ["export", str(job), "--pieces", "9", "--pieces-since", str(job / "changes.jsonl")]
    assert main(given) == 2
    assert "an export of all pieces" in " ".join(capsys.readouterr().err.split())


def test_tokens_are_counted_by_a_tokenizer(job: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    made.save(str(job / "tokenizer.json"))
    rows = exported(job, "--pieces-tokens", job / "tokenizer.json")
    assert len(rows) > len(exported(job))
    assert max(len(row["text"]) for row in rows) < 130
