"""What of a page only leads to others, or to its own parts: it changes with those."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

from dedup.changes.dates import is_date
from dedup.names import split_title
from dedup.sites.outline import Line, Outline

_PAGER = re.compile(r"(?i)pager|pagina|(?<![a-z])(?:prev|previous|next|older|newer)(?![a-z])")
_NEIGHBOUR = (
    r"(?i)\W*(?:(?:prev|previous|next|older|newer)(?:\s(?:page|post|article|chapter|entry))?"
    r"|[上下前后後]一?[篇页頁章节節])"
)
_TO_NEIGHBOUR = re.compile(rf"{_NEIGHBOUR}\s?[:：»→>]")
"""Begins a line of links to neighbours, whatever its box is named."""

_NEIGHBOUR_LABEL = re.compile(rf"{_NEIGHBOUR}\W*")
"""Stands above the title of a neighbour, its date and an excerpt."""

_MAX_TEASER_WORDS, _MAX_TEASER_LINES = 80, 20

_RELATED = re.compile(
    r"(?i)(?:^#?|[-_])related(?:[-_]?(?:posts?|articles?|entries|stories|content|reading))?$"
)
_BESIDE = re.compile(r"(?i)^(?:nav|aside|footer)$|(?:^#?|[-_])(?:footer|sidebar|copyright)$")
_BEHIND_PARENTS = re.compile(r"(?:[>\u203a\u00bb\u2192/|\u00b7]\s*)+")
"""Stands between the links of a trail, and before the name of the page."""

_MAX_PAGER_WORDS = 40
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_LEAST_LINKS, _LABEL_CHARACTERS = 2, 40
_CELLS = frozenset(["td", "th"])
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])


def own_lines(page: Outline, title: str, *, is_list: bool = False) -> Outline:
    """The page without what leads elsewhere; `is_list`: lists of links are what it says."""
    own = without_related(without_pagers(without_trails(page, title)))
    return own if is_list else without_lists(own)


def without_menus(page: Outline, title: str) -> Outline:
    """The page without what leads elsewhere or stands beside its text, whatever it says."""
    own = own_lines(page, title)
    out = set(beside(own))
    return Outline(own.boxes, [line for line in own.lines if line not in out])


def without_lists(page: Outline) -> Outline:
    """The page without lists of links: contents, neighbours, a menu that got into the text."""
    lists = set(link_lists(page))
    kept = [line for place, line in enumerate(page.lines) if place not in lists]
    return Outline(page.boxes, kept) if kept else page


def are_most(lists: Iterable[int], page: Outline, text: str) -> bool:
    """Are lists of links more than half of a page's text? Then the page is one itself."""
    linked = {page.lines[place].text for place in lists}
    n_linked = sum(len(line) for line in text.split("\n") if line in linked)
    return 2 * n_linked > len(text)


def link_lists(page: Outline) -> Iterator[int]:
    """The lines of boxes that have nothing but links, and fewer short lines between them.

    In a `nav` these lines may be long. Headings that are links are of no such list: those of posts
    are. Nor are the rows of tables, links most of which have a line beside them, as prices are,
    that is no date, two links beside a line with numbers that is no date, what a sentence with a
    colon leads to, and references to other sites.
    """
    tables = _tables(page)
    first, end = [len(page.lines)] * len(page.boxes), [0] * len(page.boxes)
    for place, line in enumerate(page.lines):
        box = line.box
        while box >= 0:
            first[box], end[box] = min(first[box], place), max(end[box], place + 1)
            box = page.boxes[box].parent
    at = 0
    for box in range(1, len(page.boxes)):
        lines = page.lines[first[box] : end[box]]
        if first[box] >= at and lines and _is_led_in(page, first[box] - 1, box):
            at = end[box]
        elif (
            first[box] >= at
            and box not in tables
            and _is_list(lines, is_nav=page.boxes[box].tag == "nav")
        ):
            has_label = first[box] > at and _is_label(page, first[box] - 1, box, end[box])
            yield from range(first[box] - has_label, end[box])
            at = end[box]


def _tables(page: Outline) -> set[int]:
    """The boxes around rows, and these rows, of tables with two rows or more of several cells."""
    cells: dict[int, set[int]] = {}
    for box in {line.box for line in page.lines}:
        while box >= 0:
            parent = page.boxes[box].parent
            if page.boxes[box].tag in _CELLS and page.boxes[parent].tag == "tr":
                cells.setdefault(parent, set()).add(box)
            box = parent
    rows: dict[int, list[int]] = {}
    for row, found in cells.items():
        if len(found) > 1:
            rows.setdefault(page.boxes[row].parent, []).append(row)
    around: set[int] = set()
    for found_rows in rows.values():
        for box in found_rows if len(found_rows) > 1 else ():
            while box > 0 and box not in around:
                around.add(box)
                box = page.boxes[box].parent
    return around


def _is_led_in(page: Outline, place: int, box: int) -> bool:
    """Is this a sentence right before a box, beside it, with a colon at its end?"""
    if place < 0 or page.lines[place].box != page.boxes[box].parent:
        return False
    text = page.lines[place].plain
    return len(text) > _LABEL_CHARACTERS and text.endswith((":", "："))


def _is_label(page: Outline, place: int, box: int, end: int) -> bool:
    """Is this the heading of a list alone, beside it, up to the page's end or another heading?"""
    line = page.lines[place]
    if line.box != page.boxes[box].parent or line.block not in _HEADINGS - {"h1"}:
        return False
    is_last = end == len(page.lines) or page.lines[end].block in _HEADINGS
    return is_last and len(line.text) <= _LABEL_CHARACTERS


def _is_list(lines: Sequence[Line], *, is_nav: bool) -> bool:
    others = [line for line in lines if line.plain]
    if 2 * len(others) > len(lines) or len(lines) - len(others) < _LEAST_LINKS:
        return False
    if 2 * sum(line.n_outward for line in lines) > sum(len(line.text) for line in lines):
        return False
    values = [line for line in others if not is_date(line.text.lower())]
    n_links = len(lines) - len(others)
    if n_links > _LEAST_LINKS and 2 * len(values) > n_links:
        return False
    if n_links == _LEAST_LINKS and any(_DIGIT.search(line.plain) for line in values):
        return False
    are_labels = is_nav or all(len(line.text) <= _LABEL_CHARACTERS for line in others)
    return are_labels and not any(line.block in _HEADINGS and not line.plain for line in lines)


def without_pagers(page: Outline) -> Outline:
    """The page without links to the previous and next pages, which change with those."""
    outer = _named(page, _PAGER)
    lines: dict[int, list[Line]] = {}
    for line in page.lines:
        lines.setdefault(outer[line.box], []).append(line)
    found = {box for box, own in lines.items() if box >= 0 and _is_pager(own)}
    teasers = _teasers(page)
    kept = [
        line
        for place, line in enumerate(page.lines)
        if outer[line.box] not in found and place not in teasers and not _leads_to_neighbour(line)
    ]
    return Outline(page.boxes, kept) if kept else page


def _teasers(page: Outline) -> set[int]:
    """The lines of boxes that begin with `Next`, or the like, and have little but a title."""
    found: set[int] = set()
    for place, line in enumerate(page.lines):
        is_label = _NEIGHBOUR_LABEL.fullmatch(line.text) and line.block not in _HEADINGS
        if is_label and not (place and _is_in(page, line.box, page.lines[place - 1])):
            following = page.lines[place + 1 : place + 2 + _MAX_TEASER_LINES]
            rest = list(takewhile(partial(_is_in, page, line.box), following))
            if len(rest) <= _MAX_TEASER_LINES and _is_teaser(rest):
                found.update(range(place, place + 1 + len(rest)))
    return found


def _is_in(page: Outline, outer: int, line: Line) -> bool:
    box = line.box
    while box > outer:
        box = page.boxes[box].parent
    return box == outer


def _is_teaser(lines: Sequence[Line]) -> bool:
    """Is there a link among them, and hardly anything else?"""
    n_words = sum(len(_WORD.findall(line.text)) for line in lines)
    has_title = any(not _WORD.search(line.plain) for line in lines)
    is_text = any(
        _NEIGHBOUR_LABEL.fullmatch(line.text) or (line.plain and line.block in _HEADINGS)
        for line in lines
    )
    return has_title and not is_text and n_words <= _MAX_TEASER_WORDS


def _leads_to_neighbour(line: Line) -> bool:
    is_link = not _WORD.search(line.plain) and len(_WORD.findall(line.text)) <= _MAX_PAGER_WORDS
    return is_link and _TO_NEIGHBOUR.match(line.text) is not None


def without_trails(page: Outline, title: str) -> Outline:
    """The page without trails: lines of links down to its name, its title or a heading."""
    headings = (line.text for line in page.lines if line.block in _HEADINGS)
    names = {words_in(each) for each in (*split_title(title), *headings)}
    kept = [line for line in page.lines if not _is_trail(line, names)]
    return Outline(page.boxes, kept) if kept else page


def _is_trail(line: Line, names: set[str]) -> bool:
    name = words_in(line.plain)
    if name in {"", words_in(line.text)}:  # it has nothing else than links, or none
        return False
    return name in names and _BEHIND_PARENTS.match(line.plain) is not None


def words_in(text: str) -> str:
    """The words of a text in lower case, without signs."""
    return " ".join(_WORD.findall(text.lower()))


def without_related(page: Outline) -> Outline:
    """The page without boxes that are named as related posts, with links and excerpts of these."""
    outer = _named(page, _RELATED)
    n_links = Counter(outer[line.box] for line in page.lines if not _WORD.search(line.plain))
    kept = [
        line
        for line in page.lines
        if outer[line.box] < 0 or n_links[outer[line.box]] < _LEAST_LINKS
    ]
    return Outline(page.boxes, kept) if kept else page


def beside(page: Outline) -> Iterator[Line]:
    """Choices, lines that are mostly links, and boxes that stand beside the text."""
    outer = _named(page, _BESIDE)
    for line in page.lines:
        n_plain, n_words = (len(_WORD.findall(text)) for text in (line.plain, line.text))
        if line.block == "option" or outer[line.box] >= 0 or 0 < 2 * n_plain < n_words:
            yield line


def _named(page: Outline, name: re.Pattern[str]) -> list[int]:
    """For each box, the outermost one around it that has such a name; -1: none has."""
    found: list[int] = []
    for number, box in enumerate(page.boxes):
        around = found[box.parent] if box.parent >= 0 else -1
        if around < 0 and any(map(name.search, (box.tag, *box.names))):
            around = number
        found.append(around)
    return found


def _is_pager(lines: Sequence[Line]) -> bool:
    """Are these few words, most of them in links?"""
    n_words, n_plain = (
        sum(len(_WORD.findall(text)) for text in texts)
        for texts in ([line.text for line in lines], [line.plain for line in lines])
    )
    return n_words <= _MAX_PAGER_WORDS and 2 * n_plain <= n_words
