"""A crawl killed seven times loses nothing, stores nothing twice, and fetches little again."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import groups_of

if TYPE_CHECKING:
    from tests.faults.conftest import Job, SiteProcess

pytestmark = pytest.mark.slow

_SIZE = 600
_KILLS = 7
_GROUP = 25
_CONCURRENT = 8
_OPTIONS = ("-s", f"CONCURRENT_REQUESTS={_CONCURRENT}")
_PYTHON = (*groups_of(_GROUP), "-m", "scrapy", "crawl", "site")


def test_seven_kills_cost_nothing_but_some_pages_fetched_again(
    serve: Callable[[int], SiteProcess], make_job: Callable[[str], Job], kill: Any
) -> None:
    choose = random.Random(6)
    site = serve(_SIZE)
    job = make_job(site.url)
    # 5 after some pages; one while the process starts, or soon after; one while it closes.
    moments = ["pages"] * 5 + ["start"]
    choose.shuffle(moments)
    for n_before, moment in enumerate(moments):
        n_asked = site.n_asked()
        share = (_SIZE - n_asked) // (_KILLS - n_before)  # leave pages to the next ones
        target = n_asked + choose.randint(1, max(1, 2 * share))
        end = time.monotonic() + (choose.uniform(0.1, 1.5) if moment == "start" else 60)

        def is_time(target: int = target, end: float = end) -> bool:
            return site.n_asked() >= target or time.monotonic() >= end

        assert kill(job.start(*_OPTIONS, python=_PYTHON), is_time)
    process = job.start(*_OPTIONS, python=_PYTHON)
    target = site.n_asked() + 10
    until = 0.0

    def has_no_patience() -> bool:
        nonlocal until
        if not until and site.n_asked() >= target:
            process.send_signal(signal.SIGINT)
            until = time.monotonic() + choose.uniform(0, 0.4)
        return bool(until) and time.monotonic() >= until

    kill(process, has_no_patience)  # Ctrl-C, and then no patience
    status, output = job.run(*_OPTIONS, python=_PYTHON)
    assert status == 0, output
    assert "Traceback" not in output
    _check_exactly_once(job, site)
    asked = site.asked()
    again = sum(asked[f"/{number}"] - 1 for number in range(1, _SIZE))
    assert again <= _KILLS * (_CONCURRENT + _GROUP)
    # The numbers are those of one run.
    counts = job.stats
    assert counts["pages"]["fetched"] == _SIZE + 1  # the start and /0 are copies
    assert counts["urls"]["seen"] == _SIZE + 1
    assert counts["urls"]["queued"] == 0
    # Each of the 601 pages links to /0, and "/" to the same two pages as /0; one of all these
    # links was the first to /0.
    assert counts["urls"]["filtered"] == _SIZE + 2


def _check_exactly_once(job: Job, site: SiteProcess) -> None:
    recorded = job.rows(
        "SELECT url FROM pages UNION ALL SELECT url FROM duplicates"
        " UNION ALL SELECT url FROM skipped"
    )
    wanted = [site.url, *(f"{site.url}{number}" for number in range(site.size))]
    assert sorted(url for (url,) in recorded) == sorted(wanted)
    duplicates = {url for (url,) in job.rows("SELECT url FROM duplicates")}
    assert len(duplicates) == 1 + sum(
        number >= site.size // 2 and number % 5 == 4 for number in range(site.size)
    )
