"""A page's own text by what is known of its site's templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from selectolax.lexbor import LexborNode

from dedup.names import is_in_title, own_title
from dedup.templates.matching import OutlinedPage, PageView, ParsedPage, find_box
from dedup.templates.outline import BODY, Line, Outline, outline
from dedup.templates.template import Template

Element = TypeVar("Element")

MAX_TEMPLATES = 256
"""Of one host. More are rather pages without a template."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """What a page says itself.

    Attributes:
        text: a line for each line of the content box; before them the heading, if it stands beside.
        heading: the page's own; "" where it has none.
        title: the page's title without the site's part.
        template: the number of its template.
    """

    text: str
    heading: str
    title: str
    template: int


class Site:
    """The templates of one host, in the order in which they were learned.

    Args:
        templates: what is known; their places are their numbers.
    """

    def __init__(self, templates: Sequence[Template] = ()) -> None:
        self.templates = tuple(templates[:MAX_TEMPLATES])
        numbered = enumerate(self.templates)
        self._innermost_first = sorted(numbered, key=lambda each: (-len(each[1].steps), each[0]))

    def read(self, body: LexborNode, title: str) -> OwnText | None:
        """The own text of a parsed page; None: it is of no template known."""
        if not self.templates:
            return None
        page = ParsedPage(body)
        found = self._find(page, strictly=True)
        if found is None:
            return None
        number, template, box = found
        inner, root = page.outline(box)
        heading = _own_h1(inner.inside(root), template, title)
        beside = None if heading else _own_h1(_headings_of(body), template, title)
        return _own_text(inner, root, number, template, title, heading, beside)

    def read_outline(self, page: Outline, title: str, *, strictly: bool = True) -> OwnText | None:
        """The same for a page of which an outline was kept.

        With `strictly` false, also of a page that has a known content box, and more beside it than
        others: better than nothing.
        """
        found = self._find(OutlinedPage(page), strictly=strictly)
        if found is None:
            return None
        number, template, box = found
        heading = _own_h1(page.inside(box), template, title)
        beside = None if heading else _own_h1(page.lines, template, title)
        return _own_text(page, box, number, template, title, heading, beside)

    def _find(
        self, page: PageView[Element], *, strictly: bool
    ) -> tuple[int, Template, Element] | None:
        for number, template in self._innermost_first:
            box = find_box(template, page, strictly=strictly)
            if box is not None:
                return number, template, box
        return None


def _own_h1(lines: Iterable[Line], template: Template, title: str) -> str | None:
    """The first heading of the page's own; of several, one that the title has, too.

    On a page of a template that is not known, but has the same content box, there may be others.
    """
    headings = (line.text for line in lines if line.block == "h1")
    found = [heading for heading in headings if template.is_own_heading(heading)]
    if len(found) < 2:
        return found[0] if found else None
    return next((heading for heading in found if is_in_title(heading, title)), found[0])


def _headings_of(body: LexborNode) -> Iterator[Line]:
    for node in body.css("h1"):
        yield from (line._replace(block="h1") for line in outline(node, with_links=False).lines)


def _own_text(
    page: Outline,
    box: int,
    number: int,
    template: Template,
    title: str,
    heading: str | None,
    beside: str | None,
) -> OwnText:
    without = frozenset() if template.steps else _excluded(page, template)
    lines = list(page.inside(box, without=without))
    if heading is None and beside is None:
        heading = next((line.text for line in lines if line.block == "h2"), "")
    texts = [line.text for line in lines]
    return OwnText(
        "\n".join(texts if beside is None else [beside, *texts]),
        heading or beside or "",
        own_title(title, template.title_parts),
        number,
    )


def _excluded(page: Outline, template: Template) -> frozenset[int]:
    return frozenset(
        number
        for number, box in enumerate(page.boxes)
        if box.parent == BODY
        and any(each.is_like(box.tag, frozenset(box.names)) for each in template.excluded)
    )
