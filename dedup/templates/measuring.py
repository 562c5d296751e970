"""What each page has of its own, box by box: the measure by which templates are learned.

Each line is credited to all boxes around it. A page's *own* characters are those of lines that no
page of another name has, without the words in links: menus that differ from section to section
would count otherwise.

Source: Gibson, Punera, Tomkins, The volume and evolution of web page templates, WWW 2005, on
counting lines over the pages of one host.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dedup.names import name_of
from dedup.templates.outline import Line, Outline
from dedup.templates.template import (
    repeatable,
)
from dedup.text.normal import is_unspaced

_OWN_CHARACTERS = 150
"""A page with fewer of its own says little about where its text stands."""

_OWN_CHARACTERS_UNSPACED = 50
"""The same for scripts without spaces, of which a character says about as much as three letters."""

_HINT_WEIGHT = 10
GROUP_PAGES = 3
_COPY = 0.6
_COMMON_IDS = 0.15
_BESIDE = re.compile(
    r"(?i)(?:^|[#\s_-])(?:nav\w*|\w*nav|foot\w*|side-?bar\w*|bread-?crumbs?|menu\w*|pagination"
    r"|pager|toolbar|toc-?\w*)(?:$|[\s_-])"
)
"""What themes call furniture. No more than a hint: text in such boxes counts a tenth."""

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


@dataclass(slots=True, eq=False)
class MeasuredPage:
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


def count_names(pages: Collection[MeasuredPage]) -> int:
    return len({page.name for page in pages})


# --- Whose characters are whose ----------------------------------------------------------------


def measured(samples: Sequence[Sample]) -> list[MeasuredPage]:
    pages = [MeasuredPage(sample, sample.name, sample.outline.children) for sample in samples]
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


def _tell_apart(pages: list[MeasuredPage]) -> None:
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


def _shared_lines(pages: list[MeasuredPage], lines: list[list[Line]]) -> set[tuple[int, str]]:
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


def _known_names(pages: list[MeasuredPage]) -> set[str]:
    """The classes that pages of two names have, and the ids that many have.

    The id of an article may be on its own page and in an index; a theme's are on most pages.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for page in pages:
        for name in {name for box in page.sample.outline.boxes for name in box.names}:
            found[name].add(page.name)
    many = max(GROUP_PAGES, _COMMON_IDS * count_names(pages))
    return {name for name, names in found.items() if len(names) >= (many if name[0] == "#" else 2)}


_Paths = dict[tuple[int, str, frozenset[str]], int]


def _name_boxes(page: MeasuredPage, known_names: set[str], known_paths: _Paths) -> None:
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


def _measure(page: MeasuredPage, lines: list[Line], shared: set[tuple[int, str]]) -> None:
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
