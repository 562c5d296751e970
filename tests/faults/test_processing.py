"""A page whose processing raises, in each stage in turn; a clock that jumps; no descriptors."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from tests.faults.site_process import is_copy

if TYPE_CHECKING:
    from tests.faults.conftest import Job, SiteProcess

pytestmark = pytest.mark.slow

_RUN = """
import sys
{patch}
from scrapy.cmdline import execute
execute(["scrapy", "crawl", "site", *sys.argv[1:]])
"""

_RAISE = """
import {module} as module
original = module.{name}
def raises(*arguments, **named):
    if any("/7" == str(getattr(a, "url", "")[-2:]) for a in arguments if getattr(a, "url", None)):
        raise RuntimeError("a fault of this stage")
    return original(*arguments, **named)
module.{name} = raises
"""

STAGES = {
    "read": ("dedup.scrapy.reading.content", "ContentReader.read", "parse_error"),
    "text": ("dedup.scrapy.pipelines.extract_text", "ExtractText.process_item", "pipeline_error"),
    "exact": (
        "dedup.scrapy.pipelines.exact_content",
        "ExactContent.process_item",
        "pipeline_error",
    ),
    "near": (
        "dedup.scrapy.pipelines.near_duplicate",
        "NearDuplicate.process_item",
        "pipeline_error",
    ),
    "store": ("dedup.scrapy.pipelines.store_page", "StorePage.process_item", "pipeline_error"),
}


def _run(job: Job, patch: str, *options: str, **more: Any) -> tuple[int, str]:
    return job.run(*options, python=["-c", _RUN.format(patch=patch)], **more)


@pytest.mark.parametrize("stage", STAGES)
def test_a_page_whose_processing_raises_is_recorded_and_the_crawl_goes_on(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job], stage: str
) -> None:
    module, name, reason = STAGES[stage]
    site = serve(20)
    job = make_job(site.url)
    patch = _RAISE.format(module=module, name=name)
    # The patch is of this process.
    options = ("-s", "DEDUP_READ_PROCESSES=0", "-s", "LOG_LEVEL=DEBUG")
    status, output = _run(job, patch, *options)
    assert status == 0, output
    assert "Traceback" in output
    assert job.rows("SELECT url, reason FROM skipped") == [(f"{site.url}7", reason)]
    assert job.stats["reason"] == "finished"
    # What cannot be read leads nowhere: pages 15 and 16 hang on page 7.
    assert job.stats["pages"]["fetched"] == (19 if stage == "read" else 21)
    assert job.stats["pages"]["skipped"] == {reason: 1}


_KILLED_READERS = """
import os, signal
from contextlib import suppress
from dedup.scrapy.reading import worker_process
run, deaths = worker_process.WorkerProcess.read, []
async def killing(self, raw, *site, **more):
    is_page_spared = any(question.deaths for question in self._waiting)
    if self.is_ready and len(deaths) < 3 and raw.url[-1:] == "5" and not is_page_spared:
        with suppress(ProcessLookupError):  # it is dead, and that is not known yet
            deaths.append(os.kill(self._process.pid, signal.SIGKILL))
    return await run(self, raw, *site, **more)
worker_process.WorkerProcess.read = killing
"""


def test_readers_that_are_killed_cost_no_page(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job]
) -> None:
    site = serve(600)
    job = make_job(site.url)
    status, output = _run(job, _KILLED_READERS)
    assert status == 0, output
    assert "A page-reading process ended with status -9" in output
    assert job.rows("SELECT * FROM skipped") == []
    assert job.stats["pages"]["fetched"] == 601
    assert job.stats["pages"]["unique"] == len(
        {number - 300 if is_copy(number, 600) else number for number in range(600)}
    )
    assert max(site.asked().values()) == 1


_HUNG_READERS = """
import sys
from dedup.scrapy.reading.worker_process import WorkerProcess
hung = "import time; print('!', end='', flush=True); time.sleep(600)"
WorkerProcess.__init__.__defaults__ = ((sys.executable, "-c", hung),)
"""


def test_readers_that_hang_do_not_keep_a_crawl_from_stopping(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job]
) -> None:
    site = serve(300)
    job = make_job(site.url)
    process = job.start(python=["-c", _RUN.format(patch=_HUNG_READERS)])
    before, n_asked = 0, 0
    while process.poll() is None and not 0 < before == n_asked:  # all wait for being read
        before = n_asked
        time.sleep(1)
        n_asked = site.n_asked()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert "Traceback" not in output, output
    assert job.stats["reason"] == "shutdown"
    assert n_asked < 301
    status, output = job.run()
    assert status == 0, output
    assert job.stats["pages"]["fetched"] == 301
    assert job.rows("SELECT * FROM skipped") == []
    assert site.n_asked() <= 301 + 16


_JUMP = """
import time
now, calls = time.time, [0]
def jumping():
    calls[0] += 1
    return now() + {by} * (calls[0] > {after})
time.time = jumping
"""


@pytest.mark.parametrize("by", [-3600, 3600])
def test_clock_jump_of_an_hour_changes_nothing(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job], by: int
) -> None:
    site = serve(60)
    job = make_job(site.url)
    status, output = _run(job, _JUMP.format(by=by, after=200))
    assert status == 0, output
    assert "Traceback" not in output
    assert job.stats["pages"]["fetched"] == 61
    assert job.stats["rates"]["seconds"] < 60
    assert job.stats["rates"]["pages_per_second"] < 1000
    assert max(site.asked().values()) == 1


def test_resume_with_clock_set_back(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job]
) -> None:
    site = serve(60)
    job = make_job(site.url)
    assert job.run("-amax_pages=20")[0] == 0
    for more in ((), ("-arefresh=1",)):
        status, output = _run(job, _JUMP.format(by=-400 * 86_400, after=0), *more)
        assert status == 0, output
        assert "Traceback" not in output
        assert job.stats["pages"]["fetched"] == 61
    assert job.stats["refresh"]["unchanged"] > 0


_UNFINISHED = """
from dedup.sites.learner import SiteLearner

def finish(self):
    raise RuntimeError("it cannot be learned")

SiteLearner.finish = finish
"""


def test_pages_that_cannot_be_judged_wait_and_the_crawl_ends(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job]
) -> None:
    job = make_job(serve(5).url)
    status, output = job.run(python=["-c", _RUN.format(patch=_UNFINISHED)])
    assert output.count("RuntimeError: it cannot be learned") < 10
    assert len(job.rows("SELECT 1 FROM waiting")) == 6
    assert status != 0
    assert job.run()[0] == 0
    query = "SELECT number FROM pages UNION ALL SELECT number FROM duplicates"
    assert len(job.rows(query)) == 6


def test_exhausted_file_descriptors_lose_nothing(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job]
) -> None:
    site = serve(60)
    job = make_job(site.url)
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (22, 22))
    job.run("-s", "RETRY_TIMES=1", preexec_fn=limit)
    status, output = job.run()
    if job.rows("SELECT 1 FROM skipped"):  # failed while there were none
        assert main(["retry", str(job.folder)]) == 0
        status, output = job.run()
    assert status == 0, output
    recorded = job.rows("SELECT count(*), count(DISTINCT url) FROM pages")
    assert recorded[0][0] == recorded[0][1]
    assert job.stats["pages"]["fetched"] == 61
