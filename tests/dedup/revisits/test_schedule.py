"""Which pages are visited first: rates of change, and what a visit is worth."""

from __future__ import annotations

import numpy as np
import pytest

from dedup.revisits import (
    Histories,
    PageHistory,
    Rates,
    Schedule,
    Trust,
    Visit,
    estimate,
    in_turns,
    instant,
    odds_of,
    section_of,
    trust_in_sections,
    values,
)
from dedup.revisits.clock import elapsed
from dedup.revisits.hints import as_time

DAY = 86_400.0
SITE = "https://a.example/"


def _page(path: str, n_changed: int = 0, n_visits: int = 0, **more: bool) -> PageHistory:
    """A page that was visited once a day, the last time at 0."""
    return PageHistory(SITE + path, n_changed, n_changed * DAY, n_visits * DAY, 0.0, 0.0, **more)


def test_rates_of_known_pages_are_found_from_visits_that_hide_changes() -> None:
    random = np.random.default_rng(0)
    true = np.array([0.05, 0.5, 1.0])  # a day
    found = random.poisson(true, (3_000, 3)) > 0
    pages = [_page(str(n), int(each), 3_000) for n, each in enumerate(found.sum(axis=0))]
    rates = estimate(Histories.of(pages))
    assert rates.shape / rates.seconds * DAY == pytest.approx(true, rel=0.15)


def test_a_page_without_history_is_taken_for_one_of_its_folder() -> None:
    pages = [_page(f"news/{n}", 9, 10) for n in range(20)]
    pages += [_page(f"docs/{n}", 0, 10) for n in range(20)]
    rates = estimate(Histories.of([*pages, _page("news/new"), _page("docs/new")]))
    news, docs = (rates.shape / rates.seconds)[-2:]
    assert news > 20 * docs


@pytest.mark.parametrize(("exponent", "low", "high"), [(0, 0.8, 1.25), (0.5, 8, 12), (1, 85, 110)])
def test_how_far_rates_follow_the_size_of_pages_is_learned(
    exponent: float, low: float, high: float
) -> None:
    random = np.random.default_rng(0)
    sizes = 10 ** random.uniform(2, 4, 400)
    found = random.poisson(0.02 * (sizes / 1_000) ** exponent, (100, 400)) > 0
    pages = [
        _page(str(n), int(changes), 100)._replace(size=size)
        for n, (changes, size) in enumerate(zip(found.sum(axis=0), sizes, strict=True))
    ]
    new = [_page(name)._replace(size=size) for name, size in (("long", 10_000), ("short", 100))]
    rates = estimate(Histories.of([*pages, *new]))
    long, short = (rates.shape / rates.seconds)[-2:]
    assert low < long / short < high


@pytest.mark.parametrize(("shape", "days", "since"), [(0.5, 10, 3), (1, 10, 30), (3.5, 20, 8)])
def test_the_worth_of_a_visit_is_the_mean_over_the_rates(
    shape: float, days: float, since: float
) -> None:
    rate = np.random.default_rng(0).gamma(shape, 1 / days, 1_000_000) + 1e-12
    mean = ((1 - np.exp(-rate * since) * (1 + rate * since)) / rate).mean()
    (found,) = values(Rates(np.array([shape]), np.array([days])), np.array([since]))
    assert found == pytest.approx(mean, rel=0.01)


def test_pages_that_change_all_the_time_are_not_worth_most() -> None:
    rates = Rates(np.array([1e5, 1e3, 10.0]), np.array([1e3, 1e3, 1e3]))
    always, sometimes, hardly = values(rates, np.full(3, 2.0))
    assert sometimes > always
    assert sometimes > hardly


@pytest.mark.parametrize(("n_before", "first"), [(0, 7), (7, 0), (21, 2)])
def test_each_eighth_visit_goes_to_the_page_that_waited_longest(n_before: int, first: int) -> None:
    worth, since = -np.arange(40.0), np.arange(40.0)
    order = in_turns(worth, since, n_before).tolist()
    assert [order.index(page) for page in (39, 38, 37)] == [first, first + 8, first + 16]
    assert [page for page in order if page < 30] == list(range(30))


def test_a_schedule_counts_its_visits_for_turns() -> None:
    pages = [_page(f"docs/{n}", 3, 30) for n in range(20)]
    old = _page("docs/old", 0, 3_000)._replace(asked_at=-DAY)
    schedule = Schedule([*pages, old], [0.0, 10 * DAY])
    places = []
    for _ in range(8):
        order = schedule.order()
        places.append(order.index(old.url))
        schedule.note(order[0], 0.0, has_changed=True)
    assert places[:-1] == [7, 6, 5, 4, 3, 2, 1]


def test_the_spread_of_rates_is_learned_from_a_host() -> None:
    equal = [_page(f"docs/{n}", 2 + n % 2, 30) for n in range(200)]
    few = [_page(f"docs/{n}", 10 if n % 4 == 0 else 0, 30) for n in range(200)]

    def change(pages: list[PageHistory]) -> float:
        """The rate of a page that did not change in a visit, to that of a new one."""
        more = [_page("docs/new"), _page("docs/same", 0, 4)]
        rates = estimate(Histories.of([*pages, *more]))
        new, same = (rates.shape / rates.seconds)[-2:]
        return float(same / new)

    assert change(equal) > 0.7 > 0.5 > change(few)


def test_what_is_due_comes_first_and_duplicates_late() -> None:
    pages = [_page(f"docs/{n}", 3, 30) for n in range(8)]
    copy, due = (
        _page("docs/copy", 3, 30, is_duplicate=True),
        _page("docs/due", 0, 30, is_due=True),
    )
    order = Schedule([copy, *pages, due], [0.0, 10 * DAY]).order()
    assert order[0] == due.url
    assert order.index(copy.url) > 0
    assert sorted(order) == sorted(page.url for page in [copy, *pages, due])
    assert Schedule([], [0.0, 1.0]).order() == []


def test_pages_that_are_gone_are_visited_after_twice_the_time() -> None:
    pages = [_page(f"docs/{n}", 3, 30) for n in range(20)]
    gone = _page("docs/gone", 0, 30)._replace(away_at=-5.0 * DAY)  # it was at its visit on day 0
    assert Schedule([gone, *pages], [0.0, 4 * DAY]).order()[-1] == gone.url
    old = [page._replace(asked_at=DAY) for page in pages]
    assert gone.url in Schedule([gone, *old], [0.0, 5 * DAY]).order()[:8]
    just = gone._replace(away_at=0.0)
    assert just.url in Schedule([just, *old], [0.0, 2 * DAY]).order()[:8]


def _elapsed(pages: list[PageHistory], visits: list[Visit], since: list[int]) -> np.ndarray:
    """The days from a refresh on, after two days with a refresh each."""
    rates, seconds = np.full(len(pages), 0.01 / DAY), np.array([DAY, DAY])
    together = Histories.of(pages).together
    return elapsed(visits, together, rates, seconds, np.array(since, dtype=np.int64)) / DAY


def test_more_time_goes_by_where_more_pages_changed_than_their_rates_tell() -> None:
    pages = [_page(f"{folder}/{folder}{n}") for folder in "ab" for n in range(10)]
    visits = [Visit(page, 0, 2, page < 10) for page in (*range(8), *range(10, 18))]
    found = _elapsed(pages, visits, [0] * 20)
    assert (found[8:10] > 10).all()
    assert (found[18:] < 1.4).all()
    assert (_elapsed(pages, visits, [2] * 20) == 0).all()
    assert _elapsed(pages, [], [0, 1] * 10).tolist() == [2, 1] * 10


def test_changes_before_the_last_visit_of_a_page_do_not_age_it() -> None:
    pages = [_page(f"a/{n}") for n in range(10)]
    visits = [Visit(page, 0, 1, True) for page in range(8)]
    before, after = _elapsed(pages, visits, [0] * 9 + [1])[8:]
    assert before > 10
    assert after == pytest.approx(1)


def test_a_page_that_changed_ages_its_versions_and_languages() -> None:
    pages = [_page(f"{folder}/{name}.html") for name in "xy" for folder in ("1", "2", "de/2")]
    in_german = _elapsed(pages, [Visit(0, 0, 2, True), Visit(1, 0, 2, True)], [0] * 6)[[2, 5]]
    assert in_german[0] > 5
    assert in_german[1] == pytest.approx(2, rel=0.01)


def test_changes_that_a_refresh_finds_bring_the_other_pages_of_their_folder_forward() -> None:
    pages = [_page(f"{folder}/{n}", 1, 30) for n in range(20) for folder in ("docs", "news")]
    schedule = Schedule(pages, [0.0, DAY])
    for folder in ("docs", "news"):
        for n in range(3):
            schedule.note(f"{SITE}{folder}/{n}", DAY, has_changed=folder == "news")
    schedule.note(f"{SITE}news/3", DAY, has_changed=None)
    order = schedule.order()
    assert len(order) == len(schedule.left) == 33
    assert all("/news/" in url for url in order[:16])
    later = Schedule(
        pages, [0.0, DAY, 2 * DAY], [(f"{SITE}news/{n}", 1, True, DAY) for n in range(3)]
    )
    assert set(later.order()[:17]) == {f"{SITE}news/{n}" for n in range(3, 20)}


def test_refreshes_of_long_ago_count_as_the_first_crawl() -> None:
    began = [n * DAY for n in range(200)]
    visits = [(f"{SITE}a/{n % 5}", n, True, n * DAY) for n in range(1, 199)]
    assert len(Schedule([_page(f"a/{n}", 9, 30) for n in range(5)], began, visits).order()) == 5


@pytest.mark.parametrize("odds", [0.01, 0.5, 3.0, 1e3])
def test_what_a_site_says_is_expressed_as_time(odds: float) -> None:
    rates, since = Rates(np.array([0.5, 2.0]), np.array([5.0, 50.0])), np.array([3.0, 7.0])
    after = [
        (1 + time / rates.seconds) ** rates.shape - 1
        for time in (since, as_time(rates, since, np.full(2, odds)))
    ]
    assert after[1] == pytest.approx(after[0] * odds)
    assert as_time(rates, since, np.ones(2)) == pytest.approx(since)
    assert np.isfinite(
        as_time(Rates(np.array([1e5]), np.array([1.0])), since[:1], np.array([odds]))
    )


def test_a_site_is_believed_as_far_as_it_told_the_truth() -> None:
    liar, honest = Trust(20, 10, 200, 100), Trust(20, 1, 2, 200)
    assert liar.odds(is_named=True, share=0.1) < 1.1
    assert honest.odds(is_named=True, share=0.1) > 30
    assert honest.odds(is_named=False, share=0.1) < 0.2
    assert 1 < Trust().odds(is_named=True, share=0.1) < 10


def test_a_site_that_names_all_pages_says_nothing() -> None:
    for trust in (Trust(), Trust(20, 1, 2, 200), Trust(2, 0, 200, 0)):
        assert trust.odds(is_named=True, share=1.0) == pytest.approx(1)
        assert trust.odds(is_named=False, share=0.0) == pytest.approx(1)


def test_pages_that_are_not_named_do_not_come_forward_because_named_ones_were_the_same() -> None:
    assert Trust(0, 0, 200, 0).odds(is_named=False, share=0.2) < 1.5


@pytest.mark.parametrize(
    "spelling",
    [
        "2026",
        "2026-01",
        "2026-01-01",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.123456789+00:00",
        "2026-01-01T01:00:00+01:00",
        "2025-12-31T18:30:00-05:30",
    ],
)
def test_one_moment_is_the_same_in_each_spelling(spelling: str) -> None:
    assert instant(spelling) == instant("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "text", ["", "today", "2026-13", "0000", "9" * 40, "١٢٣٤", "0001-01-01T00:00+01:00", "\ud800"]
)
def test_what_is_no_time_stays_as_it_is(text: str) -> None:
    assert instant(text) == text


def test_moments_differ_by_a_second_or_more() -> None:
    spellings = ["2026-01-01T00:00:01Z", "2026-01-02", "2026-02", "2026-01-01T00:00:00+01:00"]
    assert len({*map(instant, spellings)}) == len(spellings)


def test_each_host_is_believed_by_its_own_record() -> None:
    named = {"http://a.example/1": True, "http://a.example/2": False, "http://b.example/": True}
    odds = odds_of(named, {"a.example": Trust(20, 1, 2, 200)})
    assert odds["http://a.example/1"] > 1 > odds["http://a.example/2"]
    assert odds["http://b.example/"] == pytest.approx(1)


def test_each_section_is_believed_by_its_own_record_first() -> None:
    """As one plugin of a generator makes its files anew in each build."""
    docs = {f"{SITE}docs/{n}": Trust(4, 1, 0, 9) for n in range(8)}
    blog = {f"{SITE}blog/{n}": Trust(1, 0, 30, 9) for n in range(8)}
    trust = trust_in_sections(
        docs | blog | {f"{SITE}news/1": Trust(), "http://b.example/": Trust()}
    )
    docs_odds, blog_odds, news_odds, other_odds = (
        trust[section_of(url)].odds(is_named=True, share=0.1)
        for url in (*(f"{SITE}{name}/1" for name in ("docs", "blog", "news")), "http://b.example/")
    )
    assert docs_odds > 5 * blog_odds
    assert docs_odds > news_odds
    assert other_odds == Trust().odds(is_named=True, share=0.1)


def test_a_page_that_is_named_alone_in_its_section_comes_forward() -> None:
    """All of its section is named, but not all of the host."""
    docs = {f"{SITE}docs/{n}": False for n in range(20)}
    assert odds_of(docs | {f"{SITE}news/1": True}, {}, section_of)[f"{SITE}news/1"] > 2
    assert odds_of(dict.fromkeys(docs, True), {}, section_of)[f"{SITE}docs/1"] == pytest.approx(1)


def test_pages_that_their_site_names_come_forward() -> None:
    pages = [_page(f"a/{n}", 1, 30) for n in range(20)]
    schedule = Schedule(pages, [0.0, DAY])
    schedule.hear({f"{SITE}a/17": 50.0, f"{SITE}a/elsewhere": 50.0})
    assert schedule.order()[0] == f"{SITE}a/17"
