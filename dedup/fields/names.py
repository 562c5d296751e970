"""Short values that pages declare, and the names of people in them."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 1_000
"""Descriptions are the longest values that count; texts of articles are not needed."""

_SEPARATORS = re.compile(r"\s*(?:,|;|、|/|&|\band\b|\bund\b)\s*")
_BY = re.compile(r"^(?:[a-z]{4,8}\s+)?by\s*:?\s+|^\w{2,10}\s*[:：]\s*", re.IGNORECASE)
_AFFILIATION = re.compile(
    r"\s+[|–—]\s.*|,\s(?:[A-Z]{2,5}|[\w. -]*\b(?i:writer|press|reporter|staff|editor|correspondent"
    r"|contributor|insider|news|magazine|\w+\.(?:com|org|net)))(?:$|,\s.*)"
)


def cut(text: str | None) -> str:
    """A value with white space folded, up to the length that counts."""
    return " ".join((text or "")[: 2 * _MAX_CHARACTERS].split())[:_MAX_CHARACTERS]


def without_by(value: str) -> str:
    """A byline without the words in front of the names, and what its author works for.

    >>> without_by("By Ann Lee, AP Auto Writer"), without_by("作者：王伟")
    ('Ann Lee', '王伟')
    """
    if "://" in value:
        return ""
    return _AFFILIATION.sub("", _BY.sub("", cut(value))).strip()


def name_parts(value: str) -> list[str]:
    """The names in a byline: the whole, and its parts.

    >>> name_parts("By Ann Lee and Bo Ek")
    ['Ann Lee and Bo Ek', 'Ann Lee', 'Bo Ek']
    """
    whole = without_by(value)
    parts = [part for part in _SEPARATORS.split(whole) if part]
    return list(dict.fromkeys([whole, *parts])) if whole else []
