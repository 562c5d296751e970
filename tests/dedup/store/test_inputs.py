"""What the store keeps of what rendered pages were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dedup.rendering.inputs import Answer, Inputs
from dedup.rendering.record import HowRead
from dedup.store import JobStore, Page, open_store, summarise

STORES: dict[str, Callable[[pytest.FixtureRequest, Path], JobStore]] = {
    "sqlite": lambda request, path: open_store(path),
    "postgresql": lambda request, path: open_store(request.getfixturevalue("new_place")()),
}
HOST, URL = "a.example", "http://a.example/"
PAGE = Page(id="", text="A text.", url=URL, fetched_at=1_700_000_000.123456)
MADE_FROM = Inputs("1f", (Answer("http://a.example/data", "2e", '"e"'),))


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStore]:
    store = STORES[request.param](request, tmp_path)
    yield store
    store.close()


def test_what_was_noted_holds_for_the_version_that_it_was_noted_with(store: JobStore) -> None:
    table = store.learned.inputs
    table.note(HOST, PAGE, MADE_FROM)
    number = store.add(PAGE, {})
    assert table.of_page(number, HOST, URL) == MADE_FROM
    later = replace(PAGE, fetched_at=PAGE.fetched_at + 1)
    table.note(HOST, later, MADE_FROM._replace(shell="3d"))  # and the process is killed here
    assert table.of_page(number, HOST, URL) is None
    assert table.before(HOST, URL) == MADE_FROM._replace(shell="3d")
    store.refreshes.replace_page(number, later, {})
    assert table.of_page(number, HOST, URL) == MADE_FROM._replace(shell="3d")


def test_what_was_noted_with_the_same_page_holds_for_the_stored_one(store: JobStore) -> None:
    table, number = store.learned.inputs, store.add(PAGE, {})
    again = replace(PAGE, fetched_at=PAGE.fetched_at + 1)
    table.note(HOST, again, MADE_FROM)
    table.confirm(number, HOST, replace(again, fetched_at=0.0))  # another reading
    assert table.of_page(number, HOST, URL) is None
    table.confirm(number, HOST, again)
    assert table.of_page(number, HOST, URL) == MADE_FROM


def test_nothing_is_known_of_a_page_that_answers_do_not_tell(store: JobStore) -> None:
    table, number = store.learned.inputs, store.add(PAGE, {})
    for unknown in (None, Inputs("1f", (Answer("/" + "a" * 40_000, ""),))):
        table.note(HOST, PAGE, MADE_FROM)
        table.note(HOST, PAGE, unknown)
        assert table.of_page(number, HOST, URL) is None
        assert table.before(HOST, URL) is None


def test_a_host_that_is_not_trusted_has_its_pages_rendered(store: JobStore) -> None:
    table, rendering = store.learned.inputs, store.learned.rendering
    refresh = store.refreshes.begin()
    for name in "abc":
        page = replace(PAGE, url=URL + name, text=name)
        store.add(page, {})
        rendering.note(HowRead(HOST, URL + name, 0, "shell", True, "shell", 1.0))
        table.note(HOST, page, MADE_FROM)
    assert table.checks(HOST) == (0, False)
    for name in "ab":
        table.count(HOST)
        table.note_spared(HOST, URL + name, refresh)
    assert table.checks(HOST) == (2, False)
    assert summarise(store)["rendering"]["spared"] == 2
    assert (table.spared_in(HOST, URL + "b"), table.spared_in(HOST, URL + "c")) == (refresh, 0)
    table.refuse(HOST, refresh)
    table.refuse("b.example", refresh)
    assert table.checks(HOST) == (2, True)
    assert table.checks("b.example") == (0, True)
    assert [each.url for each in rendering.to_render(HOST, 9)] == [URL + "a", URL + "b"]
    table.note(HOST, replace(PAGE, url=URL + "a"), MADE_FROM)
    assert summarise(store)["rendering"]["spared"] == 1
