"""Keys of documents: what they say besides their texts."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from dedup import Deduplicator, Document
from dedup.detectors import default_detectors
from dedup.detectors.key import KeyRecord
from dedup.keys import differing, key_of
from dedup.store.memory import MemoryStore

STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))
LONG = "A long description of a shirt, " * 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a  b\n", " a b"),
        (LONG, LONG.replace(" ", "\u00a0")),
        ({"a": 1, "b": {"c": " d"}}, {"b": {"c": "d"}, "a": 1}),
        ([1, "a "], (1, "a")),
        ({3, 1, 2}, frozenset((2, 3, 1))),
        (Decimal("1.0"), Decimal("1.0")),
        (date(2026, 1, 2), date(2026, 1, 2)),
        (b"ab", b"ab"),
    ],
)
def test_equal_values_give_equal_keys(one: Any, other: Any) -> None:
    assert key_of({"x": one, "y": 1}) == key_of({"y": 1, "x": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "A"),
        (1, "1"),
        (1, 1.0),
        (1, True),
        ("1", Decimal(1)),
        (LONG, LONG + "."),
        ([1, 2], [2, 1]),
        ([1, [2]], [[1], 2]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}),
        (date(2026, 1, 2), datetime(2026, 1, 2)),
        (None, 0),
        ("", False),
        (["text", "abc"], "abc"),
        ("\ud800", "?"),
    ],
)
def test_other_values_give_other_keys(one: Any, other: Any) -> None:
    keys = key_of({"x": one, "y": 1}), key_of({"x": other, "y": 1})
    assert keys[0] != keys[1]
    assert differing(*keys) == ["x"]


@pytest.mark.parametrize("nothing", [None, "", " \n", [], {}, (), set(), b""])
def test_null_value_counts_as_missing(nothing: Any) -> None:
    assert key_of({"x": nothing}) == ""
    assert key_of({"x": nothing, "y": 1}) == key_of({"y": 1})


def test_recursive_value_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        key_of({"x": value})


def test_many_variants_of_one_text_cost_no_comparison() -> None:
    store = MemoryStore()
    fetched = []

    def original(number: int) -> Document:
        fetched.append(number)
        return store.document(number)

    record = KeyRecord()
    deduplicator = Deduplicator([record, *default_detectors(original)], store=store)
    documents = [
        Document(str(number), STORY, key=key_of({"size": number})) for number in range(1_000)
    ]
    assert all(deduplicator.process(each).match is None for each in documents)
    assert fetched == []
    near = Document("near", STORY + " New.", key=key_of({"size": 700}))
    found = deduplicator.process(near).match
    assert found is not None
    assert found.original == 700
    assert fetched == [700]
    assert record.first_of_text(documents[-1]) == 0
    assert record.first_of_text(near) is None
