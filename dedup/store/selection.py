"""Which of a job's pages and duplicates to export."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A record is selected if it meets all the conditions that are given.

    Attributes:
        hosts: its host is one of these: with port as in the URL, lower case.
        stages: a duplicate found by one of these stages, or the original of such a duplicate.
        since: fetched at this time or later, seconds since 1970.
        url: the URL contains a match; records without a URL have none.
        without: pages that are left out, by number, with their duplicates.
    """

    hosts: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    since: float | None = None
    url: re.Pattern[str] | None = None
    without: frozenset[int] = frozenset()


EVERYTHING = Selection()
