"""Tables as grids of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

_MAX_COLUMNS = 100
_MAX_CELLS = 20_000
"""Of a grid; in a larger one, cells take one place each."""

_MAX_CELL_CHARACTERS = 2_000
_LAYOUT = "table, pre, h1, h2, h3, h4, h5, h6, hr"
"""What is in the cells of tables that only place things beside each other."""

Row = list[Any]
"""The element in each column; None: there is none, or one that began further left or above."""


class Grid(NamedTuple):
    """The rows of a table, equally long; `has_header`: the first one names the columns."""

    rows: list[Row]
    has_header: bool


def grid_of(table: Any) -> Grid | None:
    """The grid of a table of data; None: it is used for layout, or has one column."""
    if table.attributes.get("role") in ("none", "presentation"):
        return None
    if any(node.css_first(_LAYOUT) is not None for node in _elements(table)):
        return None
    rows = [row for row in table.css("tr") if row.css_first("td, th") is not None]
    cells = [[cell for cell in _elements(row) if cell.tag in ("td", "th")] for row in rows]
    if max((_n_filled(row) for row in cells), default=0) < 2:
        return None
    if any(len(cell.text()) > _MAX_CELL_CHARACTERS for row in cells for cell in row):
        return None
    grid = _placed(cells)
    return Grid(grid, has_header=_is_header(rows[0], cells[0]))


def _elements(node: Any) -> Iterator[Any]:
    """The elements that are children of another one."""
    child = node.first_child
    while child is not None:
        if child.text_content is None:
            yield child
        child = child.next


def _n_filled(row: Row) -> int:
    return sum(bool(cell.text().strip()) or cell.css_first("img") is not None for cell in row)


def _is_header(row: Any, cells: Row) -> bool:
    if row.parent is not None and row.parent.tag == "thead":
        return True
    return all(cell.tag == "th" for cell in cells)


def _placed(cells: list[Row]) -> list[Row]:
    """The cells by column; those that span columns or rows stand in the first of these."""
    rows: list[Row] = []
    below: dict[int, int] = {}
    for row in cells:
        placed: Row = []
        for cell in row:
            while below.get(len(placed), 0) > 0:
                placed.append(None)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(placed), min(len(placed) + wide, _MAX_COLUMNS)):
                below[column] = max(below.get(column, 0), high)
            placed += [cell, *([None] * (wide - 1))]
        rows.append(placed)
        below = {column: left - 1 for column, left in below.items() if left > 1}
    width = max(map(len, rows))
    if width * len(rows) > _MAX_CELLS:
        rows = [row.copy() for row in cells]
        width = max(map(len, rows))
    used = [n for n in range(width) if any(n < len(row) and row[n] is not None for row in rows)]
    return [[row[n] if n < len(row) else None for n in used] for row in rows]


def _span(cell: Any, name: str) -> int:
    value = (cell.attributes.get(name) or "").strip()
    return min(int(value), _MAX_COLUMNS) if value.isdecimal() and value != "0" else 1
