"""What is summed up of old visits, and deleted of old versions, makes no difference to answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dedup.changes import Changes
from dedup.document import Match
from dedup.errors import StateError
from dedup.revisits import plan
from dedup.store import JobStore, Page, open_store
from dedup.store.sql import retention

SITE = "http://a.example/"
HOUR = 3_600.0
STORES: dict[str, Callable[[pytest.FixtureRequest, Path], JobStore]] = {
    "sqlite": lambda request, path: open_store(path),
    "postgresql": lambda request, path: open_store(request.getfixturevalue("new_place")()),
}
OUTCOMES = ["unchanged"] * 6 + ["changed", "missing", "missing", "moved", "failed: http_503"]


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture(params=STORES)
def new_store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], JobStore]]:
    monkeypatch.setattr(retention, "WHOLE", 3)
    stores: list[JobStore] = []

    def new() -> JobStore:
        stores.append(STORES[request.param](request, tmp_path / str(len(stores))))
        return stores[-1]

    yield new
    for store in stores:
        store.close()


def replay(
    store: JobStore, clock: Clock, *, n_visits: int = 24, days: float | None = None
) -> JobStore:
    """Visit some of six pages and a duplicate, hourly; `days`: sum up after each visit."""
    chosen = random.Random(5)
    store.set_meta("started", repr(clock.now))
    pages = {}
    for name in "abcdef":
        page = Page(id="", text=f"The text of {name}.", url=SITE + name, fetched_at=clock())
        pages[name] = store.add(page, {})
    copy = Page(id="", text="The text of f.", url=SITE + "copy", fetched_at=clock())
    store.add_duplicate(copy, Match(pages["f"], "text"))
    for visit in range(n_visits):
        clock.now += HOUR
        store.refreshes.begin()
        for name in chosen.sample([*pages, "copy"], 4):
            outcome = chosen.choice(OUTCOMES)
            if outcome == "changed" and name in pages:
                text = f"Text {visit} of {name}."
                page = Page(id="", text=text, url=SITE + name, fetched_at=clock())
                store.refreshes.replace_page(pages[name], page, {})
            store.refreshes.note_visit(SITE + name, outcome)
        if days is not None:
            store.refreshes.retention.sum_up(days)
        store.set_meta("finished", "1.0")
    return store


def _both(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch, days: float
) -> tuple[JobStore, JobStore]:
    stores = []
    for each in (None, days):
        clock = Clock()
        monkeypatch.setattr("time.time", clock)
        # `sum_up` asks for the time, too: once a visit
        stores.append(replay(new_store(), clock, days=each))
    return stores[0], stores[1]


def _answers(store: JobStore) -> dict[str, Any]:
    changes = store.refreshes.changes
    refreshes = changes.refreshes()
    return {
        "refreshes": [(each.number, each.counts) for each in refreshes],
        "hosts": [changes.answers(each.number) for each in refreshes],
        "away": [
            {url: page.outcome for url, page in changes.away(each.began).items()}
            for each in refreshes
        ],
        "due": sorted(page.url for page in store.refreshes.histories.histories() if page.is_due),
        "changed": {page.url: page.n_changed for page in store.refreshes.histories.histories()},
    }


def test_rows_that_are_summed_up_make_no_difference(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, summed_up = _both(new_store, monkeypatch, 0)
    assert _answers(summed_up) == _answers(whole)
    assert summed_up.refreshes.retention.summed_up() == 21
    histories = [sorted(store.refreshes.histories.histories()) for store in (whole, summed_up)]
    for one, other in zip(*histories, strict=True):
        seconds = slice(2, 4)  # the clocks differ by a second a visit
        assert one[seconds] == pytest.approx(other[seconds], abs=25)
    rows = [list(store.refreshes.changes.refreshes()) for store in (whole, summed_up)]
    assert len(rows[0]) == len(rows[1]) == 24


def test_versions_within_the_days_tell_the_same_changes(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole, cut = _both(new_store, monkeypatch, 10.5 * HOUR / 86_400)
    refreshes = [store.refreshes.changes.refreshes()[-10:] for store in (whole, cut)]
    for one, other in zip(*refreshes, strict=True):
        told = [
            sorted((row.url, row.change, *row.came, *row.went) for row in rows)
            for rows in (
                Changes(whole, one.began, tmp_path).rows(),
                Changes(cut, other.began, tmp_path).rows(),
            )
        ]
        assert told[0] == told[1]
    found = [
        {page.url: page.n_changed for page in store.refreshes.histories.histories()}
        for store in (whole, cut)
    ]
    assert found[0] == found[1]
    n_versions = [
        sum(len(list(store.refreshes.changes.steps(url, 100))) for url in found[0])
        for store in (whole, cut)
    ]
    assert n_versions[1] < n_versions[0]
    with pytest.raises(ValueError, match=r"history is kept since .* DEDUP_HISTORY_DAYS"):
        Changes(cut, 1e9 + HOUR, tmp_path)


def test_first_version_counts_when_it_is_deleted(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cut = _both(new_store, monkeypatch, 2 * HOUR / 86_400)
    seen = {page.url: page.seen_seconds for page in cut.refreshes.histories.histories()}
    assert max(seen.values()) > 20 * HOUR
    intervals = list(cut.refreshes.histories.intervals())
    assert intervals
    assert all(0 < each.seconds < 24 * HOUR for each in intervals)


def test_what_fails_is_undone_as_a_whole(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = replay(new_store(), Clock(), n_visits=8)
    store.commit()
    before = _answers(store)
    monkeypatch.setattr(retention, "_DROP_TURNS", "DELETE FROM nothing")
    with pytest.raises(StateError, match="nothing"):
        store.refreshes.retention.sum_up(1)
    assert _answers(store) == before


def test_a_budget_chooses_as_if_nothing_was_summed_up_or_deleted(
    new_store: Callable[[], JobStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_MAX_REFRESHES", 3)  # as many as the rows that are kept tell of
    whole, cut = _both(new_store, monkeypatch, 4 * HOUR / 86_400)
    assert len(cut.refreshes.changes.refreshes()) < 24  # when earlier ones began is deleted
    known = [store.refreshes.histories for store in (whole, cut)]
    began = [each.began() for each in known]
    assert len(began[0]) == len(began[1]) == 25
    assert began[1][-4:] == pytest.approx(began[0][-4:], abs=25)
    kept = [visit for visit in known[0].visits() if visit[1] > 21]
    found = known[1].visits()
    assert sorted(visit[:3] for visit in found) == sorted(visit[:3] for visit in kept)
    assert {refresh for _, refresh, *_ in kept} == {22, 23, 24}
    orders = [
        plan.Schedule(each.histories(), [*times, times[-1] + HOUR], each.visits()).order()
        for each, times in zip(known, began, strict=True)
    ]
    assert orders[0] == orders[1]
    assert len(orders[0]) == 7
