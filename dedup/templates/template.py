"""A template of a site: where the text of a page stands, and what stands around it.

Source: Bar-Yossef, Rajagopalan, Template detection via data mining, WWW 2002 (what repeats on a
site's pages is template); Yi, Liu, Li, Eliminating noisy information in web pages, KDD 2003 (a tree
of a site's presentation styles). Here a template is one path of boxes, and what is beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

SCHEME = 1
"""Changes where learning or reading by templates gives other texts."""

MAX_HEADING_CHARACTERS = 200

_DIGITS = re.compile(r"\d+")

_SLACK_CHARACTERS = 40
_SLACK_SHARE = 0.2
"""Text beside the content box that no learned page had: a page with more of it than that, and than
this share of the box's own text, is of another template."""

_DOUBT_CHARACTERS = 100
_DOUBT_SHARE = 0.5
_REPEATED = 0.5
"""The same for text in boxes of which less than so much was the same on several learned pages."""

_GROWTH = 3
_GROWTH_CHARACTERS = 300
"""Furniture may be longer than on any learned page, so many times and so many characters."""

_MOSTLY = 0.6


def repeatable(line: str) -> str:
    """The form in which lines count as the same: "Page 3 of 12" is "Page 4 of 12"."""
    return _short_repeatable(line) if len(line) <= _SHORT_LINE else _DIGITS.sub("0", line)


_SHORT_LINE = 200


@lru_cache(10_000)
def _short_repeatable(line: str) -> str:  # most are on many pages, and pages are measured again
    return _DIGITS.sub("0", line)


def likeness(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of names that two elements have in common, 0 to 1; 1 where neither has any."""
    if not first and not second:
        return 1.0
    return len(first & second) / len(first | second)


Kinds = frozenset[tuple[str, frozenset[str]]]
"""What boxes there are: their tags and classes."""


def are_alike(first: Kinds, second: Kinds) -> bool:
    """Do two pages have mostly the same kinds of boxes? Classes that only one has do not matter."""
    n_shared = sum(any(_is_same_kind(one, other) for other in second) for one in first)
    return 2 * n_shared >= len(first) + len(second) - n_shared


def _is_same_kind(first: tuple[str, frozenset[str]], second: tuple[str, frozenset[str]]) -> bool:
    return first[0] == second[0] and bool(first[1] & second[1] or not (first[1] or second[1]))


@dataclass(frozen=True, slots=True)
class Furniture:
    """A box beside the content.

    Attributes:
        names: its id and classes, those left out that only one page had.
        n_pages: of the learned pages, how many have it.
        max_characters: of its text, on any of them.
        repeated_share: of its words those that stand on other pages, too, 0 to 1.
        is_links: is it mostly links? Then its length says nothing.
    """

    tag: str
    names: frozenset[str]
    n_pages: int
    max_characters: int
    repeated_share: float
    is_links: bool

    def is_like(self, tag: str, names: frozenset[str]) -> bool:
        if tag != self.tag:
            return False
        return not self.names or self.names <= names or likeness(self.names, names) >= 0.5

    def __str__(self) -> str:
        return self.tag + _selector(self.names)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from the body down to the content box.

    Attributes:
        names: the id and classes that the box must have.
        is_plain: must it have no others?
        place: which one of the boxes that would do, from 0.
        furniture: the boxes beside it.
        max_direct_characters: of text beside it that stands in no box.
    """

    tag: str
    names: frozenset[str]
    is_plain: bool
    place: int
    furniture: tuple[Furniture, ...]
    max_direct_characters: int

    def fits(self, tag: str, names: frozenset[str]) -> bool:
        if tag != self.tag or not self.names <= names or (self.is_plain and names):
            return False
        return bool(self.names) or not any(
            each.names and each.tag == tag and likeness(each.names, names) >= 0.3
            for each in self.furniture
        )

    def __str__(self) -> str:
        return self.tag + _selector(self.names)


@dataclass(frozen=True, slots=True)
class Template:
    """Where the pages of one template have their own text.

    Attributes:
        body_names: the id and classes of the body that all pages have.
        steps: the way down to the content box; none: it is the body itself.
        n_pages: how many pages it was learned from.
        entry: of a list of entries (a blog's index), what an entry looks like: a page with one
            entry is another kind of page.
        contents: where the body is the content box: the kinds of boxes directly in it.
        excluded: furniture directly in the body, where that is the content box.
        headings: headings that all pages have, such as the site's name.
        title_parts: parts of titles that all pages have, as `split_title` gives them.
    """

    body_names: frozenset[str]
    steps: tuple[Step, ...]
    n_pages: int
    entry: tuple[str, frozenset[str]] | None
    contents: Kinds
    excluded: tuple[Furniture, ...]
    headings: frozenset[str]
    title_parts: frozenset[str]

    def __str__(self) -> str:
        return " > ".join(["body", *map(str, self.steps)])

    def is_own_heading(self, heading: str) -> bool:
        return heading[:MAX_HEADING_CHARACTERS] not in self.headings

    def left_out(self) -> Iterable[Furniture]:
        """All furniture, outside in."""
        for step in self.steps:
            yield from step.furniture
        yield from self.excluded

    def to_json(self) -> dict[str, Any]:
        return {
            "body": sorted(self.body_names),
            "steps": [
                {
                    "tag": step.tag,
                    "names": sorted(step.names),
                    "plain": step.is_plain,
                    "place": step.place,
                    "beside": list(map(_furniture_to_json, step.furniture)),
                    "direct": step.max_direct_characters,
                }
                for step in self.steps
            ],
            "pages": self.n_pages,
            "entry": self.entry and [self.entry[0], sorted(self.entry[1])],
            "contents": sorted([tag, sorted(names)] for tag, names in self.contents),
            "excluded": list(map(_furniture_to_json, self.excluded)),
            "headings": sorted(self.headings),
            "title_parts": sorted(self.title_parts),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Template:
        entry = fields["entry"]
        return cls(
            body_names=frozenset(fields["body"]),
            steps=tuple(
                Step(
                    step["tag"],
                    frozenset(step["names"]),
                    step["plain"],
                    step["place"],
                    tuple(map(_furniture_from_json, step["beside"])),
                    step["direct"],
                )
                for step in fields["steps"]
            ),
            n_pages=fields["pages"],
            entry=entry and (entry[0], frozenset(entry[1])),
            contents=frozenset((tag, frozenset(names)) for tag, names in fields["contents"]),
            excluded=tuple(map(_furniture_from_json, fields["excluded"])),
            headings=frozenset(fields["headings"]),
            title_parts=frozenset(fields["title_parts"]),
        )


def _furniture_to_json(furniture: Furniture) -> list[Any]:
    return [
        furniture.tag,
        sorted(furniture.names),
        furniture.n_pages,
        furniture.max_characters,
        round(furniture.repeated_share, 3),
        furniture.is_links,
    ]


def _furniture_from_json(fields: list[Any]) -> Furniture:
    tag, names, *rest = fields
    return Furniture(tag, frozenset(names), *rest)


def _selector(names: frozenset[str]) -> str:
    return "".join(name if name.startswith("#") else f".{name}" for name in sorted(names))
