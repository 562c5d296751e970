"""Which of a job's pages and duplicates are asked for."""

import re
from dataclasses import dataclass
from sqlite3 import Connection


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

    def where(self, table: str, connection: Connection) -> tuple[str, list[object]]:
        """Return the condition on the rows `r` of `pages` or `duplicates`, and its parameters."""
        parts: list[tuple[str, list[object]]] = []
        if self.hosts:
            parts.append((f"r.host IN ({_marks(self.hosts)})", [*self.hosts]))
        if self.stages and table == "duplicates":
            parts.append((f"r.stage IN ({_marks(self.stages)})", [*self.stages]))
        elif self.stages:
            originals = f"SELECT original FROM duplicates WHERE stage IN ({_marks(self.stages)})"  # noqa: S608 -- only marks
            parts.append((f"r.number IN ({originals})", [*self.stages]))
        if self.since is not None:
            parts.append(("r.fetched_at >= ?", [self.since]))
        if self.url is not None:
            find = self.url.search
            connection.create_function(
                "is_selected", 1, lambda url: url is not None and find(url) is not None
            )
            parts.append(("is_selected(r.url)", []))
        condition = " AND ".join(text for text, _ in parts) or "TRUE"
        return condition, [value for _, values in parts for value in values]


EVERYTHING = Selection()


def _marks(values: tuple[str, ...]) -> str:
    return ",".join("?" * len(values))
