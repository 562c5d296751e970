"""Which pages wait for their template, and what becomes of them, in a store that survives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dedup.template_learner import POOL_PAGES, LearningStep, TemplateLearner
from tests.dedup.templates.conftest import FOOTER, blog_post, flat, prose, sample, sphinx

from dedup.sites.outline import Outline
from dedup.store import Page, SqliteStore

URL = "http://site.example"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    yield store
    store.close()


def fetched(number: int, body: str, url: str = URL) -> tuple[Page, Outline]:
    title = f"Page {number} - The site"
    page = Page(
        id="",
        text=f"all of page {number}",
        url=f"{url}/{number}",
        title=title,
        body=body.encode(),
        source="page",
        fetched_at=1e9 + number,
        size_bytes=len(body),
    )
    return page, sample(title, body).outline


def numbers(progress: LearningStep) -> list[int]:
    return [int((ready.page.url or "").rpartition("/")[2]) for ready in progress.ready]


def learner(store: SqliteStore, max_waiting: int = 1000) -> TemplateLearner:
    return TemplateLearner(store.learned, max_waiting=max_waiting)


def test_pages_wait_for_ten_of_their_template(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(9):
        assert numbers(learning.arrive(*fetched(number, sphinx(number)))) == []
        assert learning.n_waiting == number + 1
    progress = learning.arrive(*fetched(9, sphinx(9)))
    assert numbers(progress) == list(range(10))
    assert learning.n_waiting == 0
    assert {ready.page.source for ready in progress.ready} == {"box"}
    assert progress.ready[3].page.text == f"Page 3\n{prose(3)}\ncode 3\n  more"
    assert progress.ready[3].page.body == sphinx(3).encode()
    assert numbers(learning.arrive(*fetched(50, sphinx(50)))) == [50]


def test_what_waits_is_in_the_store_until_it_is_recorded(store: SqliteStore) -> None:
    learning = learner(store)
    progress = LearningStep()
    for number in range(10):
        progress = learning.arrive(*fetched(number, sphinx(number)))
    assert sum(store.learned.count_waiting().values()) == 10
    for ready in progress.ready[:4]:
        assert ready.place is not None
        learning.done(ready.place)
    again = learner(store)  # the process was killed
    assert numbers(again.resume()) == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("killed_after", range(0, 40, 3))
def test_an_interruption_changes_nothing(store: SqliteStore, killed_after: int) -> None:
    kinds: list[Callable[[int], str]] = [sphinx, flat, blog_post]
    pages = [fetched(n, kinds[n % 3](n)) for n in range(45)]

    def run(into: SqliteStore, kill_at: int | None) -> list[tuple[int, str]]:
        learning, judged = learner(into), []
        for place, page in enumerate(pages):
            if place == kill_at:
                learning = learner(into)
                assert learning.resume().ready == []
            for ready in learning.arrive(*page).ready:
                judged.append((int((ready.page.url or "")[-2:].strip("/")), ready.page.text))
                if ready.place is not None:
                    learning.done(ready.place)
        return judged

    other = SqliteStore(store.path.parent / "other.sqlite")
    try:
        assert run(store, killed_after) == run(other, None)
    finally:
        other.close()


def test_pages_of_no_template_are_let_go_when_too_many_wait(store: SqliteStore) -> None:
    learning = learner(store)
    found: list[int] = []
    for number in range(POOL_PAGES + 5):
        body = f"<div class=own-{number}><p>{prose(number)}</p></div>" * (1 + number % 7)
        found += numbers(learning.arrive(*fetched(number, f"<x-{number}>{body}</x-{number}>")))
    assert found == [0, 1, 2, 3, 4]
    assert learning.n_waiting == POOL_PAGES


def test_the_host_that_waits_longest_is_let_go_first(store: SqliteStore) -> None:
    learning = learner(store, max_waiting=6)
    hosts = [f"http://{name}.example" for name in "abc"]
    for number in range(6):
        assert not learning.arrive(*fetched(number, sphinx(number), hosts[number % 3])).ready
    progress = learning.arrive(*fetched(6, sphinx(6), hosts[2]))
    assert numbers(progress) == [0, 3]
    assert all(ready.outline is not None for ready in progress.ready)
    assert {ready.page.source for ready in progress.ready} == {"page"}


def test_at_the_end_few_pages_are_enough_and_none_is_left(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(5):
        learning.arrive(*fetched(number, sphinx(number)))
    for number in range(5, 7):
        learning.arrive(*fetched(number, flat(number), "http://other.example"))
    first, second, third = learning.finish(), learning.finish(), learning.finish()
    assert (numbers(first), numbers(second), numbers(third)) == ([0, 1, 2, 3, 4], [5, 6], [])
    assert {ready.page.source for ready in first.ready} == {"box"}
    assert {ready.page.source for ready in second.ready} == {"page"}
    assert FOOTER not in first.ready[0].page.text


def test_no_page_waits_where_none_may(store: SqliteStore) -> None:
    progress = learner(store, max_waiting=0).arrive(*fetched(1, sphinx(1)))
    assert numbers(progress) == [1]
    assert progress.ready[0].outline is not None


def test_early_pages_are_read_anew(store: SqliteStore) -> None:
    learning = learner(store, max_waiting=0)
    reread: list[int] = []
    for number in range(1, 12):
        (ready,) = learning.arrive(*fetched(number, sphinx(number))).ready
        stored = store.add(ready.page, {})
        if ready.outline is None:
            assert number == 11
            assert ready.page.source == "box"
        else:
            progress = learning.early(stored, ready.page, ready.outline)
            reread += [number for number, _ in progress.reread]
            texts = {number: own.text for number, own in progress.reread}
    assert reread == list(range(1, 11))
    assert texts[4] == f"Page 4\n{prose(4)}\ncode 4\n  more"
    assert store.learned.count_early() == {}


def test_early_pages_are_bounded(store: SqliteStore) -> None:
    learning = learner(store, max_waiting=0)
    for number in range(1, POOL_PAGES + 10):
        page, outline = fetched(number, f"<x-{number}><p>{prose(number)}</p></x-{number}>")
        learning.early(store.add(page, {}), page, outline)
    assert store.learned.count_early() == {"site.example": POOL_PAGES}
    kept = [each.key for each in store.learned.early("site.example")]
    assert kept == list(range(10, POOL_PAGES + 10))


def test_a_page_without_a_host_does_not_wait(store: SqliteStore) -> None:
    page, outline = fetched(1, sphinx(1), url="no url at all")
    assert len(learner(store).arrive(page, outline).ready) == 1


def test_what_is_lone_in_a_page_survives_waiting(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(9):
        learning.arrive(*fetched(number, sphinx(number)))
    progress = learning.arrive(*fetched(9, sphinx(9, content=f"<p>é 有 \u2028 {prose(9)}</p>")))
    assert progress.ready[-1].page.text.startswith("Page 9\né 有")


@pytest.mark.parametrize("max_waiting", [1, 3, 6, 1_000])
def test_every_page_that_waits_becomes_ready_once(store: SqliteStore, max_waiting: int) -> None:
    """Also where the template is learned from pages that could not wait and are stored."""
    learning = learner(store, max_waiting)
    judged: list[int] = []

    def judge(progress: LearningStep) -> None:
        for ready in progress.ready:
            judged.append(int((ready.page.url or "").rpartition("/")[2]))
            number = store.add(ready.page, {})
            if ready.outline is not None:
                assert not learning.early(number, ready.page, ready.outline).ready
            if ready.place is not None:
                learning.done(ready.place)

    for number in range(30):
        page, outline = fetched(number, sphinx(number))
        judge(learning.release(page.url or ""))
        judge(learning.arrive(page, outline))
    assert learning.n_unjudged == 0
    assert sorted(judged) == list(range(30))
    assert store.learned.count_waiting() == {}
