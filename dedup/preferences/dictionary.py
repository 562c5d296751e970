"""Dictionaries of HTTP's structured fields (RFC 9651, section 3.2)."""

from __future__ import annotations

import re

_BARE = r"""(?:
    -?\d{1,12}\.\d{1,3} | -?\d{1,15}                        # numbers
    | "(?:[ !#-\[\]-~]|\\["\\])*+"                          # strings
    | [A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*+              # tokens
    | :[A-Za-z0-9+/=]*+: | \?[01] | @-?\d{1,15}             # bytes, truth values, dates
    | %"(?:[ !#$&-~]|%[0-9a-f]{2})*+"                       # texts
)"""
_KEY = r"[a-z*][a-z0-9_\-.*]*+"
_PARAMETERS = rf"(?:;\ *+{_KEY}(?:={_BARE})?+)*+"
_ITEM = rf"{_BARE}{_PARAMETERS}"
_LIST = rf"\(\ *+(?:{_ITEM}(?:\ ++{_ITEM})*+\ *+)?+\)"
_MEMBER = re.compile(
    rf"(?P<key>{_KEY})(?:=(?P<value>{_BARE}|{_LIST}))?+{_PARAMETERS}", re.ASCII | re.VERBOSE
)
_COMMA = re.compile(r"[ \t]*+,[ \t]*+")


def read_dictionary(text: str) -> dict[str, str] | None:
    """The values by key as written, without parameters; None: it is not a dictionary.

    Of a key that stands twice, the last value counts. A key without a value has `?1`, true.

    >>> read_dictionary("train-ai=n;x=1, search")
    {'train-ai': 'n', 'search': '?1'}
    """
    text = text.strip(" ")
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        member = _MEMBER.match(text, place)
        if member is None:
            return None
        found[member["key"]] = member["value"] or "?1"
        place = member.end()
        if place == len(text):
            return found
        comma = _COMMA.match(text, place)
        if comma is None or comma.end() == len(text):
            return None
        place = comma.end()
    return found
