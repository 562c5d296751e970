"""What the store of a job does in a refresh; see `dedup.store.interface.Refreshes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from dedup.document import Match
from dedup.revisits import PageText, Trust
from dedup.store import JobStore, Page, open_store, summarise
from dedup.store.records import QUEUED
from dedup.store.sql import histories, refresh, url_table

STORES: dict[str, Callable[[pytest.FixtureRequest, Path], JobStore]] = {
    "sqlite": lambda request, path: open_store(path),
    "postgresql": lambda request, path: open_store(request.getfixturevalue("new_place")()),
}
SITE = "http://a.example/"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStore]:
    store = STORES[request.param](request, tmp_path)
    yield store
    store.close()


def _page(text: str, path: str = "", **more: str) -> Page:
    return Page(id="", text=text, url=SITE + path, **more)


def test_a_job_has_no_refresh_until_one_begins(store: JobStore) -> None:
    assert store.refreshes.current() == 0
    store.set_meta("finished", "1.0")
    assert [store.refreshes.begin(), store.refreshes.begin()] == [1, 2]
    assert store.refreshes.current() == 2
    assert store.meta("finished") is None


def test_pages_that_are_gone_say_nothing_of_freshness(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(10**9, 10**10, 3_600))
    monkeypatch.setattr("time.time", lambda: float(next(now)))
    for name in "ab":
        store.add(replace(_page("A text.", name), fetched_at=1e9), {})
    for outcome in ("missing", "gone", "gone", "gone"):
        store.refreshes.begin()
        store.refreshes.note_visit(SITE + "a", "changed")
        store.refreshes.note_visit(SITE + "b", outcome)
    found = summarise(store)["freshness"]
    assert found["visits"] == 4
    assert found["measured"] < 0.6


def test_pages_are_queued_by_their_numbers_and_duplicates_after_them(store: JobStore) -> None:
    number = store.add(_page("A text."), {})
    store.add_duplicate(_page("A text.", "copy"), Match(number, "text"))
    for key, path in ((b"1" * 16, "copy"), (b"2" * 16, "")):
        store.urls.finish([(key, SITE + path)])
    store.refreshes.begin()
    queued = store.urls.first_queued("a.example", 9)
    assert [(row.url, row.request) for row in queued] == [
        (SITE, b'{"revisit": %d}' % number),
        (SITE + "copy", None),
    ]
    assert {store.urls.state(row.key) for row in queued} == {QUEUED}


def test_validators_are_those_of_the_page(store: JobStore) -> None:
    with_both = store.add(_page("A.", etag='"a"', last_modified="Wed, 21 Oct 2015"), {})
    with_none = store.add(_page("B.", "b"), {})
    assert store.refreshes.validators(with_both) == {
        "If-None-Match": '"a"',
        "If-Modified-Since": "Wed, 21 Oct 2015",
    }
    assert store.refreshes.validators(with_none) == {}


def test_a_visit_has_a_known_result(store: JobStore) -> None:
    store.refreshes.begin()
    store.refreshes.note_visit(SITE, "gone")
    with pytest.raises(ValueError, match="must be one of unchanged, changed, template, back"):
        store.refreshes.note_visit(SITE, "lost")


def test_a_new_version_keeps_the_number_and_the_texts_of_duplicates(store: JobStore) -> None:
    number = store.add(_page("Old.", title="A title"), {"text": b"1"})
    store.add_duplicate(_page("Old.", "copy"), Match(number, "body"))
    store.refreshes.replace_page(number, _page("New."), {"text": b"2"})
    assert store.document(number).text == "New."
    assert [values for _, values in store.signatures("text")] == [[b"2"]]
    ((url, copy),) = store.refreshes.duplicates(number).items()
    assert (url, store.dropped_page(copy).text) == (SITE + "copy", "Old.")


def test_duplicate_to_judge_again_is_removed(store: JobStore) -> None:
    number = store.add(_page("A text."), {})
    store.add_duplicate(_page("A text.", "copy"), Match(number, "text"))
    (copy,) = store.refreshes.duplicates().values()
    assert store.refreshes.duplicates(number + 999) == {}
    store.refreshes.drop_duplicate(copy)
    assert store.refreshes.duplicates() == {}


def test_what_visits_found_is_the_history_of_a_page(store: JobStore) -> None:
    for name in ("a", "b", "c"):
        store.add(replace(_page(name, name), fetched_at=100.0), {})
    number = store.add(replace(_page("d", "d"), fetched_at=100.0), {})
    store.add_duplicate(replace(_page("d", "copy"), fetched_at=100.0), Match(number, "text"))
    visits = (("a", "unchanged"), ("a", "changed"), ("a", "template")), (("b", "missing"),)
    for results in visits:
        for path, result in results:
            store.refreshes.begin()
            store.refreshes.note_visit(SITE + path, result)
    store.refreshes.replace_page(number, replace(_page("e", "d"), fetched_at=200.0), {})
    found = {page.url.removeprefix(SITE): page for page in store.refreshes.histories.histories()}
    assert {path: page.n_changed for path, page in found.items()} == {
        "a": 1,
        "b": 0,
        "c": 0,
        "d": 0,
        "copy": 0,
    }
    assert 0 <= found["a"].changed_seconds < 60
    assert found["a"].seen_seconds == pytest.approx(found["a"].asked_at - 100)
    assert found["c"].asked_at == 100
    assert {page.first_at for page in found.values()} == {100.0}
    assert found["copy"].size == found["d"].size > 0
    assert {path for path, page in found.items() if page.is_due} == {"b", "copy"}
    visits = [(SITE + "a", 1, False), (SITE + "a", 2, True), (SITE + "a", 3, False)]
    answers = list(store.refreshes.histories.visits())
    assert [answer[:3] for answer in answers] == visits
    assert 0 <= answers[2][3] - answers[0][3] < 60
    assert len(store.refreshes.histories.began()) == 5
    assert {path for path, page in found.items() if page.is_duplicate} == {"copy"}


def test_texts_tell_from_when_until_when_a_page_had_them(
    store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (
        store.add(replace(_page(f"{name} 0", name), fetched_at=100.0), {}) for name in ("a", "b")
    )
    monkeypatch.setattr(histories, "WHOLE", 2)
    clock = iter(range(1, 9))
    monkeypatch.setattr(refresh.time, "time", lambda: next(clock) * 1_000.0)
    for n in range(1, 5):
        store.refreshes.begin()
        page = replace(_page(f"a {n}", "a"), fetched_at=1_000.0 * n + 1)
        store.refreshes.replace_page(one, page, {})
    last = replace(_page("b 1", "b"), fetched_at=4_002.0)
    store.refreshes.replace_page(two, last, {})
    kept = [(each.url, each.since, each.until, each.text) for each in _texts(store)]
    assert kept == [
        (SITE + "a", 2_001.0, 3_001.0, "a 2"),
        (SITE + "a", 3_001.0, 4_001.0, "a 3"),
        (SITE + "a", 4_001.0, inf, "a 4"),
        (SITE + "b", 100.0, 4_002.0, "b 0"),
        (SITE + "b", 4_002.0, inf, "b 1"),
    ]
    monkeypatch.setattr(histories, "_MAX_TEXTS", 2)
    assert [each.text for each in _texts(store)] == ["a 2", "a 3"]


def _texts(store: JobStore) -> list[PageText]:
    return list(store.refreshes.histories.texts())


def test_the_history_of_a_page_tells_since_when_it_is_gone(store: JobStore) -> None:
    for name in ("a", "b"):
        store.add(_page(name, name), {})
    for outcome in ("gone", "unchanged", "gone", "gone"):
        store.refreshes.begin()
        store.refreshes.note_visit(SITE + "a", outcome)
        store.refreshes.note_visit(SITE + "b", "gone" if outcome == "gone" else "unchanged")
        store.refreshes.note_visit(SITE + "b", "unchanged")
    visits = store.refreshes.changes.visits(SITE + "a")
    found = {page.url.removeprefix(SITE): page for page in store.refreshes.histories.histories()}
    assert [visit.outcome for visit in visits] == ["gone", "back", "gone", "gone"]
    assert (found["a"].away_at, found["b"].away_at) == (visits[2].seen_at, None)


def test_a_planned_refresh_queues_in_its_order_and_leaves_new_links_at_its_end(
    store: JobStore,
) -> None:
    for number, path in enumerate(("a", "b", "c")):
        store.add(_page(path, path), {})
        store.urls.finish([(bytes([number] * 16), SITE + path)])
    store.urls.queue(b"n" * 16, SITE + "new", 1, slot="a.example")
    store.set_meta("finished", "1.0")
    store.refreshes.begin([SITE + "c", SITE + "a"])
    queued = [row.url.removeprefix(SITE) for row in store.urls.first_queued("a.example", 9)]
    assert queued == ["new", "c", "a"]
    store.refreshes.note_visit(SITE + "c", "unchanged")
    assert store.refreshes.fetched() == 1
    store.urls.finish([(bytes([2] * 16), SITE + "c")])
    for in_flight, expected in (([], ["new", "b"]), ([bytes([1] * 16)], ["new", "b", "a"])):
        store.refreshes.reorder([SITE + path for path in expected[1:]], in_flight)
        queued = [row.url.removeprefix(SITE) for row in store.urls.first_queued("a.example", 9)]
        assert queued == expected
    store.refreshes.leave_out()
    assert [row.url for row in store.urls.first_queued("a.example", 9)] == [SITE + "new"]


def test_what_sites_told_at_visits_is_counted(store: JobStore) -> None:
    lastmods = store.refreshes.lastmods
    for path in ("a", "b"):
        store.add(_page(path, path), {})
    lastmods.add([(SITE + "a", "2026-01-01"), (SITE + "b", "2026-01-01")])
    assert {*lastmods.counts().values()} == {Trust()}
    lastmods.note(SITE + "a", "2026-01-02", is_named=True, has_changed=True)
    lastmods.note(SITE + "a", "2026-01-02", is_named=False, has_changed=False)
    lastmods.note(SITE + "b", "2026-01-01", is_named=False, has_changed=True)
    assert lastmods.known() == {SITE + "a": "2026-01-02", SITE + "b": "2026-01-01"}
    assert lastmods.counts() == {SITE + "a": Trust(1, 0, 0, 1), SITE + "b": Trust(0, 1, 0, 0)}
    lastmods.drop([SITE + "b"])
    lastmods.add([(SITE + "b", "text 1")])
    assert lastmods.counts()[SITE + "b"] == Trust()
    store.refreshes.begin()  # which visits all
    assert lastmods.known() == {SITE + "a": "", SITE + "b": "text "}
    lastmods.add([(SITE + "a", "2026-01-03")])
    assert lastmods.known()[SITE + "a"] == "2026-01-03"
    assert lastmods.counts()[SITE + "a"] == Trust(1, 0, 0, 1)


def test_a_version_that_is_taken_back_leaves_the_page_its_date_and_the_new_body(
    store: JobStore,
) -> None:
    numbers = {}
    for at, name in enumerate("ab"):
        page = replace(_page("A text.", name), fetched_at=1e9 + at, body=b"old", etag='"1"')
        numbers[name] = store.add(page, {})
    before = [store.page(number) for number in numbers.values()]
    store.refreshes.begin()
    for name, number in numbers.items():
        new = replace(_page("A text.", name), fetched_at=2e9, body=b"new", etag='"2"')
        store.refreshes.replace_page(number, new, {})
        store.refreshes.note_visit(SITE + name, "changed")
    store.refreshes.take_back([SITE + "a"])
    a, b = (store.page(number) for number in numbers.values())
    assert (a.body, a.fetched_at) == (b"new", before[0].fetched_at)
    assert store.refreshes.validators(numbers["a"]) == {"If-None-Match": '"2"'}  # it says the same
    assert (b.body, b.fetched_at) == (b"new", 2e9)
    told = store.refreshes.changes
    assert [each.url for each in told.changed(1.5e9)] == [SITE + "b"]
    assert list(told.new(1.5e9)) == []
    outcomes = [[visit.outcome for visit in told.visits(SITE + name)] for name in "ab"]
    assert outcomes == [["unchanged"], ["changed"]]


def test_a_new_body_of_the_same_text_comes_with_its_encoding_and_validators(
    store: JobStore,
) -> None:
    old = replace(_page("A text.", "a"), fetched_at=1e9, body=b"old", etag='"1"', encoding="gbk")
    number = store.add(old, {})
    store.refreshes.begin()
    new = replace(old, fetched_at=2e9, body=b"newer", size_bytes=5, etag='"2"', encoding="utf-8")
    store.refreshes.replace_body(number, new)
    page = store.page(number)
    assert (page.text, page.fetched_at) == (old.text, old.fetched_at)
    assert (page.body, page.size_bytes, page.encoding) == (b"newer", 5, "utf-8")
    assert store.refreshes.validators(number) == {"If-None-Match": '"2"'}
    assert list(store.refreshes.changes.changed(1.5e9)) == []


def test_a_version_with_another_text_is_not_taken_back(store: JobStore) -> None:
    number = store.add(replace(_page("A text.", "a"), fetched_at=1e9, body=b"first"), {})
    store.refreshes.begin()
    for at, (text, body) in enumerate([("Another text.", b"other"), ("A text.", b"last")]):
        new = replace(_page(text, "a"), fetched_at=2e9 + at, body=body)
        store.refreshes.replace_page(number, new, {})
    store.refreshes.take_back([SITE + "a"])
    page = store.page(number)
    assert (page.text, page.body, page.fetched_at) == ("A text.", b"last", 2e9 + 1)


@pytest.mark.parametrize(
    ("urls", "asked"),
    [
        (None, ["latest", "stable"]),  # the shortest
        (["http://a.example/other/1", "http://a.example/1"], ["other/1"]),
        ([], []),
    ],
)
def test_some_urls_that_have_redirected_elsewhere_are_queued_again(
    store: JobStore, monkeypatch: pytest.MonkeyPatch, urls: list[str] | None, asked: list[str]
) -> None:
    monkeypatch.setattr(url_table, "_LEAST_ASKED", 2)
    redirects = {
        "latest": f"{SITE}1/",
        "stable": f"{SITE}2/",
        "other/1": f"{SITE}3/",
        "1": f"{SITE}1/",
        "2/": "https://www.a.example/2/",
        **{f"{number}?": f"{SITE}log-in?{number}" for number in range(11)},
    }
    for name, target in redirects.items():
        key = name.encode()
        store.urls.queue(key, SITE + name, 1, slot="a.example")
        store.urls.finish([(key, SITE + name)])
        store.urls.add_alias(SITE + name, target, "redirect")
    for number, _ in enumerate("123"):
        store.add(_page(f"Text {number}.", f"{number + 1}/"), {})
    log_in = store.add(_page("To log in.", "log-in?0"), {})
    for number in range(1, 11):
        store.add_duplicate(_page("To log in.", f"log-in?{number}"), Match(log_in, "body"))
    store.urls.queue_redirects(urls=urls)
    queued = [row.url for row in store.urls.first_queued("a.example", 99)]
    assert sorted(queued) == [SITE + name for name in asked]
