"""Which of a job's pages and duplicates are asked for."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A record is in it if it fits all that is given; what is not given leaves out nothing.

    Attributes:
        hosts: host and port as in the URL, lower case; one of them.
        stages: duplicates found by one of these, and the pages that such duplicates refer to.
        since: fetched at this time or later, seconds since 1970.
        url: found somewhere in the URL; a record without a URL does not fit.
    """

    hosts: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    since: float | None = None
    url: re.Pattern[str] | None = None


EVERYTHING = Selection()
