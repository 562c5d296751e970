"""Pieces of many pages: each once, sorted in bounded memory, and what has changed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dedup.pieces.records import NOW, THEN, Record, rows_of, without_near
from dedup.pieces.runs import SortedRows

WORDS = ["river", "mountain", "letter", "evening", "harbour", "garden", "market", "winter"]


def text(seed: int, count: int = 120) -> str:
    choice = random.Random(seed)
    return " ".join(f"{choice.choice(WORDS)}{choice.randrange(90)}" for _ in range(count))


@pytest.mark.parametrize("run_bytes", [1, 5_000, 1 << 20])
def test_rows_are_sorted_in_any_memory(tmp_path: Path, run_bytes: int) -> None:
    choice = random.Random(run_bytes)
    rows = [(f"{choice.randrange(99)}", n, ("a", "\ud800"), "x" * 50) for n in range(400)]
    found = SortedRows(tmp_path, run_bytes=run_bytes)
    for row in rows:
        found.add(row)
    assert list(found) == sorted(rows)
    found.close()
    assert not list(tmp_path.iterdir())


def test_piece_has_all_its_places() -> None:
    records = [
        Record("1", 0, "http://a/", 1, NOW, ("A",), "text"),
        Record("1", 0, "http://b/", 7, NOW, ("B",), "text"),
        Record("2", 0, "", 1, NOW, (), "other"),
    ]
    assert list(rows_of(records, with_changes=False)) == [
        {
            "id": "1",
            "text": "text",
            "headings": ["A"],
            "places": [{"url": "http://a/", "number": 1}, {"url": "http://b/", "number": 7}],
        },
        {"id": "2", "text": "other", "headings": [], "places": [{"url": None, "number": 1}]},
    ]


def test_only_changes_are_told() -> None:
    records = [
        Record("added", 0, "u", 1, NOW, (), "text"),
        Record("both", 0, "", 0, THEN),
        Record("both", 0, "u", 2, NOW, (), "text"),
        Record("deleted", 0, "", 0, THEN),
        Record("stays", 0, "u", 3, NOW | THEN, (), "text"),
    ]
    rows = list(rows_of(records, with_changes=True))
    assert [(row["change"], row["id"]) for row in rows] == [("add", "added"), ("delete", "deleted")]
    assert rows[1]["text"] is rows[1]["headings"] is rows[1]["places"] is None


def test_near_duplicate_is_a_place_of_its_original(tmp_path: Path) -> None:
    near = text(1) + " and one more word"
    records = [
        Record("1", 0, "a", 1, NOW | THEN, (), text(1)),
        Record("2", 0, "b", 1, NOW, (), text(2)),
        Record("3", 0, "c", 1, NOW, (), near),
        Record("4", 0, "", 0, THEN),
    ]
    out = SortedRows(tmp_path)
    without_near(records, out, tmp_path)
    rows = list(rows_of(map(Record._make, out), with_changes=False))
    assert [(row["id"], row["text"]) for row in rows[:2]] == [("1", text(1)), ("2", text(2))]
    assert [place["url"] for place in rows[0]["places"]] == ["a", "c"]


def test_pieces_of_two_times_are_judged_apart(tmp_path: Path) -> None:
    """A near duplicate that becomes the only one is added."""
    near = text(1) + " and one more word"
    records = [
        Record("1", 0, "a", 1, THEN, (), text(1)),
        Record("3", 0, "c", 1, NOW | THEN, (), near),
    ]
    out = SortedRows(tmp_path)
    without_near(records, out, tmp_path)
    rows = rows_of(map(Record._make, out), with_changes=True)
    assert [(row["change"], row["id"]) for row in rows] == [("delete", "1"), ("add", "3")]
