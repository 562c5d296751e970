"""The add-on as a guest: what works in a Scrapy project without it works with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.crawler.forked import Forked
from tests.json_lines import read

if TYPE_CHECKING:
    from tests.crawler.conftest import WebSite

_SETTINGS = """
SPIDER_MODULES = ["shelf.spiders"]
ADDONS = {"dedup.scrapy.DedupAddon": 500}
LOG_LEVEL = "WARNING"
TELNETCONSOLE_ENABLED = False
"""

_SPIDERS = '''
import os
import scrapy


class Books(scrapy.Spider):
    name = "books"

    def __init__(self, category="1", **kwargs):  # no argument named restart, or job
        super().__init__(**kwargs)
        self.start_urls = [os.environ["SITE"]]

    def parse(self, response):
        """A contract.

        @url http://127.0.0.1:1/
        @returns items 1 1
        """
        yield {"url": response.url, "text": " ".join(response.css("main ::text").getall())}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse)
'''

_SEVERAL = """
import sys
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
from scrapy.utils.test import get_crawler
from shelf.spiders import Books
get_crawler(Books, {"ADDONS": {"dedup.scrapy.DedupAddon": 500}, "TWISTED_REACTOR_ENABLED": False})
process = CrawlerProcess(get_project_settings())
crawlers = [process.create_crawler(Books) for _ in range(3)]
for number, crawler in enumerate(crawlers):
    process.crawl(crawler, category=number)
process.start()
print([crawler.stats.get_value("item_scraped_count") for crawler in crawlers])
"""


class Project:
    """A project in a folder of its own, with a temporary folder of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.temporary = folder.parent / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self._url = url

    def run(self, *command: str, status: int = 0, **environment: str) -> str:
        """Run a Python module; give what it said."""
        process = Forked(
            command,
            cwd=self.folder,
            environment={
                **_environment(),
                "SITE": self._url,
                "TMPDIR": str(self.temporary),
                "SCRAPY_SETTINGS_MODULE": "shelf.settings",
                "PYTHONPATH": str(self.folder),
                "COLUMNS": "400",
                **environment,
            },
        )
        said = process.communicate(timeout=240)[0].decode()
        assert process.returncode == status, said
        return said

    def scrapy(self, *command: str, status: int = 0) -> str:
        return self.run("-W", "error", "-m", "scrapy", *command, status=status)

    def files(self) -> set[str]:
        found = {*self.folder.rglob("*"), *self.temporary.rglob("*")}
        return {path.name for path in found if "__pycache__" not in path.parts}


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}


@pytest.fixture
def project(tmp_path: Path, site: WebSite, make: SimpleNamespace) -> Project:
    site.routes |= {
        "/": make.page("start", "/a", "/copy", "/b"),
        "/a": make.page("a", "/b", "/a#part", "/"),
        "/copy": make.page("a"),
        "/b": make.page("b", "/a"),
    }
    folder = tmp_path / "project"
    (folder / "shelf").mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = shelf.settings\n")
    (folder / "shelf" / "__init__.py").touch()
    (folder / "shelf" / "settings.py").write_text(_SETTINGS)
    (folder / "shelf" / "spiders.py").write_text(_SPIDERS)
    return Project(folder, site.url)


def test_nothing_is_kept_between_runs_and_no_file_is_left(project: Project) -> None:
    before = project.files()
    for _ in range(2):
        said = project.scrapy("crawl", "books", "-O", "books.jsonl", "-s", "LOG_LEVEL=INFO")
        assert len(read(project.folder / "books.jsonl")) == 3
        assert "'dupefilter/filtered': 6" in said
        assert "job:" not in said
    assert project.files() == before | {"books.jsonl"}


def test_a_report_is_written_where_it_is_asked_for(project: Project) -> None:
    before = project.files()
    project.scrapy("crawl", "books", "-s", "DEDUP_REPORT_FILE=report.html")
    assert "<html" in (project.folder / "report.html").read_text(encoding="utf-8")
    assert project.files() == before | {"report.html"}


def test_crawls_of_one_spider_in_one_process_know_nothing_of_each_other(project: Project) -> None:
    before = project.files()
    assert "[3, 3, 3]" in project.run("-c", _SEVERAL)
    assert project.files() == before


def test_finished_job_leaves_the_feed_unchanged(project: Project) -> None:
    crawl = ("crawl", "books", "-s", "JOBDIR=job", "-O", "books.csv")
    project.scrapy(*crawl)
    feed = (project.folder / "books.csv").read_bytes()
    assert feed.count(b"\n") == 4
    said = project.scrapy(*crawl)
    assert "-s DEDUP_RESTART=1" in said
    assert (project.folder / "books.csv").read_bytes() == feed
    project.scrapy(*crawl, "-s", "DEDUP_RESTART=1")
    assert (project.folder / "books.csv").read_bytes().count(b"\n") == 4
    assert (project.folder / "job.old-1" / "crawl.sqlite").exists()


def test_a_kept_job_is_refused_with_other_arguments(project: Project) -> None:
    project.scrapy("crawl", "books", "-a", "category=1", "-s", "DEDUP_JOB=one")
    said = project.scrapy("crawl", "books", "-a", "category=2", "-s", "DEDUP_JOB=one", status=1)
    assert "spider argument category '1', now '2'" in said
    project.scrapy("crawl", "books", "-a", "category=2", "-s", "DEDUP_KEEP_JOBS=1")
    project.scrapy("crawl", "books", "-s", "DEDUP_KEEP_JOBS=1")
    names = {path.name for path in (project.folder / "crawls").iterdir()}
    assert len(names) == 3
    assert {"one", "books"} <= names


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("list",), "books"),
        (("check", "books"), "Ran 1 contract"),
        (("parse", "--spider", "books", "--pipelines", "{site}"), "Scraped Items"),
        (("fetch", "{site}"), "<title>start"),
        (("shell", "{site}", "-c", "response.css('title::text').get()"), "start"),
    ],
)
def test_commands_of_developers_touch_no_job(
    project: Project, site: WebSite, command: tuple[str, ...], says: str
) -> None:
    (project.folder / "shelf" / "settings.py").write_text(_SETTINGS + "DEDUP_JOB = 'books'\n")
    spiders = (project.folder / "shelf" / "spiders.py").read_text()
    spiders = spiders.replace("http://127.0.0.1:1/", site.url)
    (project.folder / "shelf" / "spiders.py").write_text(spiders)
    before = project.files()
    for _ in range(2):
        said = project.scrapy(*(part.format(site=site.url) for part in command))
        assert says in said
    assert project.files() == before


def test_bench_runs_with_the_addon(project: Project) -> None:
    said = project.run(
        "-m", "scrapy", "bench", "-s", "CLOSESPIDER_PAGECOUNT=5", "-s", "DEDUP_KEEP_JOBS=1"
    )
    assert "Traceback" not in said
    assert not (project.folder / "crawls").exists()


def test_a_scheduler_and_a_dupefilter_of_the_projects_own_are_kept(project: Project) -> None:
    (project.folder / "shelf" / "own.py").write_text(
        "from scrapy.core.scheduler import Scheduler\n"
        "from scrapy.dupefilters import RFPDupeFilter\n"
        "class OwnScheduler(Scheduler):\n"
        "    def open(self, spider):\n"
        "        print('own scheduler')\n"
        "        return super().open(spider)\n"
        "class OwnFilter(RFPDupeFilter):\n"
        "    def request_seen(self, request):\n"
        "        spider_seen = super().request_seen(request)\n"
        "        print('own filter')\n"
        "        return spider_seen\n"
    )
    own = ("-s", "DUPEFILTER_CLASS=shelf.own.OwnFilter", "-s", "DEDUP_KEEP_JOBS=1")
    said = project.scrapy(
        "crawl", "books", *own, "-s", "SCHEDULER=shelf.own.OwnScheduler", "-O", "books.jsonl"
    )
    assert "own scheduler" in said
    assert "own filter" in said
    assert len(read(project.folder / "books.jsonl")) == 3
    project.scrapy(
        "crawl", "books", *own, "-s", "SCHEDULER=shelf.own.OwnScheduler", "-O", "books.jsonl"
    )
    assert len(read(project.folder / "books.jsonl")) == 3


def test_what_is_filtered_is_counted_and_shown_as_by_scrapy(project: Project) -> None:
    said = project.scrapy(
        *("crawl", "books", "-s", "JOBDIR=job", "-s", "DUPEFILTER_DEBUG=1", "-L", "DEBUG")
    )
    assert said.count("Filtered duplicate request") == 6
    assert "'dupefilter/filtered': 6" in said


def test_a_refusal_is_one_sentence(project: Project) -> None:
    crawl = ("crawl", "books", "-s", "JOBDIR=job")
    project.scrapy(*crawl)
    before = (project.folder / "job" / "crawl.sqlite").read_bytes()
    for wrong, sentence in (
        ("DEDUP_NEAR_RESEMBLANCE=7", "DEDUP_NEAR_RESEMBLANCE must be a number of at least"),
        ("DEDUP_NEAR_RESEMBLANCE=.7", "setting DEDUP_NEAR_RESEMBLANCE 0.8, now 0.7"),
        ("DEDUP_SIMHASH_CHINESE=segments", "unspaced_features 'characters', now 'segments'"),
    ):
        said = project.scrapy(*crawl, "-s", wrong, status=1)
        assert sentence in said
        assert len(said.splitlines()) == 1, said
    assert (project.folder / "job" / "crawl.sqlite").read_bytes() == before


def test_a_refusal_is_one_sentence_in_the_log_of_twisted(project: Project) -> None:
    other = ("-s", "FORCE_CRAWLER_PROCESS=1", "-s", "LOG_FILE=log.txt")
    project.scrapy("crawl", "books", *other, "-s", "DEDUP_NEAR_RESEMBLANCE=7", status=1)
    log = (project.folder / "log.txt").read_text()
    assert "CRITICAL: DEDUP_NEAR_RESEMBLANCE must be a number of at least" in log
    assert "Traceback" not in log


def test_faults_of_the_projects_own_keep_their_traceback(project: Project) -> None:
    (project.folder / "shelf" / "own.py").write_text(
        "class Own:\n    def __init__(self):\n        raise ValueError('a fault of ours')\n"
    )
    own = ("-s", 'EXTENSIONS={"shelf.own.Own": 1}')
    said = project.scrapy("crawl", "books", *own, status=1)
    assert "Traceback" in said
    assert "a fault of ours" in said


def test_without_a_log_nothing_is_shown(project: Project) -> None:
    assert project.scrapy("crawl", "books", "--nolog") == ""
    assert project.scrapy("crawl", "books", "-L", "WARNING") == ""
    assert "kept" in project.scrapy("crawl", "books", "-L", "INFO")
