"""Tables in a page's own text."""

from __future__ import annotations

import pytest

from dedup.fields.tables import tables

# Markup, and the rows of its tables.
CASES = [
    ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", [[["a", "b"], ["1", "2"]]]),
    ("<table><tr><td>a<br>b<td><ul><li>c<li>d</ul></table>", [[["a\nb", "c\nd"]]]),
    ("<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>", [[["a", "", "b"], [*"cde"]]]),
    ("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", [[["a", "b"], ["", "c"]]]),
    ("<table><tr><td>a<td>b<tr><td>c</table>", [[["a", "b"], ["c", ""]]]),
    ("<table><tr><td colspan=9>a<td>b</table>", [[["a", "b"]]]),  # of no use to others
    ("<table><tr><td>a<tr><td>b</table>", []),  # one column
    ("<table><tr><td><h1>a</h1><td>b</table>", []),  # for layout
    ("<table role=presentation><tr><td>a<td>b</table>", []),
    ("<table><tr><td>x<td><table><tr><td>a<td>b</table></table>", [[["a", "b"]]]),
]


@pytest.mark.parametrize(("markup", "expected"), CASES)
def test_tables_of(markup: str, expected: list[list[list[str]]]) -> None:
    assert tables(markup) == expected


def test_spans_do_not_make_a_table_huge() -> None:
    found = tables("<table>" + "<tr><td colspan=1000 rowspan=1000>a<td>b" * 3_000 + "</table>")
    assert sum(len(row) for row in found[0]) < 20_000
