"""Pages of one template: those whose own characters lead the same way from the body down.

The way goes on to the innermost box that has nine tenths of a page's own characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dedup.templates.matching import OutlinedPage, kinds_in_body
from dedup.templates.measuring import GROUP_PAGES, MeasuredPage, count_names
from dedup.templates.outline import BODY
from dedup.templates.template import (
    Kinds,
    are_alike,
    likeness,
)

PAGES = 10
"""A template is learned from so many pages of different names."""

FEW_PAGES = 4
"""From so few where no more will come."""

OWN_SHARE = 0.9
SAME_BOX = 0.5


@dataclass(slots=True, eq=False)
class Branch:
    """Boxes of several pages that are the same box of a template."""

    tag: str
    names: frozenset[str]
    place: int
    outer: Branch | None
    pages: list[MeasuredPage]
    inner: list[Branch] = field(default_factory=list)
    depth: int = 0

    def way(self) -> list[Branch]:
        """From the body inwards."""
        return [*(self.outer.way() if self.outer else ()), self]


def voters(pages: list[MeasuredPage], min_pages: int) -> list[MeasuredPage]:
    """The pages that have enough text of their own; where they are few, links count as text."""
    voters = [page for page in pages if page.own[BODY] >= page.enough]
    if count_names(voters) < min_pages and (min_pages < PAGES or len(pages) >= 2 * min_pages):
        for page in pages:
            if page.own[BODY] < page.enough <= page.own_with_links[BODY]:
                page.own = page.own_with_links
                voters.append(page)
    for page in voters:
        page.furniture = [
            max(0, every - own) for every, own in zip(page.all, page.own, strict=True)
        ]
        page.way = _way(page)
    return voters


def _way(page: MeasuredPage) -> list[int]:
    way = [BODY]
    while children := page.children[way[-1]]:
        main = max(children, key=lambda box: page.own[box])
        if 2 * page.own[main] < page.own[BODY]:
            break
        way.append(main)
    return way


# --- Which pages go the same way ---------------------------------------------------------------


def grow(branch: Branch) -> None:
    depth = branch.depth + 1
    for page in branch.pages:
        if len(page.way) > depth:
            _join(branch, page, page.way[depth])
    for inner in branch.inner:
        grow(inner)


def _join(branch: Branch, page: MeasuredPage, box: int) -> None:
    tag, names, place = page.tag(box), page.names[box], page.places[box]
    alike = [
        (likeness(names, inner.names), -number)
        for number, inner in enumerate(branch.inner)
        if inner.tag == tag and _may_be_same(names, place, inner)
    ]
    best, number = max(alike, default=(0.0, 0))
    if best < SAME_BOX:
        branch.inner.append(Branch(tag, names, place, branch, [page], depth=branch.depth + 1))
    else:
        branch.inner[-number].pages.append(page)


def _may_be_same(names: frozenset[str], place: int, branch: Branch) -> bool:
    if not names and not branch.names:
        return place == branch.place
    ids = {name for name in names if name[0] == "#"}
    other_ids = {name for name in branch.names if name[0] == "#"}
    return not (ids and other_ids) or bool(ids & other_ids)


def page_groups(root: Branch) -> Iterator[tuple[Branch, list[MeasuredPage]]]:
    """The pages by the innermost branch that several share and that has nearly all their text."""
    innermost: dict[int, Branch] = {id(page): root for page in root.pages}
    branches = [root]
    for branch in branches:
        if branch is not root and count_names(branch.pages) >= GROUP_PAGES:
            for page in branch.pages:
                if page.own[page.way[branch.depth]] >= OWN_SHARE * page.own[BODY]:
                    innermost[id(page)] = branch
        branches += branch.inner
    for branch in branches:
        if group := [page for page in branch.pages if innermost[id(page)] is branch]:
            yield branch, group


def of_one_kind(pages: list[MeasuredPage]) -> list[list[MeasuredPage]]:
    """Pages whose content box is the body itself, by what stands in it.

    They need have nothing else in common: for pages of ten templates no other box is the same.
    """
    groups: list[tuple[Kinds, list[MeasuredPage]]] = []
    for page in pages:
        kinds = kinds_of(page)
        for first, group in groups:
            if are_alike(kinds, first):
                group.append(page)
                break
        else:
            groups.append((kinds, [page]))
    return [group for _, group in groups]


def kinds_of(page: MeasuredPage) -> Kinds:
    return kinds_in_body(OutlinedPage(page.sample.outline))
