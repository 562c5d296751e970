"""What the report shows, against counts made without SQL."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.document import Match
from dedup.errors import StateError
from dedup.report import listing as module
from dedup.report.data import report_data
from dedup.store import Page, SqliteStore


def report_of(path: Path) -> dict[str, Any]:
    store = SqliteStore(path / "crawl.sqlite", read_only=True)
    try:
        return report_data(store)
    finally:
        store.close()


copies = st.tuples(
    st.integers(0, 3),  # of which page
    st.sampled_from(["body", "text", "simhash"]),
    st.none() | st.integers(0, 7),
    st.none() | st.sampled_from([0.8, 0.81, 0.82, 0.9, 0.99, 0.999, 1.0]),
    st.floats(0, 1_000),  # when
)


def write(path: Path, found: list[Any]) -> None:
    store = SqliteStore(path / "crawl.sqlite")
    numbers = [
        store.add(Page(id="", text="x", url=f"http://a/{n}", fetched_at=n), {}) for n in range(4)
    ]
    for place, (original, stage, distance, resemblance, when) in enumerate(found):
        page = Page(id="", text="x y", url=f"http://b/{place}", fetched_at=when)
        store.add_duplicate(page, Match(numbers[original], stage, distance, resemblance))
    store.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(copies, max_size=30))
def test_counts_agree_with_the_records(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("job")
    write(path, found)
    report = report_of(path)
    assert report["distances"] == Counter(c[2] for c in found if c[2] is not None)
    places = Counter(round(c[3] * 1000) // 20 for c in found if c[3] is not None)
    assert {n: count for n, count in enumerate(report["resemblances"]) if count} == places
    sizes = Counter(c[0] for c in found)
    assert report["group_sizes"] == Counter(sizes.values())
    assert sum(report["times"]["duplicates"]) == len(found)
    assert sum(report["times"]["fetched"]) == len(found) + 4
    assert report["lowest_resemblance"] == min(
        (c[3] for c in found if c[3] is not None), default=None
    )


@settings(max_examples=20, deadline=None)
@given(st.lists(copies, max_size=30))
def test_every_duplicate_stands_with_its_original(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("job")
    write(path, found)
    groups = report_of(path)["groups"]
    rows, listed = iter(groups["duplicates"]), {}
    for url, *_, size, total in groups["originals"]:
        assert size == total
        listed[url] = sorted(next(rows)[0] for _ in range(size))
    expected: dict[str, list[str]] = {}
    for place, copy in enumerate(found):
        expected.setdefault(f"http://a/{copy[0]}", []).append(f"http://b/{place}")
    assert listed == {url: sorted(urls) for url, urls in expected.items()}
    assert next(rows, None) is None


def test_a_long_list_holds_those_least_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_DUPLICATES", 2)
    write(tmp_path, [(0, "simhash", 1, resemblance, 0) for resemblance in (0.9, 1.0, 0.8)])
    groups = report_of(tmp_path)["groups"]
    assert [row[5] for row in groups["duplicates"]] == [0.8, 0.9]
    assert groups["originals"][0][-2:] == [2, 3]
    assert groups["listed"] == 2


def test_texts_are_compared_for_a_bounded_number_of_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_COMPARED", 4)
    write(tmp_path, [(0, "simhash", 1, 0.8 + n / 100, 0) for n in range(10)])
    compared = [row[6] is not None for row in report_of(tmp_path)["groups"]["duplicates"]]
    assert compared == [True, True, True, False, False, False, True, False, False, False]


def test_differences_are_those_of_the_stored_texts(tmp_path):
    write(tmp_path, [(0, "simhash", 1, 0.9, 0)])
    (row,) = report_of(tmp_path)["groups"]["duplicates"]
    assert row[6] == ["x", ("", " y")]


def test_time_without_pages_is_left_out(tmp_path):
    refreshed = 22 * 60.0  # seconds after the crawl, which takes 40
    write(tmp_path, [(0, "text", None, 1.0, when) for when in (40.0, refreshed, refreshed + 20)])
    times = report_of(tmp_path)["times"]
    assert times["step"] * len(times["fetched"]) == pytest.approx(60, abs=times["step"])
    assert [place for place, count in enumerate(times["fetched"]) if count] == [0, 2, 4, 6, 80, 120]
    assert (times["fetched"][80], times["duplicates"][80]) == (2, 2)


def test_an_empty_job_gives_an_empty_report(tmp_path):
    SqliteStore(tmp_path / "crawl.sqlite").close()
    report = report_of(tmp_path)
    assert report["times"]["fetched"] == []
    assert report["groups"]["originals"] == []
    assert report["patterns"] == []


@pytest.mark.parametrize("damage", ["x'00'", "NULL"])
def test_a_damaged_text_is_a_clear_error(tmp_path, damage):
    write(tmp_path, [(0, "simhash", 1, 0.9, 0)])
    connection = sqlite3.connect(tmp_path / "crawl.sqlite")
    connection.execute(f"UPDATE duplicates SET text = {damage}")
    connection.execute("UPDATE pages SET text = x'00'")
    connection.commit()
    connection.close()
    with pytest.raises(StateError, match=r"the text of page \d+ is damaged"):
        report_of(tmp_path)


def test_damage_is_a_clear_error(tmp_path):
    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.database.connection.execute("DROP TABLE skipped")
    store.close()
    with pytest.raises(StateError, match="tables are not"):
        report_of(tmp_path)
