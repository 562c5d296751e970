"""Processes that share a job in PostgreSQL: connections that hang, and the server's clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from dedup.document import Document
from dedup.errors import StateError
from dedup.store import open_store
from dedup.store.postgresql.store import PostgresqlStore
from dedup.store.postgresql.workers import PostgresqlWorkers
from dedup.store.records import NewUrl

Join = Callable[[], tuple[PostgresqlStore, PostgresqlWorkers]]


@pytest.fixture
def join(new_place: Callable[[], str]) -> Iterator[Join]:
    place, opened = new_place(), []

    def make() -> tuple[PostgresqlStore, PostgresqlWorkers]:
        store = open_store(place, is_shared=True)
        assert isinstance(store, PostgresqlStore)
        assert isinstance(store.workers, PostgresqlWorkers)
        opened.append(store)
        return store, store.workers

    yield make
    for store in reversed(opened):
        store.close()


def new(name: str, slot: str = "a.example", rank: int = 0, **more: bool) -> NewUrl:
    return NewUrl(name.encode() * 16, f"http://{slot}/{name}", 1, None, slot, rank, **more)


def vanish(store: PostgresqlStore) -> None:
    """As a process that is killed: its connection ends, and it says nothing."""
    store.database.connection.raw.close()


def test_worker_stopped_in_its_turn_blocks_nobody(join: Join) -> None:
    (one, first), (two, second) = join(), join()
    for workers in (first, second):
        workers._lease_seconds = 0.5
    two.database.connection.max_lock_seconds = 0.5
    assert first.try_begin(waits=False)
    one.add(Document("a", "A."), {})
    one.database.connection.send_later()  # and nothing asked for: to the server it is busy
    one.database.connection.raw.pgconn.flush()
    assert second.try_begin(waits=True)
    two.add(Document("b", "B."), {})
    second.end()
    assert two.exports.count("pages") == 1
    with pytest.raises(StateError):
        first.end()


def test_turn_that_cannot_be_written_blocks_nobody(join: Join) -> None:
    (one, first), (_, second) = join(), join()
    assert first.try_begin(waits=False)
    one.add(Document("a", "A."), {"text": b"1"})
    one.database.write("INSERT INTO pages (number) VALUES (?)", (7,))  # with nothing else
    with pytest.raises(StateError, match="null value"):
        first.end()
    assert one.exports.count("pages") == 0
    assert second.try_begin(waits=False)


def test_shared_job_cannot_be_opened_alone(join: Join) -> None:
    store, _ = join()
    with pytest.raises(StateError, match="in use by another process"):
        open_store(f"{store.database.place.dsn}#{store.database.place.name}")
    vanish(store)
    alone = open_store(f"{store.database.place.dsn}#{store.database.place.name}")
    with pytest.raises(StateError, match="in use by another process"):
        join()
    alone.close()


def shift(store: PostgresqlStore, hours: int) -> None:
    """Have the server's clock seem to have been set: all that it noted is so many hours off."""
    with store.database.unit() as connection:
        connection.execute(f"UPDATE workers SET seen_at = seen_at - interval '{hours} hours'")
        connection.execute(f"UPDATE hosts SET free_at = free_at - interval '{hours} hours'")
    store.database.commit()


def test_server_clock_set_forward_expires_no_worker(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store, first), (_, second) = join(), join()
    first.queue_many([new("x")])
    assert second.take_hosts(9) == ["a.example"]
    first.beat(pages=0)
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() - 3600)
    shift(store, 1)
    assert first.beat(pages=0) == 2
    monkeypatch.undo()
    assert second.beat(pages=0) == 2
    assert second.queued_hosts() == ["a.example"]


def test_a_server_whose_clock_is_set_back_keeps_no_host_waiting(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store, first), (other, second) = join(), join()
    first.queue_many([new("x"), new("y", "b.example"), new("z", "c.example")])
    assert len(second.take_hosts(9)) == 3
    first.beat(pages=0)
    second.beat(pages=0)
    second.free_hosts({"a.example": 0.0, "b.example": 30.0})
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + 3600)
    shift(store, -1)
    first.beat(pages=0)
    second.beat(pages=0)
    monkeypatch.undo()
    assert first.take_hosts(9) == ["a.example"]  # the other one still rests
    vanish(other)
    until = time.monotonic() + 60
    while not (taken := first.take_hosts(9)) and time.monotonic() < until:
        first.beat(pages=0)
    assert taken == ["c.example"]
