"""The delay between requests of a host: as a server sees it, and as another process is told."""

from __future__ import annotations

import itertools
import json
import re
import time
from types import SimpleNamespace

import pytest

from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow


def test_computation_before_sending_does_not_shorten_the_delay(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start", *[f"/{number}" for number in range(4)])
    site.routes |= {f"/{number}": make.page(f"page {number}") for number in range(4)}
    times: list[float] = []
    site.on_request = lambda _: times.append(time.monotonic())
    handlers = {"http": "tests.crawler.delay_probes.BusyHandler"}
    options = ("DOWNLOAD_DELAY=0.8", "DOWNLOAD_DELAY_JITTER=0", "ROBOTSTXT_OBEY=0")
    options = (*options, f"DOWNLOAD_HANDLERS={json.dumps(handlers)}")
    crawled = crawl("site", *[part for each in options for part in ("-s", each)], url=site.url)
    assert crawled.status == 0, crawled.output
    assert len(times) == 5
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) > 0.65, gaps  # it would be .5; the delay but for the way to the server


def test_remaining_delay_is_shared_with_other_processes(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("alone")
    extensions = {"tests.crawler.delay_probes.TellDelay": 0}
    options = ("-s", "DOWNLOAD_DELAY=20", "-s", "ROBOTSTXT_OBEY=0")
    crawled = crawl("site", *options, "-s", f"EXTENSIONS={json.dumps(extensions)}", url=site.url)
    assert crawled.status == 0, crawled.output
    found = re.search(r"delay left: ([\d.]+)", crawled.output)
    assert found
    assert 20 < float(found[1]) <= 30  # it is varied by a half
