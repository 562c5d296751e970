"""A worker outlives its server: what a turn has written is there once, whatever was cut off."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from dedup.document import Document
from dedup.errors import StateError
from dedup.store import open_store
from dedup.store.postgresql.store import PostgresqlStore
from dedup.store.records import NewUrl

pytestmark = pytest.mark.slow

Join = Callable[[], PostgresqlStore]


@pytest.fixture
def join(own_postgresql: Any) -> Iterator[Join]:
    opened = []

    def make() -> PostgresqlStore:
        store = open_store(f"{own_postgresql.address}#news", is_shared=True)
        assert isinstance(store, PostgresqlStore)
        opened.append(store)
        return store

    yield make
    for store in reversed(opened):
        store.close()


def cut(store: PostgresqlStore) -> None:
    """End the connection as an administrator does, or a network."""
    pid = store.database.connection.raw.info.backend_pid
    with psycopg.connect(store.database.place.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        while other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone():
            time.sleep(0.01)


def url(name: str) -> NewUrl:
    return NewUrl(name.encode() * 16, f"http://a.example/{name}", 1, None, "a.example", 0)


def write(store: PostgresqlStore) -> None:
    store.add(Document("a", "A."), {"text": b"1"})
    store.workers.queue_many([url("x"), url("y")])


def expect_written(store: PostgresqlStore) -> None:
    with open_store(store.job, read_only=True) as found:
        assert list(found.exports.page_numbers()) == [1]
        assert [row.url[-1] for row in found.urls.first_queued("a.example", 9)] == ["x", "y"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_turn_goes_on_when_the_server_is_back(
    own_postgresql: Any, join: Join, how: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    store = join()
    workers = store.workers
    assert workers.try_begin(waits=True)
    write(store)
    rows = workers.queue_many([url("z")])
    own_postgresql.stop(how)
    back = threading.Timer(1.5, own_postgresql.start)
    back.start()
    store.add(Document("b", "B."), {"text": b"2"})
    workers.end()
    back.join()
    with open_store(store.job, read_only=True) as found:
        assert list(found.exports.page_numbers()) == [1, 2]
        queued = found.urls.first_queued("a.example", 9)
    # What memory knows by its number has that number in the store.
    assert [(row.id, row.url) for _, row in rows] == [(row.id, row.url) for row in queued[2:]]
    waiting, going_on = [
        each.getMessage() for each in caplog.records if each.name.startswith("dedup")
    ]
    assert waiting.endswith("; waiting for it")
    assert "resumes" in going_on


def test_turn_goes_on_before_those_of_workers_that_are_back_earlier(
    own_postgresql: Any, join: Join
) -> None:
    one, two = join(), join()
    assert one.workers.try_begin(waits=True)
    write(one)
    own_postgresql.stop(signal.SIGQUIT)
    own_postgresql.start()
    lost = two.database.connection.raw
    other = threading.Thread(target=two.add, args=(Document("b", "B."), {}))
    other.start()
    while two.database.connection.raw is lost:
        time.sleep(0.01)
    one.workers.end()  # its first statement since the crash
    other.join()
    with open_store(one.job, read_only=True) as found:
        assert list(found.exports.page_numbers()) == [1, 2]


def test_turn_that_is_cut_off_is_written_once(join: Join) -> None:
    store = join()
    assert store.workers.try_begin(waits=True)
    write(store)
    cut(store)
    store.workers.end()
    expect_written(store)
    assert store.workers.try_begin(waits=True)
    store.workers.end()


def test_commit_whose_answer_was_lost_is_not_made_again(join: Join) -> None:
    store = join()
    connection = store.database.connection
    assert store.workers.try_begin(waits=True)
    write(store)

    class Deaf:
        """Commits, and loses the answer."""

        def __getattr__(self, name: str) -> Any:
            return getattr(raw, name)

        def execute(self, query: Any, *more: Any) -> Any:
            found = raw.execute(query, *more)
            if query == "COMMIT":
                connection._pipeline.close()
                cut(store)
                raise psycopg.OperationalError("lost")
            return found

    raw = connection.raw
    connection.raw = Deaf()  # type: ignore[assignment]
    store.workers.end()
    expect_written(store)
    assert store.add(Document("c", "C."), {}) == 2


def test_turn_is_given_up_where_others_have_written_since(join: Join) -> None:
    one, two = join(), join()
    assert one.workers.try_begin(waits=True)
    write(one)
    cut(one)
    two.add(Document("b", "B."), {})
    with pytest.raises(StateError, match="other workers have written since"):
        one.workers.end()
    with open_store(two.job, read_only=True) as found:
        assert list(found.exports.page_numbers()) == [1]


def test_read_that_is_cut_off_is_made_again(join: Join) -> None:
    store = join()
    store.workers.queue_many([url("x")])
    cut(store)
    assert store.urls.count_queued() == 1


def test_waiting_ends_with_a_signal(own_postgresql: Any, join: Join) -> None:
    store = join()
    own_postgresql.stop()
    kill = threading.Timer(1, os.kill, [os.getpid(), signal.SIGTERM])
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        kill.start()
        with pytest.raises(StateError, match="the database cannot be used"):
            store.add(Document("a", "A."), {})
    finally:
        kill.join()
        signal.signal(signal.SIGTERM, before)


def test_job_missing_after_server_restart_is_reported(own_postgresql: Any, join: Join) -> None:
    store = join()
    with psycopg.connect(own_postgresql.address, autocommit=True) as other:
        other.execute("DROP SCHEMA news CASCADE")
    cut(store)
    with pytest.raises(StateError, match="job not found"):
        store.add(Document("a", "A."), {})


def test_workers_come_back_after_the_server_was_away(own_postgresql: Any, join: Join) -> None:
    one, two = join(), join()
    two.workers.queue_many([url("x")])
    assert two.workers.take_hosts(9) == ["a.example"]
    own_postgresql.stop()
    own_postgresql.start()
    one.workers.beat(pages=0)  # does not take the other one for dead
    two.workers.beat(pages=0)
    assert two.workers.queued_hosts() == ["a.example"]


@pytest.fixture(autouse=True)
def _logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "dedup.store.postgresql.connection")
