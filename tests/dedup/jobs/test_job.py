"""Jobs as programs read them: the job of the demo site that is kept for its release."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import dedup
from dedup.demo.server import DemoServer
from dedup.store import Page, SqliteStore, open_store
from tests.released_job import FOLDER, unpack


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dedup.Job:
    folder = tmp_path_factory.mktemp("jobs") / "demo"
    unpack(sorted(FOLDER.glob("*.sqlite.zst"))[-1], folder)
    return dedup.open_job(folder)


def test_rows_become_frames(job: dedup.Job) -> None:
    frame = pd.DataFrame(job.pages("url", "text", "markdown"))
    assert list(frame) == ["url", "text", "markdown"]
    assert len(frame) == len(pl.DataFrame(job.pages(), infer_schema_length=None)) == 39
    copies = pl.DataFrame(job.duplicates())
    assert set(copies["duplicate_of_url"]) <= set(frame["url"])


def test_a_page_is_found_by_the_url_of_its_copy(job: dedup.Job) -> None:
    copy = next(job.duplicates())
    page = job.page(copy["url"], "url", "title")
    assert page is not None
    assert page["url"] == copy["duplicate_of_url"]
    assert job.why(copy["url"])[0]["outcome"] == "duplicate"


def test_one_page_has_the_fields_of_the_rows_of_all(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        number = store.add(Page(id="", text="A text.", url="http://a.example/"), {})
        store.learned.preferences.note(number, '[["meta", "robots", "noai"]]')
    found = dedup.open_job(tmp_path)
    (row,) = found.pages("url", "preferences", "rendered", "gone_at")
    assert row["preferences"] == [{"source": "meta", "name": "robots", "value": "noai"}]
    assert found.page("http://a.example/", *row) == row


def test_what_is_not_there_is_none(job: dedup.Job) -> None:
    assert job.page("http://nowhere.example/") is None
    assert job.seen("A sentence that no page of the demo has.") is None


def test_all_pages_of_a_first_crawl_are_new(job: dedup.Job) -> None:
    assert {row["change"] for row in job.changes()} == {"new"}


def test_a_text_is_recognised(job: dedup.Job) -> None:
    page = next(row for row in job.pages("url", "text") if len(row["text"]) > 1_000)
    seen = job.seen(page["text"] + " One more word.")
    assert seen is not None
    assert seen["url"] == page["url"]


def test_names_of_fields_are_checked(job: dedup.Job) -> None:
    with pytest.raises(ValueError, match="did you mean markdown"):
        next(job.pages("markdwn"))


def test_a_job_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(dedup.StateError, match="no"):
        dedup.open_job(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_job_hides_its_password() -> None:
    shown = repr(dedup.Job("postgresql://crawler:secret@db.example/crawls#docs"))
    assert "secret" not in shown
    assert "#docs" in shown


def stored(store: SqliteStore, name: str, title: str, text: str) -> None:
    store.add(Page(name, text, url=f"http://a.example/{name}", title=title), {})


def test_search_finds_words_of_both_languages_and_new_pages(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert isinstance(store, SqliteStore)
        stored(store, "a", "Crawling", "Pages are fetched politely, one after the other.")
        stored(store, "b", "网页去重", "我们找到了两个版本的网页。")
    job = dedup.Job(tmp_path)
    assert [found.url for found in job.search("fetch page")] == ["http://a.example/a"]
    (chinese,) = job.search("两个版本")
    assert (chinese.title, chinese.excerpt) == ("网页去重", "我们找到了两个版本的网页。")
    assert job.search("politely 版本") == []
    with open_store(tmp_path) as store:
        assert isinstance(store, SqliteStore)
        stored(store, "c", "Politely", "A page about fetching: 版本.")
    assert [found.url[-1] for found in job.search("politely")] == [
        "c",
        "a",
    ]  # the title counts more
    assert [found.url[-1] for found in job.search("版本", limit=1)] in (["b"], ["c"])


@pytest.mark.parametrize("words", ["", '" OR (', "*"])
def test_words_without_letters_are_refused(words: str, tmp_path: Path) -> None:
    with open_store(tmp_path):
        pass
    if words == '" OR (':
        assert dedup.Job(tmp_path).search(words) == []  # OR is a word
    else:
        with pytest.raises(ValueError, match="words must have a letter"):
            dedup.Job(tmp_path).search(words)


@pytest.mark.slow
def test_a_crawl_from_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dedup.CrawlError, match="status 2") as refused:
        dedup.crawl("no url", job="x")
    assert refused.value.status == 2
    with DemoServer() as site:
        job = dedup.crawl(site.url, job="small", max_pages=5)
    assert job.place == Path("crawls", "small")
    assert job.stats()["pages"]["unique"] >= 1
    assert "fetched" in capsys.readouterr().err
