import contextlib
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.store.database import Database
from dedup.store.url_table import QueuedUrl, UrlTable


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "crawl.sqlite")
    yield database
    database.close()


@pytest.fixture
def table(database):
    return UrlTable(database)


def key(number):
    return number.to_bytes(16, "big")


def url(number):
    return f"http://example.org/{number}"


steps = st.lists(st.tuples(st.sampled_from(["queue", "finish", "restart"]), st.integers(0, 9)))


@settings(max_examples=50, deadline=None)
@given(steps)
def test_the_table_is_that_of_a_dict(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("urls") / "crawl.sqlite"
    database, oracle = Database(path), {}
    for step, number in steps:
        table = UrlTable(database)
        if step == "queue":
            table.queue(key(number), url(number), number)
            oracle.setdefault(number, "queued")
        elif step == "finish":
            table.finish([(key(number), url(number))])
            oracle[number] = "done"
        else:
            database.close()
            database = Database(path)
    table = UrlTable(database)
    batches = table.keys()
    queued = [number for number, state in oracle.items() if state == "queued"]
    assert [row.url for row in table.queued()] == list(map(url, queued))  # in order of discovery
    assert table.count_queued() == len(queued)
    assert len(table) == len(oracle)
    assert table.known(list(map(key, range(12)))) == set(map(key, oracle))
    assert set(chain.from_iterable(batches)) == set(map(key, oracle))
    assert all(table.is_done(key(n)) == (oracle.get(n) == "done") for n in range(12))
    database.close()


def test_a_queued_url_keeps_its_first_depth_and_request(table):
    table.queue(key(1), url(1), 2, b"pickled")
    table.queue(key(1), url(1), 5, b"another")
    assert list(table.queued()) == [QueuedUrl(url(1), 2, b"pickled")]


def test_a_finished_url_drops_its_request(table, database):
    table.queue(key(1), url(1), 2, b"pickled")
    table.finish([(key(1), url(1)), (key(2), url(2))])
    rows = database.connection.execute("SELECT state, request FROM urls").fetchall()
    assert rows == [(1, None), (1, None)]


def test_queued_urls_are_those_of_the_beginning_that_still_are(table):
    for number in range(2500):
        table.queue(key(number), url(number), 0)
    found = []
    for row in table.queued():
        found.append(row.url)
        if len(found) == 1:
            table.finish([(key(2400), url(2400))])  # in a later batch
            table.queue(key(9999), url(9999), 0)
    assert found == [url(number) for number in range(2500) if number != 2400]


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1700])  # 500 keys a query
def test_any_number_of_keys_can_be_asked_for(table, count):
    keys = [key(number) for number in range(count)]
    table.finish((k, "http://example.org/") for k in keys[::2])
    assert table.known(keys) == set(keys[::2])


def test_keys_come_in_batches(table, monkeypatch):
    monkeypatch.setattr("dedup.store.url_table._KEYS_PER_BATCH", 3)
    table.finish((key(number), url(number)) for number in range(7))
    batches = table.keys()
    assert list(map(len, batches)) == [3, 3, 1]


@pytest.mark.parametrize(
    ("given_url", "stored"),
    [("http://a\0b/", "http://a\0b/"), ("http://a/\ud800", "http://a/?"), ("中文", "中文")],
)
def test_hard_urls_are_kept(table, given_url, stored):
    table.queue(key(1), given_url, 0)
    table.finish([(key(2), given_url)])
    assert [row.url for row in table.queued()] == [stored]


def test_links_queued_in_a_unit_that_fails_are_not_known(table, database):
    with contextlib.suppress(KeyError), database.unit():
        table.queue(key(1), url(1), 0)
        raise KeyError("page")
    assert table.known([key(1)]) == set()
