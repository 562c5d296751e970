"""Which row of several duplicates stays: criteria in their order, and what they rank rows by."""

from array import array
from collections.abc import Sequence
from datetime import UTC, date, datetime
from math import inf, isnan, nan
from reprlib import repr as shorten
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FIRST = "first"
LONGEST = "longest"
LOWEST = "lowest"
_BY_COLUMN = ("newest", "highest", LOWEST)

_RULE = (
    f"keep must be {FIRST}, or {LONGEST}, {', '.join(f'{word}:COLUMN' for word in _BY_COLUMN)},"
    " several in their order"
)


class Criterion(NamedTuple):
    """What makes a row preferable to another one.

    Attributes:
        word: `longest`: the longest text; `newest` and `highest`: the greatest value of the column;
            `lowest`: the least one.
        column: of numbers, or of dates and times of ISO 8601.
    """

    word: str
    column: str | None = None

    def __str__(self) -> str:
        return self.word if self.column is None else f"{self.word}:{self.column}"


def read_keep(given: str) -> tuple[Criterion, ...]:
    """Read the option: criteria parted by commas; the first row comes last, named or not.

    Raises:
        ValueError: it is something else.

    >>> [str(each) for each in read_keep("longest, newest:date,first")]
    ['longest', 'newest:date']
    """
    words = [each.strip() for each in given.split(",")]
    if words[-1] == FIRST:
        words.pop()
    return tuple(_criterion(word, given) for word in words)


def _criterion(given: str, keep: str) -> Criterion:
    word, colon, column = given.partition(":")
    if given == LONGEST:
        return Criterion(LONGEST)
    if word in _BY_COLUMN and colon and column:
        return Criterion(word, column)
    raise ValueError(f"{_RULE}, got {keep!r}")


class Readings(NamedTuple):
    """What a value is as a number, and as a time in seconds since 1970; NaN: it is none.

    `is_given` tells one that is missing (null, empty, NaN) from one that can be read as neither.
    """

    is_given: bool
    number: float
    time: float


def readings_of(value: Any) -> Readings:
    """Read a value: a number, a text that is one, or a date or time, without a zone UTC.

    >>> readings_of("12"), readings_of("1970-01-02"), readings_of("")
    (Readings(is_given=True, number=12.0, time=nan), Readings(is_given=True, number=nan, \
time=86400.0), Readings(is_given=False, number=nan, time=nan))
    """
    if value is None or (isinstance(value, str) and not value) or value != value:  # NaN
        return Readings(False, nan, nan)
    return Readings(True, _read(_number, value), _read(_time, value))


def _read(read: Any, value: Any) -> float:
    try:
        found: float = read(value)
    except (TypeError, ValueError, OverflowError):
        return nan
    return found


def _number(value: Any) -> float:
    if isinstance(value, date | bytes):
        raise TypeError
    return float(value)


def _time(value: Any) -> float:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    raise TypeError


class ColumnRead(NamedTuple):
    """How the values of a criterion's column are read, all in the same way.

    Attributes:
        as_times: as times, and not as numbers.
        unreadable: how many values are none; they rank last, as missing ones do.
    """

    as_times: bool
    unreadable: int


def column_read(
    criterion: Criterion, given: int, numbers: int, times: int, wrong: str = ""
) -> ColumnRead:
    """Decide how a column is read: in the way that reads more of its values, else as numbers.

    Args:
        criterion: names the column.
        given: how many values it has.
        numbers: how many of them are numbers.
        times: how many are dates or times.
        wrong: one that is neither, where known.

    Raises:
        ValueError: no value is either.
    """
    if given and not (numbers or times):
        raise ValueError(
            f"{criterion} must be a column of numbers or of ISO 8601 dates or times"
            f"{wrong and f', found {wrong}'}"
        )
    return ColumnRead(times > numbers, given - max(numbers, times))


def unreadable_told(criterion: Criterion, found: ColumnRead) -> str:
    """A sentence on values of a column that rank last."""
    kind = "dates or times of ISO 8601" if found.as_times else "numbers"
    return f"{criterion}: {found.unreadable:,} values are no {kind}, and rank last"


class Preferences:
    """How much each row is preferred, criterion by criterion. 16 bytes for each row and column."""

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._ranks = [_Lengths() if each.word == LONGEST else _Values(each) for each in criteria]

    def add(self, text: str, values: dict[str | None, Any]) -> None:
        """Note a row: its text, and its values by column."""
        for each in self._ranks:
            each.add(text, values)

    def ranked(self) -> list[NDArray[np.float64]]:
        """For each criterion a number for each row: the greatest is preferred.

        Raises:
            ValueError: a column has values, and none can be read.
        """
        return [each.ranked() for each in self._ranks]

    def told(self) -> list[str]:
        """Sentences on values that could not be read."""
        return [sentence for each in self._ranks for sentence in each.told]


class _Lengths:
    """Of texts."""

    def __init__(self) -> None:
        self._lengths = array("d")
        self.told: list[str] = []

    def add(self, text: str, values: dict[str | None, Any]) -> None:  # noqa: ARG002 -- as `_Values`
        self._lengths.append(len(text))

    def ranked(self) -> NDArray[np.float64]:
        return np.array(self._lengths)


class _Values:
    """Of a column."""

    def __init__(self, criterion: Criterion) -> None:
        self._criterion = criterion
        self._numbers = array("d")
        self._times = array("d")
        self._given = 0
        self._wrong = ""
        self.told: list[str] = []

    def add(self, text: str, values: dict[str | None, Any]) -> None:  # noqa: ARG002 -- as `_Lengths`
        value = values[self._criterion.column]
        found = readings_of(value)
        self._given += found.is_given
        self._numbers.append(found.number)
        self._times.append(found.time)
        if found.is_given and isnan(found.number) and isnan(found.time):
            self._wrong = self._wrong or shorten(value)

    def ranked(self) -> NDArray[np.float64]:
        both = [np.array(each) for each in (self._numbers, self._times)]
        numbers, times = (int(np.count_nonzero(~np.isnan(each))) for each in both)
        found = column_read(self._criterion, self._given, numbers, times, self._wrong)
        if found.unreadable:
            self.told = [unreadable_told(self._criterion, found)]
        values = both[found.as_times]
        if self._criterion.word == LOWEST:
            values = -values
        return np.where(np.isnan(values), -inf, values)
