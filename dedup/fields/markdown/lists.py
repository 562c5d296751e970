"""Lists: their markers, and where blank lines stand between their items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dedup.fields.markdown.writer import Sink

_MAX_NUMBER = 999_999_999
"""CommonMark reads nine digits."""


@dataclass(slots=True)
class _List:
    """A list that has been begun.

    Attributes:
        number: of the next item; None: the list has bullets.
        sign: the bullet, or what stands behind a number.
        is_close: no blank line in front of the next item.
        is_inside: does it stand in another list without an item around it?
        width: of the last item's marker.
    """

    number: int | None
    sign: str
    is_close: bool
    is_inside: bool = False
    width: int = 0


class Lists:
    """The lists around what comes next."""

    def __init__(self, out: Sink) -> None:
        self._out = out
        self._lists: list[_List | None] = []
        """None: an item."""

    def begin(self, node: Any) -> None:
        is_ordered = node.tag == "ol"
        number = _number(node.attributes.get("start"), 1) if is_ordered else None
        around = self._lists[-1] if self._lists else None
        if around is not None:  # it belongs to the item before it
            width = around.width
            self._out.begin(" " * width or "- ", is_close=width > 0, width=width or 2)
        is_close = self._out.can_follow() and number in (None, 1)
        sign = self._out.list_sign(is_ordered=is_ordered)
        self._lists.append(_List(number, sign, is_close, is_inside=around is not None))

    def end(self) -> None:
        ended = self._lists.pop()
        if ended is not None:
            self._out.list_ended(ended.sign, is_ordered=ended.number is not None)
            if ended.is_inside:
                self._out.end()

    def begin_item(self, node: Any) -> None:
        now = self._lists[-1] if self._lists else None
        if now is None:  # an item without a list
            now = _List(None, "-", is_close=self._out.can_follow())
        if now.number is not None:
            now.number = _number(node.attributes.get("value"), now.number)
            marker = f"{now.number}{now.sign} "
            now.number = min(now.number + 1, _MAX_NUMBER)
        else:
            marker = f"{now.sign} "
        now.width = len(marker)
        self._out.begin(marker, is_close=now.is_close, width=now.width)
        self._lists.append(None)

    def end_item(self) -> None:
        self._lists.pop()
        is_loose = self._out.is_loose()
        self._out.end()
        now = self._lists[-1] if self._lists else None
        if now is not None:
            now.is_close = not is_loose


def _number(value: str | None, default: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isdecimal() and len(text) <= len(str(_MAX_NUMBER)) else default
