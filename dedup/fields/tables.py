"""The tables of a page's own text."""

from __future__ import annotations

from typing import Any

from selectolax.lexbor import LexborHTMLParser

from dedup.fields.grids import grid_of
from dedup.sites.outline import outline

Table = list[list[str]]
"""The cells of each row; all rows have the same number of them."""


def tables(markup: str) -> list[Table]:
    r"""Return the tables of a page's own markup as rows of cells, in their order.

    The text of a cell that spans columns or rows stands in the first of these. Tables that only
    place things beside each other are left out.

    >>> tables("<table><tr><th>a<th>b<tr><td>1<td>2<br>3</table>")
    [[['a', 'b'], ['1', '2\n3']]]
    """
    tree = LexborHTMLParser(f"<body>{markup}", scripting=True)
    grids = filter(None, map(grid_of, tree.css("table")))
    return [[[_text(cell) for cell in row] for row in grid.rows] for grid in grids]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return "\n".join(line.text for line in outline(cell, with_links=False).lines)
