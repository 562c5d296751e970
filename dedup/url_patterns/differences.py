"""The differences between two URLs of the same page."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dedup.urls.parts import UrlParts, parameter_name, split_canonical, split_url
from dedup.urls.rules import RULES, UrlRules

_PRINT = re.compile(r"(?<![a-z])print(?!ing|ed|s(?![a-z]))", re.IGNORECASE)
_ALL_RULES = UrlRules(RULES)
_SCHEME, _HOST, _PORT, _PATH, _QUERY = 0, 2, 3, 4, 5
_PARTS_OF_RULES = {
    "https": (_SCHEME, _PORT),
    "www": (_HOST,),
    "session": (_PATH, _QUERY),
    "tracking": (_QUERY,),
    "index": (_PATH,),
    "slash": (_PATH,),
}
"""The parts of a URL that each rule depends on."""


class UrlDifference(NamedTuple):
    """One difference between two URLs. `place` is where in the path."""

    kind: str
    first: str = ""
    second: str = ""
    place: str = ""


def url_differences(url: str, original: str) -> Iterator[UrlDifference]:
    """Yield the differences between two URLs: by the rules of `dedup.urls`, and others.

    Leaves out parts that differ in too many ways for a pattern, and URLs that are not of the web.
    Parts that the rules make equal are not repeated.
    """
    try:
        first, second = split_web_url(url), split_web_url(original)
    except ValueError:
        return
    if first == second:
        return
    yield from (UrlDifference(name) for name in RULES if _is_rules_work(name, first, second))
    first, second = _ALL_RULES(first), _ALL_RULES(second)
    if first[1:4] != second[1:4]:
        yield _unordered("host", first.host + first.port, second.host + second.port)
    yield from _query_differences(first.query, second.query)
    yield from _path_differences(first.path, second.path)


def split_web_url(url: str) -> UrlParts:
    return split_canonical(url.partition("#")[0]) or split_url(url)


def _is_rules_work(name: str, first: UrlParts, second: UrlParts) -> bool:
    """Does the rule change only one of the two, or make a part equal?"""
    if all(first[place] == second[place] for place in _PARTS_OF_RULES[name]):
        return False  # the rule changes nothing; this check saves most of the time
    rule = RULES[name]
    first_after, second_after = rule(first), rule(second)
    if (first_after == first) != (second_after == second):
        return True
    parts = zip(first, second, first_after, second_after, strict=True)
    return any(a != b and a_after == b_after for a, b, a_after, b_after in parts)


def _query_differences(first: str, second: str) -> Iterator[UrlDifference]:
    for text in set(first.split("&")) ^ set(second.split("&")):
        if _PRINT.search(text):
            yield UrlDifference("print", text)
        elif text in (first, second) and text and "=" not in text:
            yield UrlDifference("bare-query")
        elif text:
            yield UrlDifference("parameter", parameter_name(text))


def _path_differences(first: str, second: str) -> Iterator[UrlDifference]:
    """A segment that differs or is missing, or the surplus of the last one, such as "-print"."""
    a, b = first.split("/"), second.split("/")
    while a and b and a[0] == b[0]:
        del a[0], b[0]
    place = "end"
    while a and b and a[-1] == b[-1]:
        del a[-1], b[-1]
        place = "directory"
    if max(len(a), len(b)) != 1:
        return
    name, other = "".join(a), "".join(b)
    more = _surplus(name, other) if name and other and place == "end" else ""
    if more and not (more[0].isalnum() and more[-1].isalnum()):  # not the "no" of "nobody"
        name, other, place = more, "", "name"
    kind = "print" if _PRINT.search(name) or _PRINT.search(other) else "path"
    yield _unordered(kind, name, other, place)


def _surplus(name: str, other: str) -> str:
    """What one of two names has in addition, in one place; "": they differ in another way."""
    shorter, longer = sorted((name, other), key=len)
    pairs = enumerate(zip(shorter, longer, strict=False))
    start = next((place for place, (a, b) in pairs if a != b), len(shorter))
    if longer.endswith(shorter[start:]):
        return longer[start : start + len(longer) - len(shorter)]
    return ""


def _unordered(kind: str, first: str, second: str, place: str = "") -> UrlDifference:
    smaller, larger = sorted((first, second))
    return UrlDifference(kind, larger, smaller, place)
