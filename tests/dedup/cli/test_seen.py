"""`dedup seen`: by URL and by content, in the first of several jobs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.config import DedupConfig
from dedup.store import Page, open_store

_OLD = " ".join(f"old{n}" for n in range(200)) + ". "
_NEW = " ".join(f"new{n}" for n in range(200)) + ". "


def job(folder: Path, *pages: Page, config: DedupConfig | None = None) -> str:
    with open_store(folder) as store:
        judge = Deduplicator(store=store, config=config)
        for each in pages:
            judge.process(each)
    return str(folder)


def page(name: str, text: str) -> Page:
    return Page(id="", text=text, url=f"http://a.example/{name}", title=name, fetched_at=7.0)


@pytest.fixture
def jobs(tmp_path: Path) -> list[str]:
    first = job(tmp_path / "first", page("old", _OLD), page("copy", _OLD))
    return [first, job(tmp_path / "second", page("old", _OLD), page("new", _NEW))]


@pytest.fixture
def ask(jobs: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    def ask(*given: str) -> tuple[int, dict[str, Any]]:
        status = main(["seen", *jobs, *given, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return ask


def test_a_url_is_looked_up_in_each_job(ask: Any, jobs: list[str]) -> None:
    status, found = ask("http://A.example:80/new")
    assert status == 0
    assert (found["job"], found["url"]) == (jobs[1], "http://a.example/new")
    assert (found["stage"], found["resemblance"]) == ("url", None)
    assert found["fetched_at"] == "1970-01-01T00:00:07.000Z"
    status, found = ask("http://a.example/copy")  # dropped as a duplicate, but fetched
    assert (status, found["url"]) == (0, "http://a.example/copy")
    assert ask("http://a.example/none") == (1, {"found": False})


def test_content_is_found_in_the_first_job_that_has_it(
    ask: Any, jobs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.txt"
    file.write_text(_OLD)
    status, found = ask(str(file))
    assert (status, found["job"], found["url"]) == (0, jobs[0], "http://a.example/old")
    assert (found["stage"], found["resemblance"]) == ("text", 1.0)
    file.write_text(f"<!doctype html><title>new</title><main><p>{_NEW} and more</p></main>")
    status, found = ask(str(file), "--url", "http://b.example/elsewhere")
    assert (status, found["job"], found["title"]) == (0, jobs[1], "new")
    assert found["resemblance"] > 0.9
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"Nothing of the kind.")))
    assert ask("-") == (1, {"found": False})


def test_the_answer_in_words(jobs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seen", jobs[1], "http://a.example/new"]) == 0
    assert capsys.readouterr().out == (
        f'found by its URL:\n  http://a.example/new\n  "new"\n'
        f"  page 2 of {jobs[1]}, fetched 1970-01-01T00:00:07.000Z\n"
    )
    assert main(["seen", jobs[0], "http://a.example/new"]) == 1
    assert capsys.readouterr().out == "not found\n"


def test_jobs_of_any_settings_are_asked_and_those_without_pages_refused(
    jobs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.txt"
    file.write_text(_NEW)
    config = DedupConfig(simhash_unspaced_features="segments")
    other = job(tmp_path / "other", page("new", _NEW), config=config)
    assert main(["seen", jobs[0], other, str(file)]) == 0
    assert f"page 1 of {other}" in capsys.readouterr().out
    open_store(tmp_path / "empty").close()
    assert main(["seen", str(tmp_path / "empty"), str(file)]) == 2
    assert "its crawl has not fetched any page yet" in capsys.readouterr().err
    assert main(["seen", jobs[0], "http://a.example/", "--url", "http://a.example/"]) == 2
    assert "--url is of a page in a file" in capsys.readouterr().err
