"""Which pages are visited first: rates of change, and what a visit is worth."""

from __future__ import annotations

import numpy as np
import pytest

from dedup.revisits import (
    Histories,
    PageHistory,
    Rates,
    estimate,
    in_turns,
    planned,
    values,
)

DAY = 86_400.0
SITE = "https://a.example/"


def _page(path: str, n_changed: int = 0, n_visits: int = 0, **more: bool) -> PageHistory:
    """A page that was visited once a day, the last time at 0."""
    return PageHistory(SITE + path, n_changed, n_changed * DAY, n_visits * DAY, 0.0, **more)


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


def test_pages_that_are_worth_most_and_those_that_waited_longest_take_turns() -> None:
    worth, since = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0]), np.arange(6.0)
    assert in_turns(worth, since).tolist() == [0, 5, 1, 4, 2, 3]


def test_what_is_due_comes_first_and_duplicates_late() -> None:
    pages = [_page(f"docs/{n}", 3, 30) for n in range(8)]
    copy, due = (
        _page("docs/copy", 3, 30, is_duplicate=True),
        _page("docs/due", 0, 30, is_due=True),
    )
    order = planned([copy, *pages, due], 10 * DAY)
    assert order[0] == due.url
    assert order.index(copy.url) > 0
    assert sorted(order) == sorted(page.url for page in [copy, *pages, due])
    assert planned([], 0.0) == []
