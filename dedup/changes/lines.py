"""The lines of a page's versions, and what of them came and went."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dedup.names import split_title
from dedup.store.sql.changes import ChangedPage, Version

_WORD = re.compile(r"\w+")
_TITLE = "\0"
"""Before the parts of a title, which are compared as lines of their own."""

_KEY_CHARACTERS = 200
_MONTHS = "january february march april may june july august september october november december"
_VARIES = re.compile(
    r"\d+|\b(?:{}|{}|sept)\b".format(
        _MONTHS.replace(" ", "|"), "|".join(month[:3] for month in _MONTHS.split())
    )
)
_MAX_PASSAGES = 5
_MAX_CHARACTERS = 300

IsFurniture = Callable[[str], bool]
"""Does a line with this key belong to what many pages of the host have changed?"""


def line_key(line: str) -> str:
    """What a line has in common with those of other pages that differ in numbers and dates alone.

    >>> line_key("Updated on March 3, 2024"), line_key("Updated on May 17, 2025")
    ('updated on # #, #', 'updated on # #, #')
    """
    return _VARIES.sub("#", line.lower())[:_KEY_CHARACTERS]


def lines_of(version: Version) -> list[str]:
    """The lines of a version: the parts of its title, and those of its text."""
    titles = [_TITLE + part for part in split_title(version.title)]
    return [*titles, *filter(None, map(str.strip, version.text.split("\n")))]


def differing_keys(page: ChangedPage) -> set[str]:
    """The keys of the lines that came or went."""
    then, now = Counter(lines_of(page.then)), Counter(lines_of(page.now))
    return {line_key(line) for line in (*(now - then), *(then - now))}


class Difference(NamedTuple):
    """How the own texts of two versions differ.

    Attributes:
        share: of the words, 0 to 1.
        came, went: some of the lines, shortened.
    """

    share: float
    came: list[str]
    went: list[str]


def difference(page: ChangedPage, is_furniture: IsFurniture) -> Difference | None:
    """How a page's own text has changed; None: its words are the same, in the same order."""
    sides = [
        [line for line in lines_of(version) if not is_furniture(line_key(line))]
        for version in (page.then, page.now)
    ]
    old, new = (list(_words(lines)) for lines in sides)
    if old == new:
        return None
    before, after = Counter(sides[0]), Counter(sides[1])
    shared = (Counter(old) & Counter(new)).total()
    n_words = max(1, len(old) + len(new))
    share = max(1 - 2 * shared / n_words, 1 / n_words)
    return Difference(round(share, 4), passages(after - before), passages(before - after))


def _words(lines: Iterable[str]) -> Iterator[str]:
    return (word for line in lines for word in _WORD.findall(line.lower()))


def passages(lines: Iterable[str]) -> list[str]:
    """The first of some lines, shortened, as they are shown."""
    found = []
    for line in lines:
        text = line.removeprefix(_TITLE)
        found.append(text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…")
        if len(found) == _MAX_PASSAGES:
            break
    return found
