"""Whether a page is of a template, and where its content box is.

The same rules on a parsed page and on an outline that was kept of one, with the same result: on the
former only what stands beside the way to the content box is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from selectolax.lexbor import LexborNode

from dedup.templates.outline import BODY, Outline, is_box, is_in_flat, level, names_of, outline
from dedup.templates.template import (
    _DOUBT_CHARACTERS,
    _DOUBT_SHARE,
    _GROWTH,
    _GROWTH_CHARACTERS,
    _MOSTLY,
    _REPEATED,
    _SLACK_CHARACTERS,
    _SLACK_SHARE,
    Furniture,
    Kinds,
    Template,
    are_alike,
)

Element = TypeVar("Element")

_CONTENT = frozenset(["dd", "details", "dl", "figure", "menu", "ol", "table", "ul"])
_PLAIN = frozenset(["center", "div", "font", "form"])
"""Without a class these say nothing of a page's kind."""


class Child(NamedTuple, Generic[Element]):
    """A box directly in another."""

    tag: str
    names: frozenset[str]
    element: Element


class Level(NamedTuple, Generic[Element]):
    """What stands directly in a box: other boxes, and characters of text in none of them."""

    children: list[Child[Element]]
    direct_characters: int


class PageView(Protocol[Element]):
    """A page as far as matching looks at it."""

    body: Element

    def names(self, element: Element) -> frozenset[str]:
        """The element's id, with a leading "#", and its classes."""

    def open(self, element: Element) -> Level[Element]:
        """What stands directly in an element."""

    def characters(self, element: Element) -> int:
        """Length of all its text."""

    def outline(self, element: Element) -> tuple[Outline, int]:
        """An outline that has the element, and which of its boxes it is."""

    def find(self, tag: str, names: frozenset[str]) -> list[Element]:
        """All boxes of a tag that have these names."""

    def way(self, element: Element) -> list[Element]:
        """The boxes around a box, from the body inwards, and itself."""

    def is_same(self, first: Element, second: Element) -> bool:
        """Are they one element?"""


class ParsedPage:
    """A page by its tree; what has been read of it is remembered."""

    def __init__(self, body: LexborNode) -> None:
        self.body = body
        self._levels: dict[int, Level[LexborNode]] = {}
        self._outlines: dict[int, Outline] = {}

    def names(self, element: LexborNode) -> frozenset[str]:
        return frozenset(names_of(element))

    def open(self, element: LexborNode) -> Level[LexborNode]:
        key = element.mem_id
        if key not in self._levels:
            found, nodes = level(element)
            children = [
                Child(box.tag, frozenset(box.names), node)
                for box, node in zip(found.boxes[1:], nodes[1:], strict=True)
            ]
            self._levels[key] = Level(children, sum(len(line.text) for line in found.lines))
        return self._levels[key]

    def characters(self, element: LexborNode) -> int:
        return sum(len(line.text) for line in self.outline(element)[0].lines)

    def outline(self, element: LexborNode) -> tuple[Outline, int]:
        key = element.mem_id
        if key not in self._outlines:
            self._outlines[key] = outline(element, with_links=False)
        return self._outlines[key], BODY

    def find(self, tag: str, names: frozenset[str]) -> list[LexborNode]:
        (first, *_) = names
        wanted = f"{tag}[id='{first[1:]}']" if first[0] == "#" else f"{tag}[class~='{first}']"
        if not wanted.isprintable() or "\\" in first or "'" in first:
            return []
        return [
            node
            for node in self.body.css(wanted)
            if names <= self.names(node) and not is_in_flat(node)
        ]

    def way(self, element: LexborNode) -> list[LexborNode]:
        found = [element]
        node = element.parent
        while node is not None and not self.is_same(found[-1], self.body):
            if is_box(node):
                found.append(node)
            node = node.parent
        return found[::-1]

    def is_same(self, first: LexborNode, second: LexborNode) -> bool:
        return first.mem_id == second.mem_id


class OutlinedPage:
    """A page by its outline; elements are the numbers of its boxes."""

    body = BODY

    def __init__(self, found: Outline) -> None:
        self._outline = found
        self._children = found.children
        self._characters = found.characters

    def names(self, element: int) -> frozenset[str]:
        return frozenset(self._outline.boxes[element].names)

    def open(self, element: int) -> Level[int]:
        numbers = self._children[element]
        boxes = self._outline.boxes
        children = [Child(boxes[n].tag, frozenset(boxes[n].names), n) for n in numbers]
        in_boxes = sum(self._characters[n] for n in numbers)
        return Level(children, self._characters[element] - in_boxes)

    def characters(self, element: int) -> int:
        return self._characters[element]

    def outline(self, element: int) -> tuple[Outline, int]:
        return self._outline, element

    def find(self, tag: str, names: frozenset[str]) -> list[int]:
        return [
            number
            for number, box in enumerate(self._outline.boxes)
            if box.tag == tag and names.issubset(box.names)
        ]

    def way(self, element: int) -> list[int]:
        found = [element]
        while (outer := self._outline.boxes[found[-1]].parent) >= 0:
            found.append(outer)
        return found[::-1]

    def is_same(self, first: int, second: int) -> bool:
        return first == second


def find_box(
    template: Template, page: PageView[Element], *, strictly: bool = True
) -> Element | None:
    """Return the content box of a page, or None where the page is not of the template.

    A page is of the template if the way to the box is there, nearly all text beside the box stands
    where the learned pages have furniture, and what is in the box is of the same kind. Where the
    way is another (a wrapper more or less) but the page has one box of the content box's names, it
    is that. With `strictly` false, text beside the box may be as much as in it.
    """
    if not template.steps:
        is_alike = template.body_names <= page.names(page.body) and are_alike(
            kinds_in_body(page), template.contents
        )
        return page.body if is_alike and not _is_entry(template, page, page.body) else None
    found = _follow_all(template, page) or _find_by_name(template, page)
    if found is None:
        return None
    box, beside = found
    if not strictly:
        is_main = beside.unknown + beside.doubtful <= page.characters(box)
        return box if is_main else None
    if not _is_explained(beside, page, box) or _is_entry(template, page, box):
        return None
    return box


class _Beside(NamedTuple):
    """Characters beside the content box.

    Attributes:
        unknown: where no learned page has text.
        doubtful: where the learned pages have text that is not the same on several.
    """

    unknown: int = 0
    doubtful: int = 0

    def plus(self, other: _Beside) -> _Beside:
        return _Beside(self.unknown + other.unknown, self.doubtful + other.doubtful)


def _is_explained(beside: _Beside, page: PageView[Element], box: Element) -> bool:
    if beside.unknown <= _SLACK_CHARACTERS and beside.doubtful <= _DOUBT_CHARACTERS:
        return True
    n_characters = page.characters(box)
    return (
        beside.unknown <= _SLACK_CHARACTERS + _SLACK_SHARE * n_characters
        and beside.doubtful <= _DOUBT_CHARACTERS + _DOUBT_SHARE * n_characters
    )


def _follow_all(template: Template, page: PageView[Element]) -> tuple[Element, _Beside] | None:
    element, beside = page.body, _Beside()
    for step in template.steps:
        children, direct_characters = page.open(element)
        candidates = [child for child in children if step.fits(child.tag, child.names)]
        if len(candidates) <= step.place:
            return None
        chosen = candidates[step.place]
        beside = beside.plus(_direct(step.max_direct_characters, direct_characters))
        for child in children:
            if child is not chosen:
                beside = beside.plus(_judge(step.furniture, page, child))
        element = chosen.element
    return element, beside


def _find_by_name(template: Template, page: PageView[Element]) -> tuple[Element, _Beside] | None:
    last = template.steps[-1]
    if not last.names:
        return None
    found = page.find(last.tag, last.names)
    if len(found) != 1:
        return None
    furniture = [each for step in template.steps for each in step.furniture]
    most_direct = max(step.max_direct_characters for step in template.steps)
    beside = _Beside()
    way = page.way(found[0])
    for outer, inner in pairwise(way):
        children, direct_characters = page.open(outer)
        beside = beside.plus(_direct(most_direct, direct_characters))
        for child in children:
            if not page.is_same(child.element, inner):
                beside = beside.plus(_judge(furniture, page, child))
    return found[0], beside


def _direct(most: int, n_characters: int) -> _Beside:
    """What to think of text that is in no box."""
    if n_characters > _GROWTH * most + _SLACK_CHARACTERS:
        return _Beside(unknown=n_characters)
    return _Beside(doubtful=n_characters)


def _judge(known: Iterable[Furniture], page: PageView[Element], child: Child[Element]) -> _Beside:
    """What to think of the text of a box beside the content box."""
    for furniture in known:
        if furniture.is_like(child.tag, child.names):
            if furniture.is_links:
                return _Beside()
            n_characters = page.characters(child.element)
            if n_characters > _GROWTH * furniture.max_characters + _GROWTH_CHARACTERS:
                return _Beside(unknown=n_characters)
            is_doubtful = furniture.repeated_share < _REPEATED
            return _Beside(doubtful=n_characters if is_doubtful else 0)
    return _Beside(unknown=page.characters(child.element))


def kinds_in_body(page: PageView[Element]) -> Kinds:
    """The kinds of the boxes directly in the body that have text, lists and tables left out."""
    kinds = (
        (child.tag, frozenset(name for name in child.names if name[0] != "#"), child.element)
        for child in page.open(page.body).children
    )
    return frozenset(
        (tag, classes)
        for tag, classes, element in kinds
        if tag not in _CONTENT and (classes or tag not in _PLAIN) and page.characters(element)
    )


def _is_entry(template: Template, page: PageView[Element], box: Element) -> bool:
    """Has the page one entry where the learned pages list several?"""
    if template.entry is None:
        return False
    tag, names = template.entry
    found, element = page.outline(box)
    children, characters = found.children, found.characters
    while True:
        entries = [
            child
            for child in children[element]
            if found.boxes[child].tag == tag
            and not (names and names.isdisjoint(found.boxes[child].names))
        ]
        if entries:
            return len(entries) == 1 and characters[entries[0]] >= _MOSTLY * characters[element]
        main = [
            child
            for child in children[element]
            if characters[child] and characters[child] >= _MOSTLY * characters[element]
        ]
        if not main:
            return False
        element = main[0]
