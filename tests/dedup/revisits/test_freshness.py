"""How fresh pages are: estimated from rates, and measured by visits that a budget chose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from dedup.revisits import Histories, Interval, PageHistory, estimate, freshness, in_turns, values

DAY = 86_400.0
N_PAGES, N_DAYS, WHOLE = 1_000, 60, 24


class Replay(NamedTuple):
    pages: list[PageHistory]
    visits: list[Interval]
    fresh_now: float
    fresh_mean: float
    plain: float


def replay(choice: str, *, changes_a_day: float, share: float = 0.2) -> Replay:
    """Pages with Poisson changes, of which a share is visited each day.

    Returns:
        What is known in the end, and the truth: the share that is fresh, its mean over the days of
        the last visits, and the plain share of these visits that found no change.
    """
    random = np.random.default_rng(7)
    rates = random.gamma(0.7, changes_a_day / 0.7, N_PAGES)
    next_change = random.exponential(1 / rates)
    n_changed, changed, asked = np.zeros(N_PAGES), np.zeros(N_PAGES), np.zeros(N_PAGES)
    urls = [f"https://a.example/{n % 5}/{n}" for n in range(N_PAGES)]
    visits: list[list[Interval]] = []
    fresh = []
    for day in range(1, N_DAYS + 1):
        hours = day - np.array([0.75, 0.5, 0.25, 0])
        fresh.extend((next_change > hours[:, np.newaxis]).mean(axis=1).tolist())
        chosen = _chosen(choice, random, urls, (n_changed, changed, asked), day)
        chosen = chosen[: int(share * N_PAGES)]
        found = next_change[chosen] <= day
        waited = day - asked[chosen]
        visits.append(
            [
                Interval(urls[n], DAY * seconds, bool(each))
                for n, seconds, each in zip(chosen, waited, found, strict=True)
            ]
        )
        n_changed[chosen] += found
        changed[chosen] += waited * found
        asked[chosen] = day
        next_change[chosen] = day + random.exponential(1 / rates[chosen])
    last = [each for some in visits[-WHOLE:] for each in some]
    return Replay(
        _pages(urls, n_changed, changed, asked),
        last,
        float((next_change > N_DAYS).mean()),
        float(np.mean(fresh[-4 * WHOLE :])),
        float(np.mean([not each.is_changed for each in last])),
    )


def _pages(urls: list[str], *columns: np.ndarray) -> list[PageHistory]:
    n_changed, changed, asked = columns
    rows = zip(urls, n_changed, DAY * changed, DAY * asked, DAY * asked, strict=True)
    return [PageHistory(*row) for row in rows]


def _chosen(
    choice: str,
    random: np.random.Generator,
    urls: list[str],
    known: tuple[np.ndarray, ...],
    day: int,
) -> np.ndarray:
    since = DAY * (day - known[2])
    if choice == "at random":
        return random.permutation(N_PAGES)
    worth = values(estimate(Histories.of(_pages(urls, *known))), since)
    return in_turns(worth, since) if choice == "by turns" else np.argsort(-worth)


@pytest.mark.parametrize(
    ("choice", "changes_a_day"),
    [("by turns", 0.02), ("by turns", 0.2), ("by worth", 0.2), ("at random", 0.2)],
)
def test_estimated_and_measured_freshness_are_the_true_ones(
    choice: str, changes_a_day: float
) -> None:
    found = replay(choice, changes_a_day=changes_a_day)
    told = freshness(found.pages, found.visits, DAY * N_DAYS)
    # A share of 1,000 pages has a standard error of .016 at most.
    assert told.estimated == pytest.approx(found.fresh_now, abs=3 * 0.016)
    assert told.measured == pytest.approx(found.fresh_mean, abs=3 * 0.016)
    assert told.visits == len(found.visits)
    if choice == "by worth":  # what a budget chose is no sample
        assert found.plain < found.fresh_mean - 0.15


def test_an_interval_with_a_change_counts_by_the_rate_of_its_page() -> None:
    pages = [PageHistory("https://a.example/1", 500, 500 * DAY, 500 * DAY, 500 * DAY)]
    visits = [Interval("https://a.example/1", DAY, is_changed=True)] * 500
    told = freshness(pages, [*visits, Interval("https://a.example/away", DAY, False)], 500 * DAY)
    assert told.visits == 500
    assert told.measured == pytest.approx(0, abs=0.35)
    assert told.measured < 0.5
    assert told.age_seconds == 0


def test_without_pages_or_visits_nothing_is_told() -> None:
    assert freshness([], [], 0) == (None, None, 0, 0)
    page = PageHistory("https://a.example/1", 0, 0, 0, 0)
    told = freshness([page, page._replace(is_duplicate=True)], [], DAY)
    assert (told.measured, told.age_seconds) == (None, DAY)
    assert 0.9 < told.estimated < 1
