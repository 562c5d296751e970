"""The author of a page: a declared name that a reader finds on the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dedup.fields.declared import Declared
from dedup.fields.json_ld import main_nodes, names
from dedup.fields.names import cut, name_parts, without_by

_META = (
    *("author", "article:author", "og:article:author", "byl", "dc.creator", "dcterms.creator"),
    *("sailthru.author", "parsely-author", "citation_author"),
)
_NO_NAMES = frozenset(
    """
    admin administrator anonymous author editor guest root staff unknown webmaster 佚名 匿名 未知
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_NO_NAME = re.compile(r"://|^[\d\W]+$|@\w+\.\w|Taboola|Outbrain|Sponsored")
_MAX_NAME_CHARACTERS = 60
_MAX_AUTHORS = 10
_ABBREVIATION = 3
"""Letters of names that stand by accident in any text."""

_CHINESE_LINE = re.compile(
    r"(?:^|[\s|丨/])(?:作者|撰文)\s*[:：]\s*(?P<name>[\w·]{2,20}(?:[\s、][\w·]{2,8}){0,2})(?=$|[\s|丨/])"
)
_BY_LINE = re.compile(
    r"(?:(?:Posted|Written)\s+)?[Bb]y:?\s+"
    r"(?P<name>[A-Z][\w'’.-]*(?:\s(?:[A-Z][\w'’.-]*|de|van|von|der)){1,3})"
)


def author_of(declared: Declared, url: str) -> str | None:
    """The author, or several with commas between them; None: it is not certain."""
    for found in _candidates(declared, url):
        named = list(_named(found, declared))
        if named:
            return ", ".join(named[:_MAX_AUTHORS])
    return _by_line(declared.lines)


def _candidates(declared: Declared, url: str) -> Iterator[list[str]]:
    nodes = main_nodes(declared.nodes, url, declared.title)
    for node in nodes:
        yield list(names(node.get("author"), declared.nodes))
    yield [value for name, value in declared.properties if name == "author"]
    yield list(declared.authors)
    # Themes put the site's name there: it is the author's only where bylines stand.
    for name in _META:
        yield [each for each in declared.every(name) if _is_beside(each, declared.lines)]


def _is_beside(value: str, lines: Iterable[str]) -> bool:
    """Does a name stand, as words of their own, in a line beside the heading?"""
    name = re.compile(rf"(?<!\w){re.escape(without_by(value))}(?!\w)", re.IGNORECASE)
    return any(name.search(line) for line in lines)


def _named(found: Iterable[str], declared: Declared) -> Iterator[str]:
    """The names that stand on the page, each once."""
    sites = {each.lower() for each in declared.every("og:site_name", "application-name")}
    seen: set[str] = set()
    for value in found:
        for name in _shown_parts(value, declared):
            key = name.lower()
            if key not in seen and key not in sites:
                seen.add(key)
                yield name


def _shown_parts(value: str, declared: Declared) -> list[str]:
    parts = [part for part in name_parts(value) if part.lower() in declared.shown]
    if not parts or parts[0] != without_by(value):
        return [part for part in parts if is_name(part)]
    return parts[:1] if is_name(parts[0]) else []


def is_name(name: str) -> bool:
    """May it be a name, and no default of a program?"""
    if not 1 < len(name) <= _MAX_NAME_CHARACTERS or name.lower() in _NO_NAMES:
        return False
    return not _NO_NAME.search(name) and (len(name) > _ABBREVIATION or not name.isascii())


def _by_line(lines: Iterable[str]) -> str | None:
    """The author whom a line around the heading names as such."""
    for line in lines:
        found = _CHINESE_LINE.search(line) or _BY_LINE.fullmatch(line)
        if found is not None and is_name(name := cut(found["name"])):
            return name
    return None
