"""Writes that are sent together: their statements, and the order of those to one table."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dedup.store.postgresql.later import LaterWrites, Statement

PAGE = "INSERT INTO pages (number, title, depth) VALUES (:number, :title, 0)"
SIGNATURE = "INSERT INTO signatures VALUES (?, ?, ?)"
DONE = (
    "INSERT INTO urls (key, state) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
    " SET state = excluded.state"
)
COUNTER = (
    "INSERT INTO counters VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value"
)
EARLY = "INSERT INTO early VALUES (?, ?)"
NOT_EARLY = "DELETE FROM early WHERE page = ?"
NEVER_EARLY = "DELETE FROM early WHERE host = ? AND page <= ?"


def statements(*writes: tuple[str, Any], sums: bool = False) -> list[Statement]:
    later = LaterWrites()
    for query, row in writes:
        later.add(query, [row], is_sum=sums)
    return list(later.statements())


def test_rows_of_several_tables_are_a_statement_each() -> None:
    found = statements(
        (PAGE, {"number": 1, "title": "A"}),
        (SIGNATURE, ("text", 1, b"a")),
        (PAGE, {"title": "B", "number": 2}),
        (SIGNATURE, ("text", 2, b"b")),
    )
    assert found == [
        Statement(
            "INSERT INTO pages (number, title, depth) VALUES ($1, $2, 0), ($3, $4, 0)",
            [1, "A", 2, "B"],
        ),
        Statement(
            "INSERT INTO signatures VALUES ($1, $2, $3), ($4, $5, $6)",
            ["text", 1, b"a", "text", 2, b"b"],
        ),
    ]


def test_no_statement_updates_a_row_twice() -> None:
    found = statements((DONE, (b"a", 1)), (DONE, (b"b", 1)), (DONE, (b"a", 2)))
    assert [each.parameters for each in found] == [[b"a", 1, b"b", 1], [b"a", 2]]
    assert all(each.query.endswith("SET state = excluded.state") for each in found)


def test_sums_are_added_up() -> None:
    (found,) = statements((COUNTER, ("x", 1)), (COUNTER, ("y", 2)), (COUNTER, ("x", 3)), sums=True)
    assert found.parameters == ["x", 4, "y", 2]


def test_deletions_are_one_statement() -> None:
    assert statements((NOT_EARLY, (1,)), (NOT_EARLY, (2,))) == [
        Statement("DELETE FROM early WHERE page = ANY($1)", [[1, 2]])
    ]


def test_large_rows_are_sent_in_parts() -> None:
    body = b"x" * (1 << 22)
    sizes = [len(each.parameters) for each in statements(*[(SIGNATURE, ("s", 1, body))] * 5)]
    assert sizes == [9, 6]


def test_cut_writes_are_sent_no_more() -> None:
    later = LaterWrites()
    later.add(EARLY, [(1, "a")])
    cut = (later.add(EARLY, [(2, "b")]), later.cut(1))[1]
    assert [each.parameters for each in later.statements()] == [[1, "a"]]
    assert [each.parameters for each in cut.statements()] == [[2, "b"]]


def test_queries_that_name_a_written_table_are_told() -> None:
    later = LaterWrites()
    assert not later.touch("SELECT 1 FROM pages")
    later.add(PAGE, [{"number": 1, "title": ""}])
    assert later.touch("SELECT title FROM early JOIN pages ON page = number")
    assert not later.touch("SELECT state FROM urls WHERE key = ?")


@given(st.lists(st.sampled_from([EARLY, NOT_EARLY, NEVER_EARLY, SIGNATURE])))
def test_writes_to_one_table_keep_their_order(queries: list[str]) -> None:
    marks = {EARLY: 2, NOT_EARLY: 1, NEVER_EARLY: 2, SIGNATURE: 3}
    writes = [(query, (place,) * marks[query]) for place, query in enumerate(queries)]
    sent: dict[str, list[int]] = {"early": [], "signatures": []}
    for query, parameters, _ in statements(*writes):
        table = re.findall("early|signatures", query)[0]
        sent[table] += dict.fromkeys(_flat(parameters))
    expected = {"early": [], "signatures": []}
    for place, query in enumerate(queries):
        expected["signatures" if query == SIGNATURE else "early"].append(place)
    assert sent == expected


def _flat(parameters: Any) -> list[int]:
    return [
        value
        for each in parameters
        for value in (each if isinstance(each, list | tuple) else [each])
    ]
