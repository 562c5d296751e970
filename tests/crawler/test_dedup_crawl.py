"""`dedup crawl` in an empty folder: what it finds, and what it says of mistakes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import zipfile
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from dedup.cli import main
from tests.crawler.forked import Forked

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

_IN_ORDER = ("-s", "CONCURRENT_REQUESTS=1")
"""The same copy of a page is the first in every run."""

_NOBODY = "http://127.0.0.1:9/"
"""Nothing listens there."""


class Said(NamedTuple):
    status: int | None
    output: str

    def check(self, status: int, *parts: str) -> None:
        assert self.status == status, self.output
        assert "Traceback" not in self.output
        for part in parts:
            assert part in self.output, self.output


class Dedup:
    """Runs `dedup` in a folder of its own, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *arguments: str) -> Forked:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "400"}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        command = ["-m", "dedup.cli", *arguments]
        return Forked(command, cwd=self.folder, environment=environment)

    def __call__(self, *arguments: str) -> Said:
        process = self.start(*arguments)
        output = process.communicate(timeout=240)[0].decode()
        return Said(process.returncode, output)


@pytest.fixture
def dedup(tmp_path: Path) -> Dedup:
    return Dedup(tmp_path)


def _urls(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def three(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Three pages and a copy of one, of which the sitemap lists two."""
    site.routes |= {
        "/": make.page("home", "/a", "/b", "/copy"),
        "/a": make.page("a"),
        "/b": make.page("b"),
        "/copy": make.page("a"),
        "/sitemap.xml": make.Answer(
            f"<urlset><url><loc>{site.url}a</loc></url><url><loc>{site.url}b</loc></url></urlset>".encode(),
            content_type="application/xml",
        ),
    }
    return site


# --- What it finds ---------------------------------------------------------------------------


def test_pages_are_those_of_scrapy_crawl(dedup: Dedup, crawl: Crawler, three: WebSite) -> None:
    dedup("crawl", three.url, "-o", "pages.jsonl", *_IN_ORDER).check(0, "3 pages in")
    crawled = crawl("site", *_IN_ORDER, url=three.url)
    assert _urls(dedup.folder / "pages.jsonl") == crawled.rows("SELECT url FROM pages")
    (job,) = (dedup.folder / "crawls").iterdir()
    assert job.name == "site-" + three.url.removeprefix("http://").strip("/").replace(":", "-")


def test_table_ends_with_the_next_commands(dedup: Dedup, three: WebSite) -> None:
    said = dedup("crawl", three.url, "--job", "a job's")
    job = next((dedup.folder / "crawls").iterdir()).relative_to(dedup.folder)
    shown = said.output.replace("uv run dedup", "dedup")  # as this test may have been started
    assert shown.endswith(f"next: dedup report {job}\n      dedup export {job} -o pages.jsonl\n")


def test_quiet_crawl_tells_only_what_is_wrong(dedup: Dedup, three: WebSite) -> None:
    assert dedup("crawl", three.url, "--job", "three", "--quiet", *_IN_ORDER) == Said(0, "")
    three.routes = {}
    said = dedup("crawl", three.url, "--job", "none", "--quiet")
    said.check(1, "dedup: the crawl needs attention: dedup stats crawls/none")


@pytest.mark.parametrize(
    ("options", "pages"),
    [
        (("--sitemap",), "ab"),
        (("--allow", "/[ab]?$"), "ab"),
        (("--deny", "/(b|copy)$"), "a"),
        (("--max-pages", "1"), ""),
    ],
)
def test_options_choose_pages(
    dedup: Dedup, three: WebSite, options: tuple[str, ...], pages: str
) -> None:
    dedup("crawl", three.url, *options, *_IN_ORDER, "--output", "pages.jsonl").check(0)
    found = _urls(dedup.folder / "pages.jsonl")
    home = [] if "--sitemap" in options else [three.url]
    assert found == [*home, *(three.url + page for page in pages)]


def test_list_of_urls(dedup: Dedup, three: WebSite) -> None:
    (dedup.folder / "list.txt").write_text(f"# two\n{three.url}b\nno URL\n{three.url}a\n")
    dedup("crawl", "--urls", "list.txt", "-o", "pages.csv").check(0, "line 3", "2 pages in")
    assert sorted(three.pages_asked()) == ["/a", "/b"]
    assert (dedup.folder / "pages.csv").read_text(encoding="utf-8").count("http://") == 2


def test_settings_and_a_project_nearby(dedup: Dedup, three: WebSite) -> None:
    """A Scrapy project in the folder does not count."""
    (dedup.folder / "scrapy.cfg").write_text("[settings]\ndefault = nowhere.settings\n")
    dedup("crawl", three.url, "-s", "DEPTH_LIMIT=1", "-s", "DEDUP_JOBS_DIR=jobs").check(0)
    assert (dedup.folder / "jobs").is_dir()


def test_finished_job_is_exported_again_and_refreshed(dedup: Dedup, three: WebSite) -> None:
    dedup("crawl", three.url).check(0)
    n_asked = len(three.asked)
    said = dedup("crawl", three.url, "-o", "pages.jsonl")
    said.check(0, "is finished; nothing is fetched", "--refresh revisits its pages", "--job NAME")
    assert len(three.asked) == n_asked
    assert len(_urls(dedup.folder / "pages.jsonl")) == 3
    dedup("crawl", three.url, "-o", "pages.wacz").check(0, "3 pages")
    assert zipfile.is_zipfile(dedup.folder / "pages.wacz")
    dedup("crawl", three.url, "--refresh", "-o", "pages.jsonl").check(2, "--overwrite replaces it")
    dedup("crawl", three.url, "--refresh", "-o", "pages.jsonl", "--overwrite").check(
        0, "refresh 1: 3 unchanged"
    )


def test_refresh_without_a_finished_job_is_its_first_crawl(dedup: Dedup, three: WebSite) -> None:
    said = "there was no finished job to refresh; this is its first crawl"
    dedup("crawl", three.url, "--job", "new", "--refresh").check(0, said)
    again = dedup("crawl", three.url, "--job", "new", "--refresh")
    again.check(0, "refresh 1: 3 unchanged")
    assert said not in again.output


def test_interrupted_crawl_resumes_and_then_writes_the_pages(
    dedup: Dedup, site: WebSite, make: SimpleNamespace
) -> None:
    process: list[Forked] = []

    def interrupt(handler: object) -> bytes:
        if process:
            os.kill(process.pop().pid, signal.SIGINT)
        return bytes(make.page("a", "/b"))

    site.routes |= {"/": make.page("home", "/a"), "/a": interrupt, "/b": make.page("b")}
    process.append(started := dedup.start("crawl", site.url, "-o", "pages.jsonl"))
    output = started.communicate(timeout=240)[0].decode()
    said = Said(started.returncode, output)
    said.check(0, "stopped: shutdown; rerun the same command to resume", "is written when the same")
    assert not (dedup.folder / "pages.jsonl").exists()
    dedup("crawl", site.url, "-o", "pages.jsonl").check(0, "resumes after")
    assert len(_urls(dedup.folder / "pages.jsonl")) == 3


def test_demo(dedup: Dedup) -> None:
    dedup("demo").check(0, "job: crawls/demo", "duplicates: sentences")
    assert (dedup.folder / "crawls/demo/report.html").is_file()


# --- Mistakes that are seen before Scrapy is imported --------------------------------------------

_MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no URL": ((), "a URL is missing: dedup crawl https://…, or dedup crawl --urls FILE"),
    "no scheme": (
        ("example.com/docs",),
        "a URL must begin with https:// or http://, got 'example.com/docs':"
        " dedup crawl https://example.com/docs",
    ),
    "a file for a URL": (
        ("list.txt",),
        "list.txt is a file: dedup crawl --urls list.txt fetches what it lists",
    ),
    "other scheme": (("ftp://a/",), "a URL must begin with https:// or http://, got 'ftp://a/'"),
    "file: URL": (("file:///etc",), "must begin with https:// or http://, got 'file:///etc'"),
    "no host": (("https://",), "not a URL: 'https://'"),
    "max pages 0": (
        (_NOBODY, "--max-pages", "0"),
        "--max-pages must be a whole number of at least 1, got '0'; leave it out for all pages",
    ),
    "max pages in letters": ((_NOBODY, "--max-pages", "ten"), "at least 1, got 'ten'"),
    "no processes": ((_NOBODY, "--processes", "0"), "--processes must be a whole number"),
    "job with a slash": (
        (_NOBODY, "--job", "a/b"),
        "--job must be a name without slashes, got 'a/b'; -s DEDUP_JOBS_DIR=FOLDER",
    ),
    "setting without a value": ((_NOBODY, "-s", "LOG_LEVEL"), "-s must be NAME=VALUE"),
    "no file": (("--urls", "gone.txt"), "--urls must be a readable file, got 'gone.txt'"),
    "empty file": (("--urls", "empty.txt"), "got 'empty.txt': it is empty"),
    "file of words": (("--urls", "words.txt"), "its first line is 'one two'"),
    "list and URL": (("--urls", "list.txt", _NOBODY), "are two crawls: give one of them"),
    "unknown format": ((_NOBODY, "-o", "a.xml"), "the file extension must be .jsonl or"),
    "output exists": (
        (_NOBODY, "-o", "list.txt.csv"),
        "-o: 'list.txt.csv' already exists; --overwrite replaces it",
    ),
}


@pytest.mark.parametrize("name", _MISTAKES)
def test_mistake_is_told_in_a_sentence(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, says = _MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    files = {"list.txt": _NOBODY, "list.txt.csv": "", "empty.txt": "# no\n", "words.txt": "one two"}
    for file, text in files.items():
        Path(file).write_text(text)
    assert main(["crawl", *arguments]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.startswith("dedup: ")
    assert said.count("\n") == 1
    assert {path.name for path in Path().iterdir()} == files.keys()


def test_format_whose_package_is_missing_is_told_before_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["crawl", _NOBODY, "-o", "pages.parquet"]) == 2
    assert "pip install 'scrapy-dedup[parquet]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- Mistakes of settings and jobs ---------------------------------------------------------------

_REFUSED = {
    "unknown setting": (("-s", "FOO=1"), "unknown setting FOO; neither Scrapy nor dedup has it"),
    "misspelt setting": (
        ("-s", "CONCURENT_REQUESTS=1"),
        "unknown setting CONCURENT_REQUESTS; did you mean CONCURRENT_REQUESTS?",
    ),
    "misspelt setting of dedup": (
        ("-s", "DEDUP_NEAR_RESEMBLENCE=.7"),
        "unknown setting DEDUP_NEAR_RESEMBLENCE; did you mean DEDUP_NEAR_RESEMBLANCE?",
    ),
    "words for a number": (("-s", "DOWNLOAD_DELAY=long"), "DOWNLOAD_DELAY must be a number"),
    "a word for a switch": (("-s", "ROBOTSTXT_OBEY=no"), "ROBOTSTXT_OBEY must be 1 or 0"),
    "no object": (("-s", "FEEDS=a.csv"), "FEEDS must be a JSON object, got 'a.csv'"),
    "no level": (("-s", "LOG_LEVEL=LOUD"), "LOG_LEVEL must be one of CRITICAL"),
    "too much": (("-s", "DEDUP_NEAR_RESEMBLANCE=7"), "DEDUP_NEAR_RESEMBLANCE must be a number"),
    "bad regex": (("--allow", "("), "allow must be a regular expression, got '('"),
    "folder that cannot be written": (
        ("-s", "DEDUP_JOBS_DIR=/dev/null/x"),
        "the folder cannot be written. Choose another folder",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_setting_is_refused_in_a_sentence(dedup: Dedup, name: str) -> None:
    options, says = _REFUSED[name]
    said = dedup("crawl", _NOBODY, *options)
    said.check(2, says)
    assert said.output.startswith("dedup: ")
    assert said.output.count("\n") == 1
    assert not list(dedup.folder.iterdir())


def test_folder_without_a_job_is_left_alone(dedup: Dedup) -> None:
    notes = dedup.folder / "crawls/mine/notes"
    notes.parent.mkdir(parents=True)
    notes.touch()
    said = dedup("crawl", _NOBODY, "--job", "mine")
    said.check(2, "crawls/mine: the folder exists and holds no job. Name the job with --job NAME")
    assert list(notes.parent.iterdir()) == [notes]


@pytest.fixture
def unfinished(dedup: Dedup, three: WebSite) -> Path:
    dedup("crawl", three.url, "--job", "j", "--max-pages", "1").check(0)
    return dedup.folder / "crawls/j/crawl.sqlite"


def test_running_job_is_told(dedup: Dedup, three: WebSite, unfinished: Path) -> None:
    with Path(f"{unfinished}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        said = dedup("crawl", three.url, "--job", "j")
    said.check(
        2, "in use by another process", "dedup stats JOB shows how far it is", "(--job NAME)"
    )


def test_job_of_another_url_is_told(dedup: Dedup, three: WebSite, unfinished: Path) -> None:
    before = unfinished.read_bytes()
    said = dedup("crawl", three.url + "a", "--job", "j")
    said.check(2, "made with different settings: spider argument url", "new job (--job NAME)")
    assert unfinished.read_bytes() == before


# --- Crawls that find nothing ----------------------------------------------------------------


def _of_robots(site: WebSite, make: SimpleNamespace) -> None:
    site.routes["/robots.txt"] = make.Answer(b"User-agent: *\nDisallow: /", 200, "text/plain")


def _of_html(site: WebSite, make: SimpleNamespace) -> None:
    site.routes["/s.xml"] = make.page("no sitemap")


@pytest.mark.parametrize(
    ("prepare", "arguments", "says"),
    [
        (_of_robots, ("{}",), "(robots 1: robots.txt forbids it); ask the site's owner"),
        (_of_html, ("--sitemap", "{}s.xml"), "check that the URL is that of a sitemap"),
        (_of_html, ("{}gone",), "(http_404 1: the server answered 404); check the URL"),
        (_of_html, ("http://no-such-host.invalid/",), "check the spelling of the URL's host"),
        (_of_html, (_NOBODY,), "check the host and the port of the URL, or try again: dedup retry"),
    ],
)
def test_crawl_without_pages_tells_why(
    dedup: Dedup,
    site: WebSite,
    make: SimpleNamespace,
    prepare: Callable[[WebSite, SimpleNamespace], None],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    prepare(site, make)
    given = [each.format(site.url) for each in arguments]
    said = dedup("crawl", *given, "-o", "pages.jsonl", "-s", "RETRY_TIMES=0")
    said.check(1, "no pages were found (", says, "pages.jsonl is not written: there are no pages")
    assert not (dedup.folder / "pages.jsonl").exists()
    dedup("crawl", *given).check(0, "It has no pages: dedup retry crawls/")


def test_page_without_links_is_told(dedup: Dedup, site: WebSite, make: SimpleNamespace) -> None:
    site.routes["/"] = b"<title>One</title><p>A page of a few words.</p>"
    dedup("crawl", site.url).check(0, "the page has no links; if scripts make them")


def test_password_is_used_and_not_stored(dedup: Dedup, three: WebSite) -> None:
    url = three.url.replace("://", "://name:secret@")
    said = dedup("crawl", url, "-o", "pages.jsonl")
    said.check(0)
    kept = [path.read_bytes() for path in dedup.folder.rglob("*") if path.is_file()]
    assert len(kept) > 3
    assert not any(b"secret" in each for each in (said.output.encode(), *kept))


@pytest.mark.slow
def test_several_processes(dedup: Dedup, three: WebSite) -> None:
    said = dedup("crawl", three.url, "--processes", "2", "-o", "pages.jsonl")
    said.check(0, "is crawled by 2 processes", "3 pages in pages.jsonl")
    (job,) = (dedup.folder / "crawls").iterdir()
    connection = sqlite3.connect(job / "crawl.sqlite")
    assert connection.execute("SELECT count(*) FROM pages").fetchone() == (3,)
    connection.close()
