"""The frontier against a plain list, with a window so small that it moves all the time."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request

from dedup.scrapy.frontier import window as module
from dedup.scrapy.frontier.window import Frontier
from dedup.store.records import TRAP_RANK as LATE
from dedup.store.sql.url_table import UrlTable
from dedup.store.sqlite.database import Database


@pytest.fixture
def urls(tmp_path):
    database = Database(tmp_path / "crawl.sqlite")
    yield UrlTable(database)
    database.close()


def key(number):
    return number.to_bytes(16, "big")


def queue(urls, frontier, number, slot="a", rank=0):
    frontier.push(slot, urls.queue(key(number), f"http://{slot}/{number}", 0, slot=slot, rank=rank))


def idle(slot):
    return 0


def numbers(frontier, count=99):
    rows = (frontier.pop(idle) for _ in range(count))
    return [int.from_bytes(row.key, "big") for row in rows if row is not None]


steps = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "push", "pop", "again", "done", "finish", "open"]),
        st.sampled_from("ab"),
        st.integers(-2, 2),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(steps, st.integers(1, 3))
def test_each_slot_is_a_sorted_list(tmp_path_factory, steps, room):
    database = Database(tmp_path_factory.mktemp("frontier") / "crawl.sqlite")
    urls, waiting, in_flight = UrlTable(database), {"a": [], "b": []}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS_PER_SLOT", room)
        tested = Frontier(urls)
        for number, (step, slot, rank) in enumerate(steps):
            if step == "push":
                queue(urls, tested, number, slot, rank)
                waiting[slot].append((rank, number))
            elif step == "pop" and (row := tested.pop(idle)) is not None:
                slot = row.url[7]
                best = min(waiting[slot])
                assert (row.rank, row.key) == (best[0], key(best[1]))
                waiting[slot].remove(best)
                in_flight.append((slot, best[1]))
            elif step == "pop":
                assert not any(waiting.values())
            elif step == "again" and in_flight:
                slot, again = in_flight.pop(0)
                tested.push(slot, urls.queue_again(key(again), None, slot=slot, rank=rank))
                waiting[slot].append((rank, again))
            elif step in {"done", "finish"} and in_flight:
                slot, finished = in_flight.pop()
                urls.finish([(key(finished), "")])
                tested.done([key(finished)])
            elif step == "open":  # what was in flight is queued again
                tested = Frontier(urls)
                ranks = {n: r for r, n in urls_ranks(database)}
                for slot, lost in in_flight:
                    waiting[slot].append((ranks[lost], lost))
                in_flight = []
            assert len(tested) == sum(map(len, waiting.values()))
        popped = Counter(numbers(tested))
    database.close()
    assert popped == Counter(number for rows in waiting.values() for _, number in rows)


def urls_ranks(database):
    rows = database.connection.execute("SELECT rank, key FROM urls")
    return [(rank, int.from_bytes(key, "big")) for rank, key in rows]


def test_hosts_take_turns_and_one_without_downloads_goes_first(urls):
    tested = Frontier(urls)
    for number in range(9):
        queue(urls, tested, number, slot="abc"[number % 3])
    assert [tested.pop(idle).url[7] for _ in range(6)] == list("abcabc")
    active = {"a": 2, "b": 1, "c": 2}
    assert tested.pop(active.__getitem__).url == "http://b/7"
    assert tested.pop(active.__getitem__).url == "http://a/6"


def test_one_large_host_does_not_keep_the_others_waiting(urls):
    for number in range(1000):
        urls.queue(key(number), f"http://a/{number}", 0, slot="a")
    urls.queue(key(5000), "http://b/", 0, slot="b")
    tested = Frontier(urls)
    assert [tested.pop(idle).url[7] for _ in range(3)] == ["a", "b", "a"]


def test_memory_holds_few_rows_whatever_the_length_of_the_queue(urls, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_PER_SLOT", 10)
    tested = Frontier(urls)
    for number in range(1000):
        queue(urls, tested, number, rank=-number)  # each goes before all others
    assert sum(len(slot.waiting) for slot in tested._slots.values()) <= 20
    assert numbers(tested, 1001) == list(range(999, -1, -1))
    assert not tested


def test_held_requests_go_first_among_equals_and_are_counted(urls):
    tested = Frontier(urls)
    queue(urls, tested, 1, rank=0)
    queue(urls, tested, 2, rank=1)
    first, second = Request("http://a/held"), Request("http://a/later")
    tested.hold("a", 1, None, second)
    tested.hold("a", 0, None, first)
    assert len(tested) == 4
    assert tested.pop(idle) is first
    assert tested.pop(idle).key == key(1)
    assert tested.pop(idle) is second
    assert numbers(tested) == [2]


def test_postponed_requests_come_after_all_hosts(urls):
    for number, (slot, rank) in enumerate([("a", LATE), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]):
        urls.queue(key(number), f"http://{slot}/{number}", 0, slot=slot, rank=rank)
    frontier = Frontier(urls)
    found = numbers(frontier, 4)
    assert (set(found), found[-1]) == ({1, 2, 3, 4}, 4)
    queue(urls, frontier, 5, "c", LATE)
    queue(urls, frontier, 6, "a", 3)
    frontier.hold("b", LATE, None, Request("http://b/held"))
    assert numbers(frontier, 2) == [6, 5]
    frontier.pause("b")
    queue(urls, frontier, 7, "b", 0)
    assert numbers(frontier, 2) == [0]
    assert frontier
    frontier.resume("b")
    assert numbers(frontier, 1) == [7]
    held = frontier.pop(idle)
    assert isinstance(held, Request)
    assert not frontier


def test_a_row_that_waits_comes_once_what_it_waits_for_is_done(urls):
    frontier = Frontier(urls)
    for number in (1, 2, 3):
        queue(urls, frontier, number)
    page, copy = frontier.pop(idle), frontier.pop(idle)
    frontier.wait(copy, page.key)
    assert numbers(frontier) == [3]
    frontier.push("a", page)  # it is fetched again
    assert sorted(numbers(frontier)) == [1, 2]
    frontier.wait(copy, page.key)
    frontier.done([copy.key])  # as the page of another URL
    frontier.done([page.key])
    assert numbers(frontier) == []


def test_urls_without_a_host_have_their_turn(urls):
    """`file:` URLs, which are recorded as what is not fetched; their slot has no name."""
    tested = Frontier(urls)
    queue(urls, tested, 1, slot="")
    queue(urls, tested, 2, slot="a")
    assert sorted(numbers(tested)) == [1, 2]


def test_postponed_slot_comes_last(urls):
    frontier = Frontier(urls)
    for number, slot in enumerate("aabb"):
        queue(urls, frontier, number, slot)
    queue(urls, frontier, 4, "b", rank=LATE)

    def taken(put_off, count=1):
        rows = (frontier.pop(idle, put_off.__contains__) for _ in range(count))
        return [None if row is None else int.from_bytes(row.key, "big") for row in rows]

    assert taken("a", 3) == [2, 3, 4]
    assert taken("a", 2) == [0, None]  # one, while others are in flight
    frontier.done([key(0)])
    assert taken("a", 2) == [1, None]
    queue(urls, frontier, 5, "a")
    assert taken("ab") == [5]  # nobody is to be let past


def test_postponed_slot_alone_is_not_slowed(urls):
    frontier = Frontier(urls)
    for number in range(3):
        queue(urls, frontier, number, "a")
    rows = [frontier.pop(idle, lambda _: True) for _ in range(3)]
    assert None not in rows
