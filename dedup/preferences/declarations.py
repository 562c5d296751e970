"""What a page or a host declares of the uses of its content, as it was declared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

HEADERS = ("Content-Usage", "Content-Signal", "X-Robots-Tag", "TDM-Reservation", "TDM-Policy")
METAS = frozenset(["robots", "tdm-reservation", "tdm-policy"])

ROBOTS_FILE, TDM_FILE = "robots.txt", "tdmrep.json"
"""The sources of a host's declarations. Their values may begin with a path."""

MAX_VALUE_CHARACTERS = 1_000
MAX_DECLARATIONS = 20
"""Of a page, from its headers and from its markup each. Pages have one to five."""

MAX_RULES = 200
"""Of a host. Each is matched against each of its pages."""


class Declaration(NamedTuple):
    """A declaration.

    Attributes:
        source: `header`, `meta`, `robots.txt` or `tdmrep.json`.
        name: of the header, the meta element or the rule.
        value: as it was declared; of a long one the beginning.
    """

    source: str
    name: str
    value: str


def of_headers(values: Callable[[str], Iterable[bytes]]) -> list[Declaration]:
    """The declarations of a response, given the values of its headers by name."""
    found = [(name, value.decode("latin-1")) for name in HEADERS for value in values(name)]
    return _declarations("header", found)


def of_meta(contents: Iterable[tuple[str, str]]) -> list[Declaration]:
    """The declarations of a page, given its meta elements' names and contents."""
    return _declarations("meta", contents)


def of_robots_file(rules: Iterable[tuple[str, str]]) -> list[Declaration]:
    """The declarations of a host, given the names and values of its rules."""
    return _declarations(ROBOTS_FILE, rules, at_most=MAX_RULES)


def of_tdm_file(body: bytes) -> list[Declaration]:
    """The declarations of a host, given its `/.well-known/tdmrep.json`.

    Each is a path, a reservation, and the address of a policy if there is one.
    """
    try:
        rules: Any = json.loads(body)
    except (ValueError, RecursionError):
        return []
    found = map(_tdm_rule, rules if isinstance(rules, list) else ())
    named = [("tdm-reservation", each) for each in found]
    return _declarations(TDM_FILE, named, at_most=MAX_RULES)


def to_json(declared: Iterable[Declaration]) -> str:
    """The declarations as they are stored; "": there are none."""
    found = [list(each) for each in declared]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""


def from_json(text: str) -> list[Declaration]:
    """The declarations that `to_json` wrote.

    Raises:
        ValueError: the text is something else.
    """
    try:
        found: Any = json.loads(text) if text else []
    except RecursionError as error:
        raise ValueError(f"not declarations: {error}") from error
    if not isinstance(found, list) or not all(map(_is_declaration, found)):
        raise ValueError(f"not declarations: {text[:100]!r}")
    return [Declaration(*each) for each in found]


def _declarations(
    source: str, found: Iterable[tuple[str, str]], *, at_most: int = MAX_DECLARATIONS
) -> list[Declaration]:
    cut = [Declaration(source, name, _storable(value)) for name, value in found]
    return [each for each in cut if each.value][:at_most]


def _storable(value: str) -> str:
    """The beginning of a value, without lone surrogates, which databases refuse."""
    return value.strip()[:MAX_VALUE_CHARACTERS].encode("utf-8", "replace").decode()


def _tdm_rule(rule: Any) -> str:
    """A rule as one line; "": it is not one."""
    if not isinstance(rule, dict) or not isinstance(path := rule.get("location"), str):
        return ""
    words = (rule.get(name, "") for name in ("tdm-reservation", "tdm-policy"))
    path = "%20".join(path.split())
    told = [str(word) if isinstance(word, str | int) else "" for word in words]
    return " ".join([f"/{path.removeprefix('/')}", *told])


def _is_declaration(found: object) -> bool:
    is_whole = isinstance(found, list) and len(found) == len(Declaration._fields)
    return is_whole and all(isinstance(each, str) for each in found)  # type: ignore[attr-defined]
