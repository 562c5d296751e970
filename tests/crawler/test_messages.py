"""Wrong arguments, settings and job files: one clear sentence, no traceback, nothing changed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler

_URL = "http://127.0.0.1:9/"  # nothing listens there


ROOT = Path(__file__).parents[2]


class Refusal(NamedTuple):
    """What a command said, and its exit status."""

    status: int | None
    output: str

    def check(self, says: str) -> None:
        assert self.status == 2, self.output
        assert "Traceback" not in self.output
        usage, _, message = self.output.partition("error: ")
        assert usage.count("\n") == 3  # "Usage", a line, the syntax, and the program
        assert re.search(says, message), self.output
        assert message.count("\n") == 1


class Wrong(NamedTuple):
    """A command that cannot work, and what it says."""

    says: str
    spider: str = "site"
    options: tuple[str, ...] = ()
    arguments: dict[str, Any] = {"url": _URL}  # noqa: RUF012 -- never changed


PROCESSES = ("-s", "DEDUP_PROCESSES=2")

WRONG = {
    "no url": Wrong("url is missing", arguments={}),
    "no url of a sitemap": Wrong("url is missing", "sitemap", arguments={}),
    "no scheme": Wrong("url must be .*'example.com'", arguments={"url": "example.com"}),
    "other scheme": Wrong("url must be .*'ftp://x'", arguments={"url": "ftp://x"}),
    "bad regex": Wrong("allow must be a regular .*'\\('", arguments={"url": _URL, "allow": "("}),
    "no number": Wrong("max_pages must be .*'x'", arguments={"url": _URL, "max_pages": "x"}),
    "negative": Wrong("max_pages must be .*'-1'", arguments={"url": _URL, "max_pages": "-1"}),
    "other argument": Wrong("spider arguments must be .*ur1", arguments={"ur1": _URL}),
    "other argument of demo": Wrong("spider arguments must be .*url", "demo"),
    "other spider": Wrong("unknown spider 'sites'; available: demo, site", "sites"),
    "no file": Wrong("file is missing", "urls", arguments={}),
    "file not found": Wrong("file must be .*'nowhere'", "urls", arguments={"file": "nowhere"}),
    "resemblance": Wrong(
        "DEDUP_NEAR_RESEMBLANCE must be .*'7'", options=("-s", "DEDUP_NEAR_RESEMBLANCE=7")
    ),
    "rule": Wrong("DEDUP_URL_RULES: .*'slashes'", options=("-s", "DEDUP_URL_RULES=slashes")),
    "canonical": Wrong("DEDUP_URL_CANONICAL must .*'x'", options=("-s", "DEDUP_URL_CANONICAL=x")),
    "extractor": Wrong("DEDUP_TEXT_EXTRACTOR must .*'x'", options=("-s", "DEDUP_TEXT_EXTRACTOR=x")),
    "a site for each process": Wrong(
        "DEDUP_PROCESSES must be 1, got 2: each process .* a site of its own",
        "demo",
        PROCESSES,
        arguments={},
    ),
    "processes without a kept job": Wrong(
        "got 2: .* set JOBDIR or DEDUP_JOB", options=(*PROCESSES, "-s", "DEDUP_KEEP_JOBS=0")
    ),
    "processes without a queue": Wrong(
        "got 2: requests must be queued", options=(*PROCESSES, "-s", "DEDUP_URL_ENABLED=0")
    ),
    "feed of processes": Wrong(
        "must be 1 for the feed pages.csv, .* not JSON Lines",
        options=(*PROCESSES, "-O", "pages.csv"),
    ),
    "folder": Wrong("the folder cannot be written", options=("-s", "JOBDIR=/dev/null/job")),
}

FEATURES = ("-s", "DEDUP_SIMHASH_CHINESE=segments")
NO_SIMHASH = ("-s", "DEDUP_SIMHASH_ENABLED=0")
RULES = ("-s", "DEDUP_URL_RULES=www")

WRONG_JOBS = {
    "text": Wrong("expected an SQLite file, found one that begins with b'notes"),
    "foreign": Wrong("another program's SQLite database"),
    "damaged": Wrong("the store is damaged"),
    "later": Wrong("expected schema version"),
    "in-use": Wrong("the job is in use by another process"),
    "features": Wrong("made with different settings: simhash unspaced_features", options=FEATURES),
    "switched": Wrong("it has 'simhash', which is now off", options=NO_SIMHASH),
    "rules": Wrong("made with different .*rules .*now .*www", options=RULES),
}


_RUN_EACH = """
import contextlib, io, json, sys
from scrapy.cmdline import execute
results = []
for command in json.loads(sys.argv[1]):
    output = io.StringIO()
    with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
        try:
            execute(["scrapy", "crawl", *command])
        except SystemExit as error:
            results.append([error.code, output.getvalue()])
        except BaseException as error:
            results.append([None, output.getvalue() + repr(error)])
print(json.dumps(results))
"""


def _refuse(jobs_dir: Path, commands: dict[str, list[str]]) -> dict[str, Refusal]:
    """Run commands that must not come to crawl, all in one process: each costs a second."""
    shared = ["-s", f"DEDUP_JOBS_DIR={jobs_dir}"]
    argument = json.dumps([[*command, *shared] for command in commands.values()])
    done = subprocess.run(
        [sys.executable, "-c", _RUN_EACH, argument],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    results = [Refusal(*result) for result in json.loads(done.stdout)]
    return dict(zip(commands, results, strict=True))


def _command(wrong: Wrong, **arguments: str) -> list[str]:
    given = [f"-a{name}={value}" for name, value in (wrong.arguments | arguments).items()]
    return [wrong.spider, *wrong.options, *given]


@pytest.fixture(scope="module")
def jobs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wrong") / "jobs"


@pytest.fixture(scope="module")
def refused(jobs_dir: Path) -> dict[str, Refusal]:
    return _refuse(jobs_dir, {name: _command(wrong) for name, wrong in WRONG.items()})


@pytest.mark.parametrize("name", WRONG)
def test_wrong_command_is_refused_in_one_sentence(
    refused: dict[str, Refusal], jobs_dir: Path, name: str
) -> None:
    refused[name].check(WRONG[name].says)
    assert not jobs_dir.exists()


def test_refused_command_ends_with_status_2(crawl: Crawler) -> None:
    crawled = crawl("site", job="")
    assert crawled.status == 2
    assert crawled.output.endswith("error: url is missing: give -a url=https://…\n")


@pytest.fixture(scope="module")
def jobs(
    shared_crawl: Crawler, make: SimpleNamespace
) -> Iterator[dict[str, tuple[Refusal, bytes, bytes]]]:
    """By name: the refusal of a job that cannot be used, and its file before and after."""
    folder = shared_crawl.jobs_dir
    with make.WebSite({"/": make.page("/", "/missing")}) as site, contextlib.ExitStack() as locks:
        # Stopped early, so that there is something left to do.
        assert shared_crawl("site", job="features", url=site.url, max_pages=1).status == 0
        for name in WRONG_JOBS:
            _make_job(folder, name, locks)
        before = {name: _content(folder, name) for name in WRONG_JOBS}
        refusals = _refuse(
            folder,
            {name: _command(wrong, job=name, url=site.url) for name, wrong in WRONG_JOBS.items()},
        )
        yield {
            name: (refusal, before[name], _content(folder, name))
            for name, refusal in refusals.items()
        }


def _make_job(folder: Path, name: str, locks: contextlib.ExitStack) -> None:
    path = folder / name / "crawl.sqlite"
    path.parent.mkdir(exist_ok=True)
    if name in {"in-use", "later", "rules", "switched"}:
        shutil.copyfile(folder / "features" / "crawl.sqlite", path)
    if name == "text":
        path.write_text("notes of my own\n" * 100)
    elif name in {"foreign", "later"}:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99" if name == "later" else "CREATE TABLE t (x)")
        connection.commit()
        connection.close()
    elif name == "damaged":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    elif name == "in-use":
        lock = locks.enter_context(Path(f"{path}.lock").open("w"))  # noqa: SIM115 -- the stack closes it
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4242")
        lock.flush()


def _content(folder: Path, name: str) -> bytes:
    path = folder / name / "crawl.sqlite"
    return path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("name", WRONG_JOBS)
def test_job_that_cannot_be_used_is_left_as_it_is(
    jobs: dict[str, tuple[Refusal, bytes, bytes]], name: str
) -> None:
    refusal, before, after = jobs[name]
    refusal.check(WRONG_JOBS[name].says)
    assert before == after


def test_job_in_use_names_its_holder(jobs: dict[str, tuple[Refusal, bytes, bytes]]) -> None:
    assert "(pid 4242)" in jobs["in-use"][0].output


def test_unreachable_hosts_are_recorded(crawl: Crawler) -> None:
    options = ("-s", "RETRY_TIMES=0", "-s", "AUTOTHROTTLE_ENABLED=0")
    crawled = crawl("site", *options, url=f"{_URL},http://no-such-host.invalid/")
    assert crawled.status == 1  # no page was found
    assert "Traceback" not in crawled.output
    assert crawled.stats["failed"] == {"connection_refused": 1, "dns": 1}
    assert "not fetched: connection_refused 1, dns 1" in crawled.output
