"""Processes that share a job, in either database: turns, hosts, and those that die."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dedup.document import Document
from dedup.errors import StateError
from dedup.store import JobStore, open_store
from dedup.store.postgresql.store import PostgresqlStore
from dedup.store.records import DONE, NewUrl
from dedup.store.sql.workers import SharedWorkers
from dedup.store.sqlite.store import SqliteStore

Join = Callable[[], tuple[JobStore, SharedWorkers]]


@pytest.fixture(params=["sqlite", "postgresql"])
def join(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Join]:
    is_file = request.param == "sqlite"
    place = tmp_path if is_file else request.getfixturevalue("new_place")()
    opened = []

    def make() -> tuple[JobStore, SharedWorkers]:
        store = open_store(place, is_shared=True)
        assert isinstance(store.workers, SharedWorkers)
        opened.append(store)
        return store, store.workers

    yield make
    for store in reversed(opened):
        store.close()


def new(name: str, slot: str = "a.example", rank: int = 0, **more: bool) -> NewUrl:
    return NewUrl(name.encode() * 16, f"http://{slot}/{name}", 1, None, slot, rank, **more)


def vanish(store: JobStore) -> None:
    """As a process that is killed: its connection ends, and it says nothing."""
    if isinstance(store, PostgresqlStore):
        store.database.connection.raw.close()
        return
    assert isinstance(store, SqliteStore)
    store.database.connection.close()
    store.database._is_closed = True
    with closing(sqlite3.connect(store.path)) as connection, connection:
        query = "UPDATE workers SET process = 'of another process' WHERE id = ?"
        connection.execute(query, (store.workers._id,))  # type: ignore[attr-defined]


def test_one_writes_at_a_time(join: Join) -> None:
    (_, first), (_, second) = join(), join()
    assert first.try_begin(waits=False)
    assert not second.try_begin(waits=False)
    first.end()
    assert second.try_begin(waits=False)
    assert not first.try_begin(waits=False)
    second.end()


def test_numbers_go_on_where_another_stopped(join: Join) -> None:
    (one, _), (two, _) = join(), join()
    numbers = [store.add(Document("a", "A."), {}) for store in (one, two, one, one, two)]
    assert numbers == [1, 2, 3, 4, 5]


def test_foreign_signatures_are_reported_before_writing(join: Join) -> None:
    (one, _), (two, second) = join(), join()
    told: list[tuple[str, list[int], list[bytes]]] = []

    def note(stage: str, numbers: NDArray[np.int64], values: object) -> None:
        told.append((stage, numbers.tolist(), list(values)))  # type: ignore[call-overload]

    one.add(Document("a", "A."), {"text": b"1"})
    second.on_signatures(note)
    assert second.try_begin(waits=True)
    assert told == [("text", [1], [b"1"])]
    assert two.add(Document("b", "B."), {"text": b"2", "body": b"3"}) == 2
    second.end()
    one.add(Document("c", "C."), {"body": b"4", "text": b"5"})
    one.change_signatures(1, {"text": b"6"})
    told.clear()
    assert second.try_begin(waits=True)
    assert told == [("body", [3], [b"4"]), ("text", [1, 3], [b"6", b"5"])]  # none of its own
    second.end()
    told.clear()
    assert second.try_begin(waits=True)
    assert told == []
    second.end()


def test_who_joins_reads_each_signature_once(join: Join) -> None:
    one, _ = join()
    one.add(Document("a", "A."), {"text": b"1"})
    two, second = join()
    one.add(Document("b", "B."), {"text": b"2"})
    loaded = [number for numbers, _ in two.signatures("text") for number in numbers.tolist()]
    told: list[int] = []
    second.on_signatures(lambda stage, numbers, values: told.extend(numbers.tolist()))
    assert second.try_begin(waits=True)
    second.end()
    assert (loaded, told) == ([1], [2])


def test_url_is_queued_by_one_of_them(join: Join) -> None:
    (one, first), (two, second) = join(), join()
    assert [slot for slot, _ in first.queue_many([new("x"), new("y", "b.example")])] == [
        "a.example",
        "b.example",
    ]
    assert [row.url for _, row in second.queue_many([new("x"), new("z")])] == ["http://a.example/z"]
    assert [row.url[-1] for row in two.urls.first_queued("a.example", 9)] == ["x", "z"]
    ((slot, row),) = second.queue_many([new("x", "c.example", 7, is_again=True)])
    assert (slot, row.rank, row.url) == ("c.example", 7, "http://a.example/x")
    assert one.urls.state(b"w" * 16) is None


def test_urls_of_a_batch_keep_their_order(join: Join) -> None:
    store, workers = join()
    names = [chr(97 + (7 * n) % 26) for n in range(26)]
    workers.queue_many([new(name) for name in names])
    assert [row.url[-1] for row in store.urls.first_queued("a.example", 99)] == names


def test_host_belongs_to_one_of_them(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    first.queue_many([new(f"{n}", f"{n}.example") for n in "abcde"])
    assert first.fair_share() == 3
    mine, others = first.take_hosts(3), second.take_hosts(9)
    assert sorted([*mine, *others]) == [f"{n}.example" for n in "abcde"]
    assert len(mine) == 3
    assert first.take_hosts(9) == second.take_hosts(9) == []
    assert [(each.hosts, each.pages) for each in one.stats.workers()] == [(3, 0), (2, 0)]


def test_host_that_is_given_back_rests_and_has_work_or_none(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    first.queue_many([new("a", "a.example"), new("b", "b.example"), new("c", "c.example")])
    assert len(first.take_hosts(9)) == 3
    one.urls.finish([(b"b" * 16, "http://b.example/b")])
    first.free_hosts({"a.example": 0.0, "b.example": 0.0, "c.example": 3600.0})
    assert second.take_hosts(9) == ["a.example"]  # b has no work, c rests
    second.queue_many([new("x", "b.example")])
    assert second.take_hosts(9) == ["b.example"]


def test_hosts_of_the_dead_are_free_and_they_cannot_write(
    join: Join,
) -> None:
    (one, first), (two, second) = join(), join()
    first.queue_many([new("a", "a.example")])
    assert first.take_hosts(9) == ["a.example"]
    assert second.beat(pages=0) == 2
    assert second.take_hosts(9) == []
    second._lease_seconds = -1
    assert second.beat(pages=7) == 1
    assert second.take_hosts(9) == ["a.example"]
    assert [(each.hosts, each.pages) for each in two.stats.workers()] == [(1, 7)]
    with pytest.raises(StateError, match="others have taken its hosts"):
        one.add(Document("a", "A."), {})
    assert second.try_begin(waits=False)  # the lock was let go of
    second.end()
    assert two.exports.count("pages") == 0


def test_hosts_of_the_dead_rest_first(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    first.queue_many([new("a", "a.example")])
    first.take_hosts(9)
    first.beat(pages=0, pause=3600.0)
    second._lease_seconds = -1
    second.beat(pages=0)
    assert second.take_hosts(9) == []
    vanish(one)


@pytest.mark.parametrize("dies", [True, False], ids=["dies", "leaves"])
def test_host_that_asked_for_a_pause_has_it_whoever_goes_on(join: Join, *, dies: bool) -> None:
    (one, first), (_, second) = join(), join()
    first.queue_many([new("a", "a.example"), new("b", "b.example")])
    first.take_hosts(9)
    first.beat(pages=0, paused={"a.example": 3600.0})
    if dies:
        vanish(one)
        second._lease_seconds = -1
        second.beat(pages=0)
    else:
        first.leave({"a.example": 3600.0, "b.example": 0.0})
    assert second.take_hosts(9) == ["b.example"]


def test_who_leaves_gives_its_hosts_back(join: Join) -> None:
    (one, first), (two, second) = join(), join()
    first.queue_many([new("a", "a.example")])
    first.take_hosts(9)
    one.close()
    assert second.take_hosts(9) == ["a.example"]
    assert len(two.stats.workers()) == 1


def test_what_is_to_be_written_with_a_commit_is(join: Join) -> None:
    (one, first), (two, second) = join(), join()
    later = [new("l")]

    def flush() -> None:
        if later:
            first.queue_many([later.pop()])

    first.before_commit(flush)
    one.urls.finish([(b"p" * 16, "http://a.example/p")])
    assert two.urls.state(b"p" * 16) == DONE
    assert second.take_hosts(1) == ["a.example"]
    assert two.urls.is_queued(b"l" * 16)


def test_work_that_is_left(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    assert not second.has_queued()
    first.queue_many([new("a")])
    assert second.has_queued()
    one.urls.finish([(b"a" * 16, "http://a.example/a")])
    assert not second.has_queued()
    assert not second.has_waiting()


def test_turn_of_dead_worker_is_rolled_back(join: Join) -> None:
    (one, first), (two, second) = join(), join()
    assert first.try_begin(waits=True)
    one.add(Document("a", "A."), {"text": b"1"})
    vanish(one)
    assert second.try_begin(waits=True)
    assert two.add(Document("b", "B."), {"text": b"2"}) == 1
    second.end()
    assert list(two.exports.page_numbers()) == [1]


def test_hosts_of_killed_worker_are_free_at_once(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    first.queue_many([new("a", "a.example")])
    assert first.take_hosts(9) == ["a.example"]
    vanish(one)
    until = time.monotonic() + 60
    while not (taken := second.take_hosts(9)) and time.monotonic() < until:
        second.beat(pages=0)  # the server needs a moment to find out
    assert taken == ["a.example"]
