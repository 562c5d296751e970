"""Writes blocks of Markdown, inside of lists and quotations or in a cell of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from dedup.fields.markdown.escaping import fenced

_MAX_CONTAINERS = 64
"""Deeper ones are not written: each of them takes room in front of each line."""


@dataclass(slots=True)
class _Container:
    """A list's item, a quotation, or a footnote.

    Attributes:
        first, rest: what stands in front of its first line, and of the others.
        is_close: no blank line in front of it.
        is_empty: has nothing been written in it yet?
        n_blocks: how many blocks it has, without lists.
    """

    first: str
    rest: str
    is_close: bool = False
    is_empty: bool = True
    n_blocks: int = 0


class Sink(Protocol):
    """Where blocks are written."""

    @property
    def is_cell(self) -> bool: ...
    def paragraph(self, text: str) -> None: ...
    def lines(self, lines: list[str]) -> None: ...
    def program(self, text: str, language: str) -> None: ...
    def begin(self, first: str, *, is_close: bool = False, width: int = 0) -> None: ...
    def end(self) -> None: ...
    def can_follow(self) -> bool: ...
    def list_sign(self, *, is_ordered: bool) -> str: ...
    def list_ended(self, sign: str, *, is_ordered: bool) -> None: ...
    def is_loose(self) -> bool: ...


class Writer:
    """Writes the lines of a document."""

    is_cell = False

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._containers: list[_Container] = []
        self._n_left_out = 0
        self._last_list: tuple[int, bool, str] | None = None
        """Of a list that has just ended: its depth, whether it is ordered, and its sign."""

    def text(self) -> str:
        return "\n".join(self._lines)

    def paragraph(self, text: str) -> None:
        self.lines(text.split("\n"))

    def program(self, text: str, language: str) -> None:
        runs = re.findall(r"^[ \t]*(`{3,})", text, re.MULTILINE)
        fence = "`" * max(3, *(len(run) + 1 for run in runs), 3)
        self.lines([f"{fence}{language}", *text.split("\n"), fence])

    def lines(self, lines: list[str]) -> None:
        """Write the lines of a block, after a blank line where one is needed."""
        containers = self._containers
        new = next((n for n, each in enumerate(containers) if each.is_empty), len(containers))
        is_close = new < len(containers) and containers[new].is_close
        if self._lines and not is_close:
            self._lines.append("".join(each.rest for each in containers[:new]).rstrip())
        first = "".join(each.first if each.is_empty else each.rest for each in containers)
        rest = "".join(each.rest for each in containers)
        self._lines.append(first + lines[0])
        self._lines += [rest + line if line else rest.rstrip() for line in lines[1:]]
        for each in containers:
            each.is_empty = False
        self._last_list = None
        if containers:
            containers[-1].n_blocks += 1

    def begin(self, first: str, *, is_close: bool = False, width: int = 0) -> None:
        """Begin an item, a quotation or a footnote, all of whose lines have something in front.

        Args:
            first: what stands in front of its first line.
            is_close: no blank line in front of it.
            width: of the spaces in front of the others; 0: as in front of the first.
        """
        if len(self._containers) >= _MAX_CONTAINERS:
            self._n_left_out += 1
            return
        self._containers.append(_Container(first, " " * width or first, is_close))

    def end(self) -> None:
        if self._n_left_out:
            self._n_left_out -= 1
            return
        self._containers.pop()

    def can_follow(self) -> bool:
        """May a list follow without a blank line: the paragraph of an item, or another list?"""
        return bool(self._containers) and self._containers[-1].rest.isspace()

    def is_loose(self) -> bool:
        """Has the innermost container several blocks?"""
        return bool(self._containers) and self._containers[-1].n_blocks > 1

    def list_sign(self, *, is_ordered: bool) -> str:
        """The sign of a list's items: another one than that of a list right in front of it."""
        usual, other = (".", ")") if is_ordered else ("-", "*")
        return other if self._last_list == (len(self._containers), is_ordered, usual) else usual

    def list_ended(self, sign: str, *, is_ordered: bool) -> None:
        self._last_list = len(self._containers), is_ordered, sign


class Cell:
    """Writes all blocks on one line."""

    is_cell = True

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._marker = ""

    def text(self) -> str:
        return "<br>".join(self._parts)

    def paragraph(self, text: str) -> None:
        self._parts.append(self._marker + text)
        self._marker = ""

    def lines(self, lines: list[str]) -> None:
        """Lines and tables have no place in a cell."""

    def program(self, text: str, language: str) -> None:  # noqa: ARG002 -- as `Sink` has it
        for line in filter(str.strip, text.split("\n")):
            self.paragraph(fenced(line, in_cell=True))

    def begin(self, first: str, *, is_close: bool = False, width: int = 0) -> None:  # noqa: ARG002
        self._marker = first if width else ""

    def end(self) -> None:
        self._marker = ""

    def can_follow(self) -> bool:
        return True

    def is_loose(self) -> bool:
        return False

    def list_sign(self, *, is_ordered: bool) -> str:
        return "." if is_ordered else "-"

    def list_ended(self, sign: str, *, is_ordered: bool) -> None:
        """In a cell lists need no signs that differ."""
