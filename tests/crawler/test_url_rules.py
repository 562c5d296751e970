"""Learned URL rules in a crawl: nothing is lost, what is skipped is accounted for, and kills."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite

N = 400
_FAST = ("-s", "DEDUP_REPORT_ENABLED=0", "-s", "DEDUP_READ_PROCESSES=0")


@pytest.fixture
def plant(site: WebSite, make: SimpleNamespace) -> Callable[..., set[str]]:
    """Serves N pages, each under a second URL that a rule calls the same, but for the own ones.

    Returns the names of all pages.
    """

    def plant(
        second: Callable[[int], str] = lambda n: f"/page/{n}?ref=r{n % 7}",
        is_own: Callable[[int], bool] = lambda n: False,
        n: int = N,
    ) -> set[str]:
        names = set()
        targets: list[str] = []
        for number in range(n):
            first, other = f"/page/{number}", second(number)
            own = f"own {number}" if is_own(number) else f"page {number}"
            site.routes[first] = make.page(f"page {number}")
            site.routes[other] = make.page(own)
            names |= {f"page {number}", own}
            targets += [first, other]
        random.Random(1).shuffle(targets)
        lists = [targets[start : start + 50] for start in range(0, len(targets), 50)]
        for place, part in enumerate(lists):
            site.routes[f"/list/{place}"] = make.page(f"list {place}", *part)
        site.routes["/"] = make.page("start", *(f"/list/{place}" for place in range(len(lists))))
        return names | {"start", *(f"list {place}" for place in range(len(lists)))}

    return plant


def learn(crawl: Crawler, site: WebSite, mode: str, *options: str, **arguments: Any) -> Crawled:
    crawled = crawl(
        "site", "-s", f"DEDUP_URL_LEARNING={mode}", *_FAST, *options, url=site.url, **arguments
    )
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    return crawled


def titles(crawled: Crawled) -> set[str]:
    return set(crawled.rows("SELECT title FROM pages"))


def rules(crawled: Crawled) -> dict[str, str]:
    rows = crawled.rows("SELECT name, value FROM url_rules")
    return {name: re.search('"stage": "(.*?)"', value)[1] for name, value in rows}  # type: ignore[index]


def test_defer_loses_nothing_and_fetches_duplicates_last(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    names = plant()
    crawled = learn(crawl, site, "defer")
    assert titles(crawled) == names
    assert rules(crawled)["drop:ref"] == "trusted"
    assert len(site.pages_asked()) == 2 * N + N // 25 + 1
    late = site.pages_asked()[-N // 4 :]
    assert all("?ref=" in target for target in late)


def test_a_crawl_that_is_stopped_has_found_more_pages(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    plant(n=2 * N)
    found = {
        mode: len(titles(learn(crawl, site, mode, job=mode, max_pages=2 * N)))
        for mode in ("suggest", "defer")
    }
    assert found["defer"] > 1.05 * found["suggest"], found


def test_skip_accounts_for_what_it_does_not_fetch(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    names = plant()
    crawled = learn(crawl, site, "skip", "-s", "DEDUP_URL_LEARNING_LOSS=0.02")
    assert titles(crawled) == names
    skipped = [url for url, reason in crawled.skipped(site).items() if reason == "learned_rule"]
    assert len(skipped) > N // 4
    assert crawled.stats["failed"] == {"learned_rule": len(skipped)}
    assert not set(skipped) & set(site.asked)
    assert len(skipped) + len(site.pages_asked()) == 2 * N + N // 25 + 1
    (detail,) = set(crawled.rows("SELECT detail FROM skipped WHERE reason = 'learned_rule'"))
    assert re.fullmatch(r"drop:ref on 127\.0\.0\.1:\d+: at most \d+ pages lost, 95%", detail)


def test_retry_fetches_what_was_skipped(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    plant()
    options = ("-s", "DEDUP_URL_LEARNING_LOSS=0.02")
    crawled = learn(crawl, site, "skip", *options)
    skipped = [url for url, reason in crawled.skipped(site).items() if reason == "learned_rule"]
    assert skipped
    assert not set(skipped) & set(site.asked)
    assert main(["retry", str(crawled.folder), "--reason", "learned_rule"]) == 0
    crawled = learn(crawl, site, "skip", *options)
    assert not crawled.skipped(site)
    assert set(skipped) <= set(site.asked)


@pytest.mark.parametrize("mode", ["defer", "skip"])
def test_a_rule_that_ceases_to_hold_is_unlearned_and_nothing_is_lost(
    mode: str, crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    names = plant(is_own=lambda n: n % 40 == 39)
    crawled = learn(crawl, site, mode, "-s", "DEDUP_URL_LEARNING_LOSS=0.02")
    assert rules(crawled)["drop:ref"] == "unlearned"
    assert titles(crawled) == names
    assert crawled.stats["failed"] == {}


def test_a_rule_that_breaks_late_gives_back_what_it_held(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]], make: SimpleNamespace
) -> None:
    names = plant()
    # Pages that are linked from the last page alone have one URL each that looks like the others.
    late = [(f"/late/{n}", f"/late/{n}?ref=r{n}") for n in range(60)]
    for first, other in late:
        site.routes[first], site.routes[other] = make.page(first), make.page(other)
        names |= {first, other}
    site.routes["/deep/2"] = make.page("deep 2", *(url for pair in late for url in pair))
    site.routes["/deep/1"] = make.page("deep 1", "/deep/2")
    site.routes["/"] = make.page("start", *(f"/list/{n}" for n in range(N // 25)), "/deep/1")
    crawled = learn(crawl, site, "skip", "-s", "DEDUP_URL_LEARNING_LOSS=0.02")
    assert titles(crawled) == names | {"deep 1", "deep 2"}
    assert rules(crawled)["drop:ref"] == "unlearned"
    assert "the learned rule drop:ref does not hold" in crawled.output


@pytest.mark.parametrize("mode", ["defer", "skip"])
def test_kills_change_nothing_that_is_kept(
    mode: str, crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    names = plant(is_own=lambda n: n == N - 1)
    options = ("-s", f"DEDUP_URL_LEARNING={mode}", "-s", "DEDUP_URL_LEARNING_LOSS=0.02", *_FAST)
    for n_before in (150, 330, 480, 560):  # evidence, probation, trusted, the end
        crawling = crawl.start("site", *options, "-s", "DEDUP_STORE_GROUP_PAGES=10", url=site.url)
        while len(set(site.asked)) < n_before and crawling.process.poll() is None:
            time.sleep(0.01)
        crawling.process.kill()
        crawling.finish()
    crawled = learn(
        crawl, site, mode, "-s", "DEDUP_STORE_GROUP_PAGES=10", "-s", "DEDUP_URL_LEARNING_LOSS=0.02"
    )
    n_lost = len(names - titles(crawled))
    assert n_lost == 0 if mode == "defer" else n_lost <= 1
    assert max(crawled.records().values()) == 1
    assert crawled.rows("SELECT count(*) FROM urls WHERE state = 0") == [0]


def test_a_site_that_redirects_costs_less_than_two_requests_a_page(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    n = 300
    for number in range(n):
        site.routes[f"/p/{number}"] = make.redirect(f"/p/{number}/", 301)
        site.routes[f"/p/{number}/"] = make.page(f"page {number}")
    site.routes["/"] = make.page("start", *(f"/p/{number}" for number in range(n)))
    crawled = learn(crawl, site, "skip", "-s", "DEDUP_URL_LEARNING_LOSS=0.1")
    assert titles(crawled) == {"start", *(f"page {number}" for number in range(n))}
    assert rules(crawled)["add-slash"] == "trusted"
    assert len(site.pages_asked()) < 1.75 * n
    assert max(crawled.records().values()) == 1


def test_a_page_that_names_its_address_costs_less_than_two_requests(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    n = 300
    for number in range(n):
        url = f"/p/{number}"
        head = f'<link rel="canonical" href="{url}">'
        site.routes[url] = make.page(f"page {number}", url, head=head)
        site.routes[f"{url}?ref=r{number % 7}"] = site.routes[url]
    for start in range(0, n, 20):
        links = [f"/p/{each}?ref=r{each % 7}" for each in range(start, start + 20)]
        site.routes[f"/list/{start}"] = make.page(f"list {start}", f"/list/{start + 20}", *links)
    site.routes["/"] = make.page("start", "/list/0")
    crawled = learn(crawl, site, "skip", "-s", "DEDUP_URL_LEARNING_LOSS=0.1")
    assert titles(crawled) >= {"start", *(f"page {number}" for number in range(n))}
    assert len(site.pages_asked()) < 1.75 * n
    assert max(crawled.records().values()) == 1


def test_draws_are_a_secret_of_each_job_unless_a_seed_is_set(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    plant(n=3)
    options = {"one": (), "other": (), "set": ("-s", "DEDUP_URL_LEARNING_SEED=7")}
    query = "SELECT value FROM meta WHERE name = 'seed of learned rules'"
    seeds = {
        job: learn(crawl, site, "defer", *more, job=job, max_pages=2).rows(query)
        for job, more in options.items()
    }
    assert len({*seeds["one"], *seeds["other"]}) == 2
    assert seeds["set"] == []
    resumed = learn(crawl, site, "defer", job="one")
    assert len(resumed.stored()) > 2
    assert resumed.rows(query) == seeds["one"]


def test_nothing_waits_where_rules_are_only_suggested(
    crawl: Crawler, site: WebSite, plant: Callable[..., set[str]]
) -> None:
    names = plant(n=60)
    crawled = learn(crawl, site, "suggest")
    assert titles(crawled) == names
    assert crawled.rows("SELECT count(*) FROM url_rules") == [0]
    assert crawled.rows("SELECT count(*) FROM url_forms") == [0]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DEDUP_URL_LEARNING", "drop", "must be one of suggest, defer, skip"),
        ("DEDUP_URL_LEARNING_LOSS", "0", "must be a number of at least 1e-06 and at most 0.1"),
        ("DEDUP_URL_LEARNING_SEED", "-1", "must be a number of at least 0 and at most 1e+09"),
    ],
)
def test_a_setting_out_of_range_is_refused(
    name: str, value: str, said: str, crawl: Crawler, site: WebSite
) -> None:
    crawled = crawl("site", "-s", f"{name}={value}", url=site.url)
    assert crawled.status == 2
    assert said in crawled.output
