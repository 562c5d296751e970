"""Which declarations refuse a use, and how declarations are counted.

Sources, read in November 2026:

- `Content-Usage`: draft-ietf-aipref-vocab and draft-ietf-aipref-attach, as the IETF's working group
  had them in August 2026. A dictionary of structured fields with `y` or `n`, of the categories
  `train-ai` and `search`; what cannot be read says nothing; of several statements, one that
  disallows decides.
- `Content-Signal`: contentsignals.org (Cloudflare): `yes` or `no` for `search`, `ai-input` and
  `ai-train`.
- `tdm-reservation`: the TDM Reservation Protocol of W3C's community group, section "Processing
  priority": the page's markup before its header before the host's file; other values than 0 and 1
  say nothing.
- robots meta and `X-Robots-Tag`: `noindex` and `none` as crawlers obey them, and `noai`
  (DeviantArt, 2022). Rules for a named robot are passed over, as the crawler passes them over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dedup.preferences.declarations import ROBOTS_FILE, TDM_FILE, Declaration
from dedup.preferences.dictionary import read_dictionary
from dedup.preferences.directives import robots_directives

REFUSED_BY: Mapping[str, Mapping[str, frozenset[str]]] = {
    "train": {
        "content-usage": frozenset(["train-ai=n"]),
        "content-signal": frozenset(["ai-train=no"]),
        "tdm-reservation": frozenset(["1"]),
        "robots": frozenset(["noai"]),
    },
    "search": {
        "content-usage": frozenset(["search=n"]),
        "content-signal": frozenset(["search=no"]),
        "robots": frozenset(["noindex", "none"]),
    },
    "input": {"content-signal": frozenset(["ai-input=no"])},
}
"""By use and name: the terms that refuse it."""

NOT_READABLE = "not readable"

_TDM_PRIORITY = ("meta", "header", TDM_FILE)
_MAX_TERMS = 20
_MAX_TERM_CHARACTERS = 60


def refusals(use: str, declared: Iterable[Declaration]) -> list[str]:
    """The declarations of a page that refuse a use of `REFUSED_BY`, as they are counted."""
    refused_by = REFUSED_BY[use]
    return [
        _label(each, term)
        for each in _in_force(declared)
        for term in _terms(each)
        if term in refused_by.get(_kind(each.name), ())
    ]


def labels(declared: Iterable[Declaration]) -> Iterator[str]:
    """The declarations as they are counted, term by term."""
    for each in declared:
        for term in _terms(each)[:_MAX_TERMS]:
            yield _label(each, term)


def is_readable(declared: Declaration) -> bool:
    """Is a declaration in the form that its standard defines?"""
    return _terms(declared) != [NOT_READABLE]


def is_refusal(label: str) -> bool:
    """Does a declaration refuse one of the uses, as far as its label tells?"""
    name, _, term = label.partition(": ")
    kind = _kind(name.rpartition(" ")[2])
    return any(term in refused_by.get(kind, ()) for refused_by in REFUSED_BY.values())


def preference_in_rule(value: str) -> tuple[str, str]:
    """The path of a rule in robots.txt, and what it says of it; without a path, that is ""."""
    if not value.startswith("/"):
        return "", value
    path, *rest = value.split(None, 1)
    return path, rest[0] if rest else ""


_KINDS = {"x-robots-tag": "robots"}


def _kind(name: str) -> str:
    return _KINDS.get(name.lower(), name.lower())


def _label(declared: Declaration, term: str) -> str:
    return f"{declared.source} {declared.name}: {term[:_MAX_TERM_CHARACTERS]}"


def _in_force(declared: Iterable[Declaration]) -> list[Declaration]:
    """The declarations without reservations that a more specific one overrides."""
    found = list(declared)
    sources = {
        each.source for each in found if _kind(each.name) == "tdm-reservation" and is_readable(each)
    }
    first = next((source for source in _TDM_PRIORITY if source in sources), "")
    return [each for each in found if _kind(each.name) != "tdm-reservation" or each.source == first]


def _terms(declared: Declaration) -> Sequence[str]:
    """What a declaration says, one by one."""
    value = declared.value
    if declared.source in (ROBOTS_FILE, TDM_FILE):
        _, value = preference_in_rule(value)
    match _kind(declared.name):
        case "content-usage":
            found = read_dictionary(value)
            return [NOT_READABLE] if found is None else [f"{k}={v}" for k, v in found.items()]
        case "content-signal":
            return _signals(value) or [NOT_READABLE]
        case "robots":
            return sorted(robots_directives(value) - {""})
        case "tdm-reservation":
            reservation = value.partition(" ")[0] if declared.source == TDM_FILE else value
            return [reservation if reservation in ("0", "1") else NOT_READABLE]
        case _:
            return ["given"]


def _signals(value: str) -> list[str]:
    parts = (part.partition("=") for part in value.lower().split(","))
    return [f"{key.strip()}={word.strip()}" for key, sign, word in parts if sign]
