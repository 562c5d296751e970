"""What a template leaves out of a page's text, in words for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from dedup.templates.matching import OutlinedPage, find_box
from dedup.templates.outline import Box, Outline
from dedup.templates.template import Furniture, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A box that is no part of a page's text.

    Attributes:
        box: its tag, id and classes, as a CSS selector.
        characters: of its text on this page; of a template: the most on a page learned from.
        n_pages: on how many of the `n_learned` pages it stands that the template was learned from;
            0: on none.
        repeated_share: of its words those that stand on other pages, too, 0 to 1.
        is_links: is it mostly links?
    """

    box: str
    characters: int
    n_pages: int
    n_learned: int
    repeated_share: float
    is_links: bool

    def __str__(self) -> str:
        if not self.n_pages:
            return f"{self.box}, on none of the {self.n_learned} pages learned from"
        kind = "mostly links" if self.is_links else "words"
        return (
            f"{self.box}, on {self.n_pages} of the {self.n_learned} pages learned from, {kind},"
            f" {self.repeated_share:.0%} of them on other pages, too"
        )


def left_out_of(template: Template, page: Outline) -> list[LeftOut]:
    """The boxes with text that are left out of a page of the template, in document order."""
    view = OutlinedPage(page)
    found = find_box(template, view, strictly=False)
    if found is None:
        return []
    known = list(template.left_out())
    way = view.way(found)
    beside = [
        child for outer, inner in pairwise(way) for child in page.children[outer] if child != inner
    ]
    if not template.steps:
        beside = [
            child
            for child in page.children[found]
            if _furniture(template.excluded, page.boxes[child]) is not None
        ]
    return [
        _described(template, page.boxes[child], page.characters[child], known)
        for child in sorted(beside)
        if page.characters[child]
    ]


def left_out_by(template: Template) -> list[LeftOut]:
    """The boxes with text that are left out of the pages learned from; the most common first."""
    described = [
        _counted(template, str(each), each.max_characters, each)
        for each in template.left_out()
        if each.max_characters
    ]
    return sorted(described, key=lambda each: (-each.n_pages, -each.characters))


def _described(
    template: Template, box: Box, characters: int, known: Iterable[Furniture]
) -> LeftOut:
    furniture = _furniture(known, box)
    return _counted(template, selector(box), characters, furniture)


def _counted(
    template: Template, name: str, characters: int, furniture: Furniture | None
) -> LeftOut:
    return LeftOut(
        box=name,
        characters=characters,
        n_pages=furniture.n_pages if furniture else 0,
        n_learned=template.n_pages,
        repeated_share=furniture.repeated_share if furniture else 0.0,
        is_links=furniture is not None and furniture.is_links,
    )


def _furniture(known: Iterable[Furniture], box: Box) -> Furniture | None:
    names = frozenset(box.names)
    return next((each for each in known if each.is_like(box.tag, names)), None)


def selector(box: Box) -> str:
    """The box as a CSS selector: its tag, id and classes.

    >>> selector(Box(-1, "div", ("#menu", "wide")))
    'div#menu.wide'
    """
    return box.tag + "".join(name if name[0] == "#" else f".{name}" for name in box.names)
