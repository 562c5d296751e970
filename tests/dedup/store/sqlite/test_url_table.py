import contextlib
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.store.records import QueuedUrl
from dedup.store.sql.url_table import UrlTable
from dedup.store.sqlite.database import Database


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
    assert [row.url for row in table.first_queued("", 99)] == list(map(url, queued))
    assert table.count_queued() == len(queued)
    assert len(table) == len(oracle)
    assert table.known(list(map(key, range(12)))) == set(map(key, oracle))
    assert set(chain.from_iterable(batches)) == set(map(key, oracle))
    assert all(table.is_done(key(n)) == (oracle.get(n) == "done") for n in range(12))
    database.close()


def test_a_queued_url_keeps_its_first_depth_and_request(table):
    table.queue(key(1), url(1), 2, b"pickled")
    table.queue(key(1), url(1), 5, b"another")
    assert table.first_queued("", 9) == [QueuedUrl(0, 1, key(1), url(1), 2, b"pickled")]


def test_a_finished_url_drops_its_request(table, database):
    table.queue(key(1), url(1), 2, b"pickled")
    table.finish([(key(1), url(1)), (key(2), url(2))])
    rows = database.connection.execute("SELECT state, request FROM urls").fetchall()
    assert rows == [(1, None), (1, None)]


def test_a_slot_gives_the_lowest_rank_first_and_of_equals_the_first_found(table):
    for number, (slot, rank) in enumerate([("a", 1), ("b", 0), ("a", 0), ("a", 1), ("a", -2)]):
        table.queue(key(number), url(number), 0, slot=slot, rank=rank)
    assert [row.key for row in table.first_queued("a", 3)] == [key(4), key(2), key(0)]
    assert table.slots() == ["a", "b"]
    table.finish([(key(1), url(1))])
    assert table.slots() == ["a"]


def test_a_url_queued_again_takes_its_new_place_and_keeps_its_number(table):
    for number in (1, 2):
        table.queue(key(number), url(number), 3, slot="a")
    row = table.queue_again(key(1), b"retry", slot="a", rank=1)
    assert row == QueuedUrl(1, 1, key(1), url(1), 3, b"retry")
    assert [row.key for row in table.first_queued("a", 9)] == [key(2), key(1)]
    assert table.queue_again(key(9), None, slot="a", rank=0) is None


def test_held_urls_are_known_until_the_process_has_ended(table):
    table.queue(key(1), url(1), 0, is_held=True)
    table.queue(key(2), url(2), 0)
    assert table.known([key(1), key(2)]) == {key(1), key(2)}
    assert table.count_queued() == 1
    assert table.drop_held() == 1
    assert table.known([key(1), key(2)]) == {key(2)}


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1700])  # 500 keys a query
def test_any_number_of_keys_can_be_asked_for(table, count):
    keys = [key(number) for number in range(count)]
    table.finish((k, "http://example.org/") for k in keys[::2])
    assert table.known(keys) == set(keys[::2])


def test_keys_come_in_batches(table, monkeypatch):
    monkeypatch.setattr("dedup.store.sql.url_table._KEYS_PER_BATCH", 3)
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
    assert [row.url for row in table.first_queued("", 9)] == [stored]


def test_links_queued_in_a_unit_that_fails_are_not_known(table, database):
    with contextlib.suppress(KeyError), database.unit():
        table.queue(key(1), url(1), 0)
        raise KeyError("page")
    assert table.known([key(1)]) == set()
