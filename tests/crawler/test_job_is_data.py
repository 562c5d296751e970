"""A job's folder that a stranger has made is data: nothing in it runs, nothing leads out of it."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest
from queuelib import FifoDiskQueue, LifoDiskQueue

from dedup.store import SqliteStore
from tests.crawler.conftest import Crawler, WebSite

_SPIDER = """
import scrapy


class Counting(scrapy.Spider):
    name = "counting"

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse(self, response):
        self.state["n"] = self.state.get("n", 0) + 1
        self.state["set"] = {1}
        print("state", sorted(self.state.items(), key=str))
        yield {"url": response.url, "text": " ".join(response.css("main ::text").getall())}
"""
_SETTINGS = {
    "SPIDER_MODULES": "counting",
    "ADDONS": '{"dedup.scrapy.DedupAddon": 500}',
    "LOG_LEVEL": "WARNING",
    "DEDUP_PROGRESS": "off",
}


class Program:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self._path),)


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """What is there if a program in the folder has run."""
    return tmp_path / "ran"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "job"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def guest(tmp_path: Path, site: WebSite, make: SimpleNamespace) -> Path:
    site.routes["/"] = make.page("start")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "counting.py").write_text(_SPIDER)
    settings = "".join(f"{name} = {value!r}\n" for name, value in _SETTINGS.items())
    (folder / "project_settings.py").write_text(settings.replace("'{", "{").replace("}'", "}"))
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    return folder


def test_a_pickled_state_is_not_read(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, job: Path, ran: Path
) -> None:
    site.routes["/"] = make.page("start")
    stored = pickle.dumps(Program(ran))
    (job / "spider.state").write_bytes(stored)
    crawled = crawl("site", "-s", f"JOBDIR={job}", job="", url=site.url)
    assert not ran.exists()
    assert "spider.state is not read: it is a pickle" in crawled.output
    assert crawled.status == 0
    assert (job / "spider.state").read_bytes() == stored


def test_the_state_of_another_projects_spider_is_kept_as_json(
    crawl: Crawler, site: WebSite, guest: Path, job: Path
) -> None:
    options = ("-s", f"JOBDIR={job}", "-s", "DEDUP_URL_ENABLED=0")
    first = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert "state [('n', 1), ('set', {1})]" in first.output
    assert "These values of spider.state are not JSON-serialisable: 'set'" in first.output
    assert (job / "spider_state.json").read_text() == '{"n": 1}'
    second = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert "state [('n', 2), ('set', {1})]" in second.output


@pytest.mark.parametrize(
    "state", [b"[1]", b"{", b"[" * 100_000, b" " * (17 << 20), b'"\xff"'], ids=range(5)
)
def test_invalid_state_is_refused_in_a_sentence(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, state: bytes
) -> None:
    (job / "spider_state.json").write_bytes(state)
    crawled = crawl("counting", "-s", f"JOBDIR={job}", job="", cwd=guest, url=site.url)
    assert crawled.status == 1
    assert "spider_state.json: expected" in crawled.output
    assert "Traceback" not in crawled.output
    assert site.pages_asked() == []
    assert (job / "spider_state.json").read_bytes() == state


@pytest.mark.parametrize("name", ["0", "0s"])
@pytest.mark.parametrize("is_enabled", [0, 1])
def test_requests_that_scrapy_has_pickled_are_refused(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, ran: Path, name: str, is_enabled: int
) -> None:
    _pickle_request(job, name, ran)
    options = ("-s", f"JOBDIR={job}", "-s", f"DEDUP_URL_ENABLED={is_enabled}")
    crawled = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert not ran.exists()
    assert crawled.status != 0
    assert "its requests are pickles, which could run code" in crawled.output
    assert site.asked == []
    assert (job / "requests.queue" / name).exists()


@pytest.mark.parametrize("name", ["0", "0s"])
def test_pickled_requests_in_a_job_of_the_add_on_are_counted_and_not_read(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, ran: Path, name: str
) -> None:
    SqliteStore(job / "crawl.sqlite").close()
    _pickle_request(job, name, ran)
    options = ("-s", f"JOBDIR={job}", "-s", "DEDUP_URL_ENABLED=0")
    options += ("-s", "SCHEDULER_PRIORITY_QUEUE=scrapy.pqueues.ScrapyPriorityQueue")
    crawled = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert not ran.exists()
    assert "a queued request cannot be read: it is not JSON" in crawled.output
    assert site.pages_asked() == ["/"]


def _pickle_request(job: Path, name: str, ran: Path) -> None:
    (job / "requests.queue").mkdir()
    queue = (FifoDiskQueue if name == "0s" else LifoDiskQueue)(str(job / "requests.queue" / name))
    queue.push(pickle.dumps(Program(ran)))
    queue.close()
    (job / "requests.queue" / "active.json").write_text("[0]")


NAMES = ("crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite-shm", "crawl.sqlite.lock")


@pytest.mark.parametrize("name", [*NAMES, "spider_state.json", "requests.seen", "requests.queue/0"])
def test_a_link_in_place_of_a_file_is_refused(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, tmp_path: Path, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (job / "requests.queue").mkdir()
    (job / name).symlink_to(elsewhere)
    options = ("-s", f"JOBDIR={job}", "-s", "DEDUP_URL_ENABLED=0")
    crawled = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert crawled.status == 1
    assert f"{name}: expected a file, found a symbolic link" in crawled.output
    assert "Traceback" not in crawled.output
    assert not elsewhere.exists()


def test_a_file_in_place_of_the_queue_is_refused(
    crawl: Crawler, site: WebSite, guest: Path, job: Path
) -> None:
    (job / "requests.queue").write_text("[0]")
    crawled = crawl("counting", "-s", f"JOBDIR={job}", job="", cwd=guest, url=site.url)
    assert crawled.status == 1
    assert "requests.queue: expected a folder, found a file" in crawled.output
    assert site.asked == []


@pytest.mark.parametrize("name", ["requests.seen", "requests.queue/active.json"])
def test_a_pipe_in_place_of_a_file_of_the_queue_is_refused(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, name: str
) -> None:
    (job / "requests.queue").mkdir()
    os.mkfifo(job / name)
    options = ("-s", f"JOBDIR={job}", "-s", "DEDUP_URL_ENABLED=0")
    crawled = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert crawled.status == 1
    assert f"{name}: expected a file, found something else" in crawled.output


def test_links_under_names_of_temporary_files_are_not_followed(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, job: Path, tmp_path: Path
) -> None:
    site.routes["/"] = make.page("start")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    for name in ("stats.json.part", "report.html.part", ".part-report.html", "report.html"):
        (job / name).symlink_to(elsewhere)
    crawled = crawl("site", "-s", f"JOBDIR={job}", job="", url=site.url)
    assert crawled.status == 0, crawled.output
    assert elsewhere.read_text() == "precious"
    assert b"<html" in (job / "report.html").read_bytes()


def test_a_pipe_in_place_of_the_store_is_refused(crawl: Crawler, site: WebSite, job: Path) -> None:
    os.mkfifo(job / "crawl.sqlite")
    crawled = crawl("site", "-s", f"JOBDIR={job}", job="", url=site.url)
    assert crawled.status == 2
    assert "crawl.sqlite: expected a file, found something else" in crawled.output


@pytest.mark.parametrize("name", NAMES)
def test_a_hard_link_in_place_of_a_file_is_refused(
    crawl: Crawler, site: WebSite, job: Path, tmp_path: Path, name: str
) -> None:
    SqliteStore(job / "crawl.sqlite").close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes((job / "crawl.sqlite").read_bytes() if name == NAMES[0] else b"precious")
    before = elsewhere.read_bytes()
    (job / name).unlink(missing_ok=True)
    (job / name).hardlink_to(elsewhere)
    crawled = crawl("site", "-s", f"JOBDIR={job}", job="", url=site.url)
    assert crawled.status == 2
    assert f"{name}: the file has another name elsewhere (a hard link)" in crawled.output
    assert elsewhere.read_bytes() == before


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, job: Path, tmp_path: Path
) -> None:
    site.routes["/"] = make.page("start")
    left = [job / f".part-{'0a' * 8}.html", job / f".part-{'1b' * 8}.json"]
    kept = [job / ".part-report.html", job / f".part-{'2c' * 8}.html"]
    for path in (*left, *kept):
        path.write_text("half")
        if path != kept[1]:  # which another process may be writing
            os.utime(path, (0, 0))
    link = job / f".part-{'3d' * 8}.html"
    link.symlink_to(kept[0])
    assert crawl("site", "-s", f"JOBDIR={job}", job="", url=site.url).status == 0
    assert [path.exists() for path in (*left, *kept, link)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    "state", ["[0]", "[", '{"a": 0}', '{"a": ["../../../escaped"]}', '"a"', "1"]
)
def test_priorities_that_scrapy_has_not_noted_are_refused_in_a_sentence(
    crawl: Crawler, site: WebSite, guest: Path, job: Path, state: str
) -> None:
    (job / "requests.queue").mkdir()
    (job / "requests.queue" / "active.json").write_text(state)
    options = ("-s", f"JOBDIR={job}", "-s", "DEDUP_URL_ENABLED=0")
    crawled = crawl("counting", *options, job="", cwd=guest, url=site.url)
    assert crawled.status == 1
    assert "active.json: expected" in crawled.output
    assert "Traceback" not in crawled.output
    assert site.asked == []
