"""Exports without repeated passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from dedup.fields.page_source import reduced
from dedup.store import Page, SqliteStore

NOTE = "All texts of this site may be copied by everybody for any purpose."
CODE = "import one, two, three, four, five, six, seven, eight, nine"
OWN = "The tea of house number {} is kept in a tin of its own."
N_PAGES = 10


def page(number: int, *, host: str = "a.example", note: str = NOTE) -> Page:
    own = OWN.format(number)
    body = (
        f"<h1>Tea {number}</h1><p>{own}</p><h2>Code</h2><pre>{CODE}\nprint({number})</pre>"
        f"<h2>Licence</h2><p>{note}</p>"
    )
    text = f"Tea {number}\n{own}\nCode\n{CODE}\nprint({number})\nLicence\n{note}"
    url = f"http://{host}/{number}"
    return Page(id="", url=url, title=f"Tea {number}", text=text, body=body.encode())


def job_of(folder: Path, pages: list[Page], *, keeps_bodies: bool = True) -> Path:
    with SqliteStore(folder / "crawl.sqlite", keep_bodies=keeps_bodies) as store:
        for each in pages:
            if not keeps_bodies:
                kept = reduced(each, is_final=True)
                assert kept is not None
                each.take_reduced(kept.to_bytes())
            store.add(each, {})
    return folder


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return job_of(tmp_path, [page(number) for number in range(N_PAGES)])


def exported(job: Path, *options: object) -> list[dict[str, Any]]:
    path = job / "found.jsonl"
    assert main(list(map(str, ["export", job, "-o", path, "--overwrite", *options]))) == 0
    return list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("keeps_bodies", [True, False])
def test_fields_are_those_of_the_text_without_passages(tmp_path: Path, keeps_bodies: bool) -> None:
    job = job_of(tmp_path, [page(number) for number in range(N_PAGES)], keeps_bodies=keeps_bodies)
    fields = "--fields", "url,text,markdown,headings"
    rows = exported(job, *fields, "--without-repeated", "0.3")
    for number, row in enumerate(rows):
        own = OWN.format(number)
        assert row["url"] == f"http://a.example/{number}"
        assert row["text"] == f"Tea {number}\n{own}\nCode\n{CODE}\nprint({number})"
        code = f"```\n{CODE}\nprint({number})\n```"
        assert row["markdown"] == f"# Tea {number}\n\n{own}\n\n## Code\n\n{code}"
        assert [each["text"] for each in row["headings"]] == [f"Tea {number}", "Code"]
    assert all(NOTE in row["text"] for row in exported(job, *fields))


def test_what_was_left_out_is_told(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(job, "--without-repeated", "1", "--url", "/[0-3]$")
    told = " ".join(capsys.readouterr().err.split())
    assert told.endswith("; left out 56 words of repeated passages on 4 pages")


def test_pages_that_are_not_exported_count(job: Path) -> None:
    (row,) = exported(job, "--without-repeated", "0.9", "--url", "/3$", "--host", "a.example")
    assert NOTE not in row["text"]


def test_each_host_is_counted_by_itself(tmp_path: Path) -> None:
    pages = [page(number, host=f"{'ab'[number % 2]}.example") for number in range(9)]
    rows = exported(job_of(tmp_path, pages), "--without-repeated", "30%")
    assert [NOTE in row["text"] for row in rows] == [number % 2 == 1 for number in range(9)]


def test_pages_of_no_host_stay(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        for number in range(N_PAGES):
            store.add(Page(id=f"d{number}", text=f"{number}\n{NOTE}"), {})
    rows = exported(tmp_path, "--without-repeated", "0.3")
    assert all(NOTE in row["text"] for row in rows)


def test_own_name_stays_where_others_list_it(tmp_path: Path) -> None:
    pages = [page(number) for number in range(N_PAGES)]
    pages.append(Page(id="", url="http://a.example/x", title="x", heading=NOTE, text=f"{NOTE}\nx"))
    rows = exported(job_of(tmp_path, pages), "--without-repeated", "0.3")
    assert [NOTE in row["text"] for row in rows] == [False] * N_PAGES + [True]


def test_pieces_are_those_of_the_text_without_passages(job: Path) -> None:
    options = "--pieces", "100", "--without-repeated", "0.3"
    rows = exported(job, *options)
    assert len(rows) == 2 * N_PAGES
    assert not any("Licence" in row["text"] for row in rows)
    (job / "found.jsonl").rename(job / "then.jsonl")
    assert exported(job, *options, "--pieces-since", job / "then.jsonl") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.warc", "--without-repeated", "0.3"], "which go to a web archive"),
        (["-d", "x.csv", "--without-repeated", "0.3"], "which go to no file (-o)"),
        (
            ["--pieces", "9", "--pieces-since", "2026-11-21", "--without-repeated", "0.3"],
            "--without-repeated cannot tell what was repeated at a time; give --pieces-since the",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    job: Path,
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(job)
    assert main(["export", str(job), *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("share", ["0", "1.01", "nan", "130%", "%"])
def test_other_shares_are_refused(
    job: Path, share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(job), "--without-repeated", share])
    assert f"and up to 1, such as 0.3 or 30%, got '{share}'" in " ".join(
        capsys.readouterr().err.split()
    )
