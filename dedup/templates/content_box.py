"""The content box of a group of pages, and the template that finds it again.

It is the box that the pages' own characters lead to, or one around it, whichever leaves out most
furniture for the least loss.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from dedup.names import split_title
from dedup.templates.grouping import OWN_SHARE, SAME_BOX, Branch, kinds_of
from dedup.templates.matching import OutlinedPage, find_box
from dedup.templates.measuring import MeasuredPage
from dedup.templates.outline import BODY
from dedup.templates.template import (
    MAX_HEADING_CHARACTERS,
    Furniture,
    Kinds,
    Step,
    Template,
    likeness,
)

_MAX_LOSS = 0.1
_LARGE_LOSS = 0.15
_LOSS_WEIGHT = 3.0
_CLEAR_GAIN = 0.01
_NO_LOSS = 0.002
_FEW = 0.2
_SOME = 0.05
_COMMON = 0.8
_LINKS = 0.7
_SITE_PART = 0.6
_MAX_FURNITURE = 40
_ENTRIES = 3
_ENTRY = re.compile(
    r"(?i)(?:^|[_-])(?:article|card|entry|item|post|result|story|teaser|thread|topic)s?(?:$|[_-])"
)
"""What themes call one of the entries in a list."""


def content_box(branch: Branch, group: list[MeasuredPage]) -> Branch:
    """The branch itself or one around it: of those that cost least, the outermost."""
    best = branch
    least = most_loss = float("inf")
    for each in branch.way():
        if sum(
            _is_one_of_several(page, page.way[each.depth]) for page in group if each.depth
        ) > _FEW * len(group):
            break
        losses = [1 - page.own[page.way[each.depth]] / page.own[BODY] for page in group]
        loss = fmean(losses)
        if loss > _MAX_LOSS or sum(map(_LARGE_LOSS.__lt__, losses)) > _MAX_LOSS * len(group):
            break
        cost = _LOSS_WEIGHT * loss + fmean(
            min(1.0, _excess(page, page.way[each.depth], page.way[branch.depth])) for page in group
        )
        if cost < least - _CLEAR_GAIN or (cost < least and loss <= most_loss + _NO_LOSS):
            best, least, most_loss = each, cost, loss
    return best


def _is_one_of_several(page: MeasuredPage, box: int) -> bool:
    """Do boxes of the same names stand beside it that have text, too?"""
    names, outer = page.names[box], page.sample.outline.boxes[box].parent
    return bool(names) and any(
        page.names[other] == names
        and page.tag(other) == page.tag(box)
        and page.all[other] >= _SOME * page.all[BODY]
        for other in page.children[outer]
        if other != box
    )


def _excess(page: MeasuredPage, box: int, innermost: int) -> float:
    """How much furniture is in a box beyond what cannot be left out, over what must be kept."""
    return (page.furniture[box] - page.furniture[innermost]) / max(1, page.all[innermost])


# --- The template ------------------------------------------------------------------------------


def template_of(box: Branch, pages: list[MeasuredPage]) -> Template:
    way = box.way()
    is_body = len(way) == 1
    return Template(
        body_names=_common_names(page.names[BODY] for page in pages),
        steps=tuple(_step(outer, inner, pages) for outer, inner in pairwise(way)),
        n_pages=len(pages),
        entry=_entry(pages),
        contents=_contents(pages) if is_body else frozenset(),
        excluded=tuple(_excluded(pages)) if is_body else (),
        headings=frozenset(
            heading[:MAX_HEADING_CHARACTERS] for page in pages for heading in page.shared_headings
        ),
        title_parts=_title_parts(pages),
    )


def _common_names(found: Iterator[frozenset[str]] | Sequence[frozenset[str]]) -> frozenset[str]:
    every = list(found)
    counts = Counter(name for names in every for name in names)
    return frozenset(name for name, count in counts.items() if count >= _COMMON * len(every))


def _step(outer: Branch, inner: Branch, pages: list[MeasuredPage]) -> Step:
    beside = [
        (page, [b for b in page.children[page.way[outer.depth]] if b != page.way[inner.depth]])
        for page in pages
    ]
    boxes = [page.sample.outline.boxes[page.way[inner.depth]] for page in pages]
    step = Step(
        tag=inner.tag,
        names=_common_names([page.names[page.way[inner.depth]] for page in pages]),
        is_plain=not any(box.names for box in boxes),
        place=0,
        furniture=tuple(_furniture(beside)),
        max_direct_characters=max(
            page.all[page.way[outer.depth]]
            - sum(page.all[child] for child in page.children[page.way[outer.depth]])
            for page in pages
        ),
    )
    places = Counter(_place(step, page, outer, inner) for page in pages)
    return replace(step, place=places.most_common(1)[0][0])


def _place(step: Step, page: MeasuredPage, outer: Branch, inner: Branch) -> int:
    """Which of the boxes that the step fits is the page's."""
    boxes = page.sample.outline.boxes
    fitting = [
        child
        for child in page.children[page.way[outer.depth]]
        if step.fits(boxes[child].tag, frozenset(boxes[child].names))
    ]
    box = page.way[inner.depth]
    return fitting.index(box) if box in fitting else 0


@dataclass(slots=True)
class _Seen:
    tag: str
    names: frozenset[str]
    n_pages: int = 0
    max_characters: int = 0
    repeated: int = 0
    linked: int = 0
    own: int = 0
    all: int = 0
    headings: int = 0
    last: MeasuredPage | None = None

    def add(self, page: MeasuredPage, box: int) -> None:
        self.n_pages += page is not self.last  # a page may have several boxes that are alike
        self.last = page
        self.max_characters = max(self.max_characters, page.all[box])
        self.repeated += page.repeated[box]
        self.linked += page.linked[box]
        self.own += page.own[box]
        self.all += page.all[box]
        self.headings += page.headings[box]

    def furniture(self) -> Furniture:
        return Furniture(
            self.tag,
            self.names,
            self.n_pages,
            self.max_characters,
            round(self.repeated / self.all, 3) if self.all else 0.0,
            is_links=bool(self.all) and self.linked >= _LINKS * self.all,
        )


def _seen(boxes: Sequence[tuple[MeasuredPage, list[int]]]) -> list[_Seen]:
    found: list[_Seen] = []
    for page, numbers in boxes:
        for box in numbers:
            tag, names = page.tag(box), page.names[box]
            for each in found:
                if each.tag == tag and likeness(each.names, names) >= SAME_BOX:
                    break
            else:
                each = _Seen(tag, names)
                found.append(each)
            each.add(page, box)
    return found


def _furniture(boxes: Sequence[tuple[MeasuredPage, list[int]]]) -> list[Furniture]:
    found = sorted(_seen(boxes), key=lambda seen: -seen.n_pages)
    return [seen.furniture() for seen in found[:_MAX_FURNITURE]]


def _excluded(pages: list[MeasuredPage]) -> list[Furniture]:
    """What stands in the body, on nearly all pages, and is links or on other pages, too."""
    boxes = [(page, page.children[BODY]) for page in pages]
    return [
        seen.furniture()
        for seen in _seen(boxes)
        if seen.n_pages >= _COMMON * len(pages)
        and seen.all
        and seen.own <= (1 - OWN_SHARE) / 5 * seen.all
        and seen.repeated + seen.linked >= OWN_SHARE * seen.all
        and not seen.headings
        and (seen.names or seen.tag in ("nav", "header", "footer", "table"))
    ]


def _contents(pages: list[MeasuredPage]) -> Kinds:
    counts = Counter(kind for page in pages for kind in kinds_of(page))
    return frozenset(kind for kind, count in counts.items() if 2 * count >= len(pages))


def _entry(pages: list[MeasuredPage]) -> tuple[str, frozenset[str]] | None:
    """What the entries of a list look like, if most of the pages are such lists."""
    counts: Counter[tuple[str, frozenset[str]]] = Counter()
    for page in pages:
        box = page.way[-1]
        found: defaultdict[tuple[str, frozenset[str]], list[int]] = defaultdict(list)
        for child in page.children[box]:
            classes = frozenset(name for name in page.names[child] if name[0] != "#")
            if page.tag(child) == "article" or any(map(_ENTRY.search, classes)):
                found[page.tag(child), classes].append(page.own[child])
        for kind, sizes in found.items():
            if len(sizes) >= _ENTRIES and sum(sizes) >= _SITE_PART * page.own[box]:
                counts[kind] += 1
    for kind, count in counts.most_common(1):
        if count >= _SITE_PART * len(pages):
            return kind
    return None


def _title_parts(pages: list[MeasuredPage]) -> frozenset[str]:
    titles = {page.name: split_title(page.sample.title) for page in pages}
    counts = Counter(part for parts in titles.values() for part in set(parts))
    return frozenset(
        part[:200] for part, count in counts.items() if count >= _SITE_PART * len(titles)
    )


def holds(template: Template, box: Branch, pages: list[MeasuredPage]) -> bool:
    """Does the template find the content box on the pages that it was learned from?"""
    right = sum(
        find_box(template, OutlinedPage(page.sample.outline)) == page.way[box.depth]
        for page in pages
    )
    return right >= _COMMON * len(pages)
