"""Dates in lines, as pages write them."""

from __future__ import annotations

import re

_NAMES = "january february march april may june july august september october november december"
MONTHS = "|".join([*_NAMES.split(), *(name[:3] for name in _NAMES.split()), "sept"])
"""In English, of a regular expression for lower case."""

_YEAR, _DAY, _MONTH = r"(?:19|20)\d\d", r"\d{1,2}", rf"(?:{MONTHS})"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_DATES = (
    rf"{_YEAR}([-/.]){_DAY}\1{_DAY}",
    rf"{_DAY}([-/.]){_DAY}\2{_YEAR}",
    rf"{_YEAR}\s?年\s?{_DAY}\s?月\s?{_DAY}\s?日",
    rf"\b{_MONTH}\.?\s{_NTH},?\s{_YEAR}",
    rf"{_NTH}\.?[\s-]{_MONTH}\.?,?[\s-]{_YEAR}",
)
_DATE = re.compile(rf"(?<!\d)(?:{'|'.join(_DATES)})(?!\d)")
_TIMES = (
    r"\d{1,2}:\d\d(?::\d\d)?(?!\d)",
    r"\d+\s?(?:second|minute|hour|day|week|month|year)s?\sago\b",
    r"\d+\s?(?:秒|分钟|小时|天|周|个月|年)前",
    rf"{_YEAR}[-/.年]\s?{_DAY}(?:(?!\d)|月)",
    rf"\b{_MONTH}\.?\s{_NTH}(?!\d)",
    rf"{_NTH}\.?[\s-]{_MONTH}\b",
    rf"{_YEAR}(?![.,]?\d)",
)
"""Of a day, before now, or dates that lack a part."""

_MOMENT = re.compile(rf"(?<![\d.,])(?:{'|'.join((*_DATES, *_TIMES))})")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]")
_MAX_DATE = 40
_MAX_BEHIND = 24
"""Characters that may stand behind the date of an update: an author, links to neighbours."""


def up_to_date(line: str) -> str:
    """A line in lower case without the few words behind a date that some words introduce.

    >>> up_to_date("last updated on dec 16, 2022 by me")
    'last updated on dec 16, 2022'
    """
    for found in _DATE.finditer(line, max(0, len(line) - _MAX_BEHIND - _MAX_DATE)):
        if len(line) - found.end() <= _MAX_BEHIND and _WORD.search(line, 0, found.start()):
            return line[: found.end()]
    return line


def is_date(line: str) -> bool:
    """Is a line in lower case a date, and nothing else?"""
    return _DATE.fullmatch(line.strip()) is not None


def numbers(line: str) -> list[str]:
    """The numbers of a line in lower case, without those of dates and times.

    >>> numbers("may 3, 2024: 1,200 for $3.50")
    ['1,200', '3.50']
    """
    return _NUMBER.findall(_MOMENT.sub(" ", line))
