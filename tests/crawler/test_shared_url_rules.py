"""Learned URL rules where processes share a job: what is known of a host goes with the host."""

from __future__ import annotations

import random
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from dedup.store import open_store

if TYPE_CHECKING:
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawler, WebSite

_N = 150
_OPTIONS = (
    *("-s", "DEDUP_REPORT_ENABLED=0"),
    *("-s", "DEDUP_READ_PROCESSES=0"),
    *("-s", "DEDUP_WORKER_LEASE_SECONDS=5"),
    *("-s", "DEDUP_URL_LEARNING_LOSS=0.02"),
)


@pytest.fixture
def sites(make: SimpleNamespace) -> Iterator[list[WebSite]]:
    """Three hosts, each with pages that have two more URLs; of the last, some show their own."""
    with ExitStack() as stack:
        found = [
            stack.enter_context(make.WebSite(address=f"127.0.0.{place}")) for place in (1, 2, 3)
        ]
        for place, site in enumerate(found):
            _plant(site, make, f"site {place}", own=range(_N - 5, _N) if place == 2 else ())
        yield found


def _plant(site: WebSite, make: SimpleNamespace, name: str, own: Any) -> None:
    targets = []
    for n in range(_N):
        first, *others = f"/page/{n}", f"/page/{n}?ref=r{n % 7}", f"/page/{n}?ref=s{n % 7}"
        site.routes[first] = make.page(f"{name} page {n}")
        for other in others:
            site.routes[other] = make.page(f"{name} {'own' if n in own else 'page'} {n}")
        targets += [first, *others]
    random.Random(name).shuffle(targets)
    parts = [targets[start : start + 50] for start in range(0, len(targets), 50)]
    for place, part in enumerate(parts):
        site.routes[f"/list/{place}"] = make.page(f"{name} list {place}", *part)
    lists = (f"/list/{place}" for place in range(len(parts)))
    site.routes["/"] = make.page(f"{name} start", *lists)


def _names(store: Any) -> set[str]:
    return {str(each["title"]) for each in store.pages()}


def _expected() -> set[str]:
    names = {f"site {place} page {n}" for place in range(3) for n in range(_N)}
    names |= {f"site {place} list {n}" for place in range(3) for n in range(3 * _N // 50)}
    names |= {f"site {place} start" for place in range(3)}
    return names | {f"site 2 own {n}" for n in range(_N - 5, _N)}


@pytest.mark.parametrize("kills", [False, True], ids=["unharmed", "one is killed"])
@pytest.mark.parametrize("mode", ["defer", "skip"])
def test_what_is_learned_goes_with_the_host(
    mode: str,
    crawl: Crawler,
    sites: list[WebSite],
    new_place: Callable[[], str],
    kills: bool,
) -> None:
    place = new_place()
    address, _, job = place.rpartition("#")
    options = (*_OPTIONS, "-s", f"DEDUP_STORE={address}", "-s", f"DEDUP_URL_LEARNING={mode}")
    urls = ",".join(site.url for site in sites)
    running = [crawl.start("site", *options, url=urls, job=job) for _ in range(2)]
    if kills:
        until = time.monotonic() + 60
        while min(len(site.asked) for site in sites) < _N and time.monotonic() < until:
            time.sleep(0.02)
        running[0].process.kill()
    ended = [each.finish(timeout=150) for each in running]
    statuses = [each.status for each in ended]
    assert statuses == [-signal.SIGKILL if kills else 0, 0], ended[1].output
    with open_store(place, read_only=True) as store:
        lost = _expected() - _names(store)
        assert not lost if mode == "defer" else len(lost) <= 3, lost  # one for each rule
        records = Counter(store.recorded_urls())
        rules = {rule.host: rule for rule in store.url_knowledge.all_rules() if "ref" in rule.name}
        skipped = store.stats.failed()
    assert max(records.values()) == 1
    assert len(rules) == 3
    first, second, third = (rules[host] for host in sorted(rules))
    assert (first.stage, second.stage) == ("trusted", "trusted")
    assert first.deferred > 10
    assert second.deferred > 10
    if not lost:
        assert third.stage == "unlearned"
    assert (skipped.get("learned_rule", 0) > 0) is (mode == "skip")
    for site in sites[:2]:
        late = site.pages_asked()[-10:]
        assert mode == "skip" or all(re.search(r"\?ref=", target) for target in late)
