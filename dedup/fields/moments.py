"""Dates and times as pages write them.

Only forms that can mean one day are read: `05/06/2019` is May in one country and June in another,
so it is not read, and neither is a year of two digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone

_FIRST_YEAR = 1990
"""Earlier dates, such as those of January 1970 and of the year 1, are defaults of programs."""

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<{0}>(?:19|20)\d\d)(?!\d)"
_DATE = re.compile(
    rf"""(?<![\d./-])(?:
        {_YEAR.format("y1")}\s?(?P<mark>[-/.]|年|년)\s?(?P<m1>\d{{1,2}})\s?(?:(?P=mark)|月|월)\s?
            (?P<d1>\d{{1,2}})(?!\d)(?:日|일)?
      | (?P<y4>(?:19|20)\d\d)(?P<m4>[01]\d)(?P<d4>[0-3]\d)(?=\D|$)
      | {_MONTH.format("m2")}\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s{_YEAR.format("y2")}
      | (?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[\s-]{_MONTH.format("m3")},?[\s-]{_YEAR.format("y3")}
      | (?P<a>\d{{1,2}})(?P<sign>[./-])(?P<b>\d{{1,2}})(?P=sign){_YEAR.format("y5")}
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TIME = re.compile(
    r"""(?P<hour>[012]?\d)[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d)(?:[.,]\d{1,9})?)?(?!\d)
        \s?(?P<half>[ap]\.?m\b\.?)?\s?
        (?P<zone>(?:Z|UTC|GMT)(?:\s?[+-]\d\d:?\d\d)?\b|[+-]\d\d(?::?\d\d)?(?![\d:]))?""",
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(r"(?:T|\s|,|@|at\b|/|-|–|\||•|星期.|\(.\))*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, or a time of a day.

    Attributes:
        at: with a zone if that is known; a date alone has the time 0:00.
        precision: what is known of it: "days", "minutes" or "seconds".
    """

    at: datetime
    precision: str = "days"

    @property
    def day(self) -> date:
        """The day in the zone in which it was written."""
        return self.at.date()

    def is_near(self, other: Moment) -> bool:
        """May it be the same moment in another zone?"""
        return abs(self.day - other.day) <= timedelta(days=1)

    def is_same(self, other: Moment) -> bool:
        """Is it the same moment as far as is known of both?"""
        if "days" in (self.precision, other.precision):
            return self.day == other.day
        first, second = self.at, other.at
        if (first.tzinfo is None) != (second.tzinfo is None):
            first, second = first.replace(tzinfo=None), second.replace(tzinfo=None)
        return abs(first - second) < timedelta(minutes=2)

    def is_before(self, other: Moment) -> bool:
        """Is it earlier, as far as is known of both?"""
        if not self.is_near(other):
            return self.day < other.day
        if self.is_same(other) or (self.at.tzinfo is None) != (other.at.tzinfo is None):
            return False
        if "days" in (self.precision, other.precision):
            return self.day < other.day
        return self.at < other.at

    def as_day(self) -> Moment:
        return Moment(datetime.combine(self.day, datetime.min.time()))

    def __str__(self) -> str:
        if self.precision == "days":
            return self.day.isoformat()
        return self.at.isoformat(timespec=self.precision).replace("+00:00", "Z")


def moment(text: str, *, latest: date | None = None) -> Moment | None:
    """The first date in a text, with the time that stands beside it; None: there is none.

    Args:
        text: a short one.
        latest: a later day is read as nothing.

    >>> str(moment("Mon, 18 Nov 2019 16:07:38 -0600")), str(moment("2019年11月25日 18:57"))
    ('2019-11-18T16:07:38-06:00', '2019-11-25T18:57')
    """
    return next(moments(text, latest=latest), None)


def moments(text: str, *, latest: date | None = None) -> Iterator[Moment]:
    """All dates in a text, each as `moment` reads it."""
    return (found for found, _ in labelled_moments(text, latest=latest))


def labelled_moments(text: str, *, latest: date | None = None) -> Iterator[tuple[Moment, str]]:
    """All dates in a text, and of each the words between it and the date before."""
    end = 0
    for found in _DATE.finditer(text):
        label, end = text[end : found.start()], found.end()
        day = _day(found)
        if day is not None and (latest is None or day <= latest):
            yield _with_time(day, text, found), label


def dates_in(text: str) -> str:
    """The parts of a text that are dates."""
    return " ".join(found[0] for found in _DATE.finditer(text))


def _with_time(day: date, text: str, found: re.Match[str]) -> Moment:
    """With the time behind the date, or else in front of it."""
    start = datetime.combine(day, datetime.min.time())
    between = _BETWEEN.match(text, found.end())
    time = _TIME.match(text, between.end() if between else found.end())
    if time is None:
        before = list(_TIME.finditer(text, 0, found.start()))[-1:]
        time = before[0] if before and _is_beside(text[before[0].end() : found.start()]) else None
    if time is None or (at := _at(start, time)) is None or at.time() == start.time():
        return Moment(start)  # programs write midnight where they know the day alone
    return Moment(at, "minutes" if time["second"] is None else "seconds")


def _is_beside(text: str) -> bool:
    """May a text stand between a time and its date: a weekday, a zone?"""
    return re.fullmatch(r"[\s,|•]*(?:[A-Za-z]{2,9}[\s,]+){0,2}", text) is not None


def _at(start: datetime, time: re.Match[str]) -> datetime | None:
    hour = int(time["hour"])
    if time["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (time["half"][0] in "pP")
    if hour > 23:
        return None
    at = start.replace(hour=hour, minute=int(time["minute"]), second=int(time["second"] or 0))
    return at.replace(tzinfo=_zone(time["zone"]))


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    digits = re.sub(r"[^\d+-]", "", text)
    if not digits:
        return UTC
    minutes = 60 * int(digits[1:3]) + int(digits[3:5] or 0)
    if minutes >= 24 * 60:
        return None
    return timezone(timedelta(minutes=-minutes if digits[0] == "-" else minutes))


def _day(found: re.Match[str]) -> date | None:
    numbers = _numbers(found)
    if numbers is None or numbers[0] < _FIRST_YEAR:
        return None
    try:
        return date(*numbers)
    except ValueError:
        return None


def _numbers(found: re.Match[str]) -> tuple[int, int, int] | None:
    """Year, month and day; None: the text may mean two days."""
    for year, month, day in (("y1", "m1", "d1"), ("y4", "m4", "d4")):
        if found[year]:
            return int(found[year]), int(found[month]), int(found[day])
    for year, month, day in (("y2", "m2", "d2"), ("y3", "m3", "d3")):
        if found[year]:
            number = _MONTHS.index(found[month][:3].lower()) + 1
            return int(found[year]), number, int(found[day])
    first, second = int(found["a"]), int(found["b"])
    if first <= 12 and second <= 12 and first != second:
        return None
    numbers = (first, second) if second > 12 else (second, first)
    return int(found["y5"]), *numbers
