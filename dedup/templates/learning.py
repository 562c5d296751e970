"""Learning a site's templates from some of its pages.

What a template repeats on page after page is its furniture; where the words stand that no other
page has is the content. Each line is credited to all boxes around it. A page's *own* characters are
those of lines that no page of another name has, without the words in links: menus that differ from
section to section would count otherwise. Each page's own characters lead from the body down to the
innermost box that has nine tenths of them; pages that go the same way are of one template. Its
content box is that box or one around it, whichever leaves out most furniture for the least loss.

Five to ten pages are enough, and more are no better. Takes time linear in the lines of the pages,
a millisecond or so a page.

Source: see `dedup.templates.template`; Gibson, Punera, Tomkins, The volume and evolution of web
page templates, WWW 2005, on counting lines over the pages of one host.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean

from dedup.names import name_of, split_title
from dedup.templates.matching import OutlinedPage, find_box, kinds_in_body
from dedup.templates.outline import BODY, Line, Outline
from dedup.templates.template import (
    MAX_HEADING_CHARACTERS,
    Furniture,
    Kinds,
    Step,
    Template,
    are_alike,
    likeness,
    repeatable,
)
from dedup.text.normal import is_unspaced

PAGES = 10
"""A template is learned from so many pages of different names."""

FEW_PAGES = 4
"""From so few where no more will come."""

_OWN_CHARACTERS = 150
"""A page with fewer of its own says little about where its text stands."""

_OWN_CHARACTERS_UNSPACED = 50
"""The same for scripts without spaces, of which a character says about as much as three letters."""

_OWN_SHARE = 0.9
_MOST_LOSS = 0.1
_LARGE_LOSS = 0.15
_LOSS_WEIGHT = 3.0
_CLEAR_GAIN = 0.01
_NO_LOSS = 0.002
_HINT_WEIGHT = 10
_GROUP_PAGES = 3
_COPY = 0.6
_FEW = 0.2
_SOME = 0.05
_SAME_BOX = 0.5
_COMMON_IDS = 0.15
_COMMON = 0.8
_LINKS = 0.7
_SITE_PART = 0.6
_MAX_FURNITURE = 40
_ENTRIES = 3

_BESIDE = re.compile(
    r"(?i)(?:^|[#\s_-])(?:nav\w*|\w*nav|foot\w*|side-?bar\w*|bread-?crumbs?|menu\w*|pagination"
    r"|pager|toolbar|toc-?\w*)(?:$|[\s_-])"
)
"""What themes call furniture. No more than a hint: text in such boxes counts a tenth."""

_ENTRY = re.compile(
    r"(?i)(?:^|[_-])(?:article|card|entry|item|post|result|story|teaser|thread|topic)s?(?:$|[_-])"
)
"""What themes call one of the entries in a list."""

_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Sample:
    """A page to learn from: its `<title>`, and the outline of its body."""

    title: str
    outline: Outline

    @property
    def name(self) -> str:
        """Its title and first heading without versions: copies of a page have the same."""
        return name_of(self.title, first_heading(self.outline))


def first_heading(outline: Outline) -> str:
    """The first `<h1>`, or else the first `<h2>`; "" where there is none."""
    for block in ("h1", "h2"):
        for line in outline.lines:
            if line.block == block:
                return line.text
    return ""


def learn(samples: Sequence[Sample], *, min_pages: int = PAGES) -> list[Template]:
    """Return the templates that at least `min_pages` of the pages, of different names, have.

    The same pages in the same order give the same templates.
    """
    pages = _voters(_measured(samples), min_pages)
    root = _Branch("body", frozenset(), 0, None, pages)
    _grow(root)
    groups: dict[int, tuple[_Branch, list[_Page]]] = {}
    for branch, group in _groups(root):
        box = _content_box(branch, group)
        groups.setdefault(id(box), (box, []))[1].extend(group)
    templates = []
    for box, group in groups.values():
        for pages in [group] if box.depth else _of_one_kind(group):
            if _count_names(pages) >= min_pages:
                template = _template(box, pages)
                if _holds(template, box, pages):
                    templates.append(template)
    return templates


@dataclass(slots=True, eq=False)
class _Page:
    """A page while it is learned from; lists have an entry for each box."""

    sample: Sample
    name: str
    children: list[list[int]]
    names: list[frozenset[str]] = field(default_factory=list)
    """Those that another page has, too: others name the page, or a place on it."""
    places: list[int] = field(default_factory=list)
    """Which one it is of the boxes of the same tag and names that stand beside each other."""
    paths: list[int] = field(default_factory=list)
    """The same number for boxes of the same way from the body, on all pages."""
    own: list[int] = field(default_factory=list)
    own_with_links: list[int] = field(default_factory=list)
    furniture: list[int] = field(default_factory=list)
    """Characters on other pages, too, or in links."""
    repeated: list[int] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)
    all: list[int] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    enough: int = _OWN_CHARACTERS
    """Characters of its own from which the page tells where its text stands."""
    shared_headings: list[str] = field(default_factory=list)
    way: list[int] = field(default_factory=list)
    """From the body inwards: always the box with over half of the own characters."""

    def tag(self, box: int) -> str:
        return self.sample.outline.boxes[box].tag


@dataclass(slots=True, eq=False)
class _Branch:
    """Boxes of several pages that are the same box of a template."""

    tag: str
    names: frozenset[str]
    place: int
    outer: _Branch | None
    pages: list[_Page]
    inner: list[_Branch] = field(default_factory=list)
    depth: int = 0

    def way(self) -> list[_Branch]:
        """From the body inwards."""
        return [*(self.outer.way() if self.outer else ()), self]


def _count_names(pages: Collection[_Page]) -> int:
    return len({page.name for page in pages})


# --- Whose characters are whose ----------------------------------------------------------------


def _measured(samples: Sequence[Sample]) -> list[_Page]:
    pages = [_Page(sample, sample.name, sample.outline.children) for sample in samples]
    _tell_apart(pages)
    known_names = _known_names(pages)
    known_paths: _Paths = {}
    for page in pages:
        _name_boxes(page, known_names, known_paths)
    lines = [page.sample.outline.some_lines for page in pages]
    shared = _shared_lines(pages, lines)
    for page, found in zip(pages, lines, strict=True):
        _measure(page, found, shared)
    return pages


def _tell_apart(pages: list[_Page]) -> None:
    """Give pages of one name names of their own, unless they are copies of each other.

    The pages of an index have one title, and some sites give one title to all pages.
    """
    found = [{line.text for line in page.sample.outline.some_lines} for page in pages]
    counts = Counter(line for lines in found for line in lines)
    known: dict[str, list[set[str]]] = {}
    for page, all_lines in zip(pages, found, strict=True):
        lines = {line for line in all_lines if 2 * counts[line] <= len(pages)}  # no furniture
        others = known.setdefault(page.name, [])
        copies = (
            number
            for number, other in enumerate(others)
            if len(lines & other) >= _COPY * len(lines | other)
        )
        number = next(copies, len(others))
        if number == len(others):
            others.append(lines)
        page.name += f"\n{number}"


def _shared_lines(pages: list[_Page], lines: list[list[Line]]) -> set[tuple[int, str]]:
    """The lines that pages of two names have in the same place, with and without their links.

    In another place it is an excerpt: a blog's index repeats the text of its articles.
    """
    seen: dict[tuple[int, str], str] = {}
    shared: set[tuple[int, str]] = set()
    for page, found in zip(pages, lines, strict=True):
        for line in found:
            for text in (line.text,) if line.plain == line.text else (line.text, line.plain):
                form = page.paths[line.box], _form(text, line)
                if seen.setdefault(form, page.name) != page.name:
                    shared.add(form)
    return shared


def _form(text: str, line: Line) -> str:
    """What is the same on two pages: digits do not count, but "Chapter 5" is a heading's own."""
    return text if line.block == "h1" else repeatable(text)


def _known_names(pages: list[_Page]) -> set[str]:
    """The classes that pages of two names have, and the ids that many have.

    The id of an article may be on its own page and in an index; a theme's are on most pages.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for page in pages:
        for name in {name for box in page.sample.outline.boxes for name in box.names}:
            found[name].add(page.name)
    many = max(_GROUP_PAGES, _COMMON_IDS * _count_names(pages))
    return {name for name, names in found.items() if len(names) >= (many if name[0] == "#" else 2)}


_Paths = dict[tuple[int, str, frozenset[str]], int]


def _name_boxes(page: _Page, known_names: set[str], known_paths: _Paths) -> None:
    boxes = page.sample.outline.boxes
    page.names = [frozenset(known_names.intersection(box.names)) for box in boxes]
    paths: list[int] = []
    for box, names in zip(boxes, page.names, strict=True):
        outer = paths[box.parent] if box.parent >= 0 else -1
        path = outer, box.tag, frozenset(name for name in names if name[0] != "#")
        paths.append(known_paths.setdefault(path, len(known_paths)))
    page.paths = paths
    page.places = [0] * len(boxes)
    for children in page.children:
        counts: Counter[tuple[str, frozenset[str]]] = Counter()
        for child in children:
            kind = boxes[child].tag, page.names[child]
            page.places[child] = counts[kind]
            counts[kind] += 1


def _measure(page: _Page, lines: list[Line], shared: set[tuple[int, str]]) -> None:
    outline = page.sample.outline
    size = len(outline.boxes)
    own, own_with_links, repeated = [0] * size, [0] * size, [0] * size
    linked, every, headings = [0] * size, [0] * size, [0] * size
    is_beside = _beside(outline)
    counts = Counter(line.text for line in lines)
    own_texts: list[str] = []
    is_first_heading = True
    for line in lines:
        length = len(line.text)
        every[line.box] += length
        linked[line.box] += length - len(line.plain)
        path = page.paths[line.box]
        is_shared = (path, _form(line.text, line)) in shared
        if line.block in ("h1", "h2", "h3"):
            headings[line.box] += 1
        if line.block == "h1":
            if is_shared:
                page.shared_headings.append(line.text)
            elif is_first_heading:
                is_first_heading = False  # it is kept, wherever it stands
                continue
        if is_shared:
            repeated[line.box] += length
        elif counts[line.text] > 1:  # in the contents list, say, and as the heading that it names
            repeated[line.box] += length if line.plain != line.text else 0
        elif _LETTER.search(line.text):
            plain = line.plain
            if plain != line.text and (path, _form(plain, line)) in shared:
                plain = ""  # "Next: …"
            weight = _HINT_WEIGHT if is_beside[line.box] else 1
            own[line.box] += len(plain) // weight
            own_texts.append(plain)
            own_with_links[line.box] += length // weight
    page.own, page.own_with_links = outline.sums(own), outline.sums(own_with_links)
    page.repeated, page.linked = outline.sums(repeated), outline.sums(linked)
    page.all, page.headings = outline.sums(every), outline.sums(headings)
    if is_unspaced("".join(own_texts)):
        page.enough = _OWN_CHARACTERS_UNSPACED


def _beside(outline: Outline) -> list[bool]:
    found: list[bool] = []
    for box in outline.boxes:
        is_beside = box.tag in ("nav", "footer") or _BESIDE.search(" ".join(box.names)) is not None
        found.append(is_beside or (box.parent >= 0 and found[box.parent]))
    return found


def _voters(pages: list[_Page], min_pages: int) -> list[_Page]:
    """The pages that have enough text of their own; where they are few, links count as text."""
    voters = [page for page in pages if page.own[BODY] >= page.enough]
    if _count_names(voters) < min_pages and (min_pages < PAGES or len(pages) >= 2 * min_pages):
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


def _way(page: _Page) -> list[int]:
    way = [BODY]
    while children := page.children[way[-1]]:
        main = max(children, key=lambda box: page.own[box])
        if 2 * page.own[main] < page.own[BODY]:
            break
        way.append(main)
    return way


# --- Which pages go the same way ---------------------------------------------------------------


def _grow(branch: _Branch) -> None:
    depth = branch.depth + 1
    for page in branch.pages:
        if len(page.way) > depth:
            _join(branch, page, page.way[depth])
    for inner in branch.inner:
        _grow(inner)


def _join(branch: _Branch, page: _Page, box: int) -> None:
    tag, names, place = page.tag(box), page.names[box], page.places[box]
    alike = [
        (likeness(names, inner.names), -number)
        for number, inner in enumerate(branch.inner)
        if inner.tag == tag and _may_be_same(names, place, inner)
    ]
    best, number = max(alike, default=(0.0, 0))
    if best < _SAME_BOX:
        branch.inner.append(_Branch(tag, names, place, branch, [page], depth=branch.depth + 1))
    else:
        branch.inner[-number].pages.append(page)


def _may_be_same(names: frozenset[str], place: int, branch: _Branch) -> bool:
    if not names and not branch.names:
        return place == branch.place
    ids = {name for name in names if name[0] == "#"}
    other_ids = {name for name in branch.names if name[0] == "#"}
    return not (ids and other_ids) or bool(ids & other_ids)


def _groups(root: _Branch) -> Iterator[tuple[_Branch, list[_Page]]]:
    """The pages by the innermost branch that several share and that has nearly all their text."""
    innermost: dict[int, _Branch] = {id(page): root for page in root.pages}
    branches = [root]
    for branch in branches:
        if branch is not root and _count_names(branch.pages) >= _GROUP_PAGES:
            for page in branch.pages:
                if page.own[page.way[branch.depth]] >= _OWN_SHARE * page.own[BODY]:
                    innermost[id(page)] = branch
        branches += branch.inner
    for branch in branches:
        if group := [page for page in branch.pages if innermost[id(page)] is branch]:
            yield branch, group


def _of_one_kind(pages: list[_Page]) -> list[list[_Page]]:
    """Pages whose content box is the body itself, by what stands in it.

    They need have nothing else in common: for pages of ten templates no other box is the same.
    """
    groups: list[tuple[Kinds, list[_Page]]] = []
    for page in pages:
        kinds = _kinds(page)
        for first, group in groups:
            if are_alike(kinds, first):
                group.append(page)
                break
        else:
            groups.append((kinds, [page]))
    return [group for _, group in groups]


def _kinds(page: _Page) -> Kinds:
    return kinds_in_body(OutlinedPage(page.sample.outline))


def _content_box(branch: _Branch, group: list[_Page]) -> _Branch:
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
        if loss > _MOST_LOSS or sum(map(_LARGE_LOSS.__lt__, losses)) > _MOST_LOSS * len(group):
            break
        cost = _LOSS_WEIGHT * loss + fmean(
            min(1.0, _excess(page, page.way[each.depth], page.way[branch.depth])) for page in group
        )
        if cost < least - _CLEAR_GAIN or (cost < least and loss <= most_loss + _NO_LOSS):
            best, least, most_loss = each, cost, loss
    return best


def _is_one_of_several(page: _Page, box: int) -> bool:
    """Do boxes of the same names stand beside it that have text, too?"""
    names, outer = page.names[box], page.sample.outline.boxes[box].parent
    return bool(names) and any(
        page.names[other] == names
        and page.tag(other) == page.tag(box)
        and page.all[other] >= _SOME * page.all[BODY]
        for other in page.children[outer]
        if other != box
    )


def _excess(page: _Page, box: int, innermost: int) -> float:
    """How much furniture is in a box beyond what cannot be left out, over what must be kept."""
    return (page.furniture[box] - page.furniture[innermost]) / max(1, page.all[innermost])


# --- The template ------------------------------------------------------------------------------


def _template(box: _Branch, pages: list[_Page]) -> Template:
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


def _step(outer: _Branch, inner: _Branch, pages: list[_Page]) -> Step:
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


def _place(step: Step, page: _Page, outer: _Branch, inner: _Branch) -> int:
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

    def add(self, page: _Page, box: int) -> None:
        self.n_pages += 1
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


def _seen(boxes: Sequence[tuple[_Page, list[int]]]) -> list[_Seen]:
    found: list[_Seen] = []
    for page, numbers in boxes:
        for box in numbers:
            tag, names = page.tag(box), page.names[box]
            for each in found:
                if each.tag == tag and likeness(each.names, names) >= _SAME_BOX:
                    break
            else:
                each = _Seen(tag, names)
                found.append(each)
            each.add(page, box)
    return found


def _furniture(boxes: Sequence[tuple[_Page, list[int]]]) -> list[Furniture]:
    found = sorted(_seen(boxes), key=lambda seen: -seen.n_pages)
    return [seen.furniture() for seen in found[:_MAX_FURNITURE]]


def _excluded(pages: list[_Page]) -> list[Furniture]:
    """What stands in the body, on nearly all pages, and is links or on other pages, too."""
    boxes = [(page, page.children[BODY]) for page in pages]
    return [
        seen.furniture()
        for seen in _seen(boxes)
        if seen.n_pages >= _COMMON * len(pages)
        and seen.all
        and seen.own <= (1 - _OWN_SHARE) / 5 * seen.all
        and seen.repeated + seen.linked >= _OWN_SHARE * seen.all
        and not seen.headings
        and (seen.names or seen.tag in ("nav", "header", "footer", "table"))
    ]


def _contents(pages: list[_Page]) -> Kinds:
    counts = Counter(kind for page in pages for kind in _kinds(page))
    return frozenset(kind for kind, count in counts.items() if 2 * count >= len(pages))


def _entry(pages: list[_Page]) -> tuple[str, frozenset[str]] | None:
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


def _title_parts(pages: list[_Page]) -> frozenset[str]:
    titles = {page.name: split_title(page.sample.title) for page in pages}
    counts = Counter(part for parts in titles.values() for part in set(parts))
    return frozenset(
        part[:200] for part, count in counts.items() if count >= _SITE_PART * len(titles)
    )


def _holds(template: Template, box: _Branch, pages: list[_Page]) -> bool:
    """Does the template find the content box on the pages that it was learned from?"""
    right = sum(
        find_box(template, OutlinedPage(page.sample.outline)) == page.way[box.depth]
        for page in pages
    )
    return right >= _COMMON * len(pages)
