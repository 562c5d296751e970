"""In which order rows are judged, so that the right one of several stays.

Being duplicates is not transitive, so no row is chosen from a group: rows are judged in the order
of preference, and each is compared with those that stay.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray


def judging_order(groups: Sequence[int], preferences: Sequence[float] | None) -> NDArray[np.int64]:
    """Return the places of all rows, group by group; in each the greatest preference first.

    Args:
        groups: the number of each row's group.
        preferences: of each row; None: those that come first. Of equal ones the first does.
    """
    places = np.arange(len(groups))
    liked = np.zeros(len(groups)) if preferences is None else -np.asarray(preferences, np.float64)
    return np.lexsort((places, liked, np.asarray(groups, np.int64))).astype(np.int64)


def as_times(values: Sequence[Any], column: str) -> list[float]:
    """Return a number for each value of a column, the greater the newer.

    Values are numbers, texts that are numbers, or dates and times of ISO 8601, without a zone UTC;
    not numbers in one row and times in another. A missing one is the oldest.

    Raises:
        ValueError: a value is none of these.

    >>> as_times(["2024-01-02", None, "2024-01-02T00:00:01Z"], "day")
    [1704153600.0, -inf, 1704153601.0]
    """
    for read in (_number, _time):
        found: list[float] = []
        for value in values:
            try:
                found.append(-np.inf if _is_missing(value) else read(value))
            except (TypeError, ValueError, OverflowError):
                wrong = value
                break
        else:
            return found
    raise ValueError(
        f"newest:{column} must be a column of numbers or of ISO 8601 dates or times, found"
        f" {wrong!r}"
    )


def _is_missing(value: Any) -> bool:
    return value is None or value == ""


def _number(value: Any) -> float:
    if isinstance(value, date):
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
