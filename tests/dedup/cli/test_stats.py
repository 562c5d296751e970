"""`dedup stats`: one job or two, in all or broken down; the numbers are those of the store."""

import json
from pathlib import Path
from typing import Any

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.store import Page, SqliteStore

HOSTILE = "\x1bc\x9b31mevil.example"


def make_job(folder: Path, stories: int, copies: int) -> Path:
    store = SqliteStore(folder / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for story in range(stories):
        text = " ".join(f"Page {story} has the line {line} of many." for line in range(30))
        text = text.replace("line", f"l{'i' * (story + 1)}ne")
        for copy in range(copies):
            tail = f"?utm_source=news{copy}" if copy else ""
            url = f"http://{'ab'[story % 2]}.example/page-{story}{tail}"
            body = text.encode()
            deduplicator.process(
                Page(id="", text=text, url=url, body=body, size_bytes=100, fetched_at=1.7e9)
            )
    store.add_skipped(f"http://{HOSTILE}/", "http_500", is_fetched=True, size_bytes=1)
    store.close()
    return folder


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first = make_job(tmp_path_factory.mktemp("first"), 4, 3)
    return first, make_job(tmp_path_factory.mktemp("second"), 2, 2)


def rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main(["stats", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_hosts_reconcile(jobs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = {row["name"]: row for row in rows(capsys, jobs[0], "--by", "host")}
    assert set(found) == {"a.example", "b.example", HOSTILE}
    row = found["a.example"]
    assert (row["fetched"], row["unique"], row["duplicates"], row["bytes"]) == (6, 2, 4, 600)
    assert row["duplicate_share"] == pytest.approx(2 / 3)


def test_stages_have_their_figures(
    jobs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(capsys, jobs[0], "--by", "stage")
    assert (row["name"], row["duplicates"], row["originals"], row["bytes"]) == ("body", 8, 4, 800)
    assert row["resemblance_least"] == 1
    assert row["distance_greatest"] is None


def test_patterns_come_with_the_setting_that_avoids_them(
    jobs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    row = rows(capsys, jobs[0], "--by", "pattern")[0]
    assert (row["name"], row["duplicates"]) == ("tracking", 8)
    assert row["setting"] == "-s DEDUP_URL_RULES=tracking"


def test_two_jobs_are_compared(jobs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = {row["name"]: row for row in rows(capsys, *jobs)["rows"]}
    assert found["fetched"] == {"name": "fetched", "first": 13, "second": 5, "change": -8}
    assert found["duplicates: body"]["change"] == -6
    by_host = rows(capsys, *jobs, "--by", "host")
    assert by_host["column"] == "fetched"
    assert {row["name"]: row["change"] for row in by_host["rows"]}["a.example"] == -4


@pytest.mark.parametrize("by", ["host", "stage", "pattern", None])
@pytest.mark.parametrize("count", [1, 2])
def test_tables_show_every_row_without_terminal_control(
    jobs: tuple[Path, Path], by: str | None, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*map(str, jobs[:count]), *(["--by", by] if by else [])]
    assert main(["stats", *given]) == 0
    out = capsys.readouterr().out
    shown = {"host": "evil.example", "stage": "body", "pattern": "tracking", None: "unique"}
    assert shown[by] in out
    assert not {"\x1b", "\x9b"} & set(out)


def test_more_rows_than_fit_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    for number in range(40):
        store.add_skipped(f"http://{number}.example/", "http_404", is_fetched=True)
    store.close()
    assert main(["stats", str(tmp_path), "--by", "host"]) == 0
    assert "… and 10 more: --json" in capsys.readouterr().out


@pytest.mark.parametrize("by", ["host", "stage", "pattern"])
def test_a_row_is_a_line_in_a_pipe(
    jobs: tuple[Path, Path], capsys: pytest.CaptureFixture[str], by: str, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    make_job(job, 4, 3)
    with SqliteStore(job / "crawl.sqlite") as store:
        store.add_skipped(f"http://{'long-' * 40}.example/", "timeout", is_fetched=True)
    for arguments in ([job], [job, jobs[1]]):
        found = rows(capsys, *arguments, "--by", by)
        count = len(found["rows"] if arguments[1:] else found)
        assert main(["stats", *map(str, arguments), "--by", by]) == 0
        assert len(capsys.readouterr().out.splitlines()) == count + 1
