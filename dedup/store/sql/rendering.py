"""How the pages of a job were read, and what is known of their templates."""

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple, cast

from dedup.rendering.learner import Kind, Template
from dedup.rendering.record import (
    BOTH_WAYS,
    FAILED,
    KEPT,
    LAST,
    LATER,
    QUEUED_AGAIN,
    TURNED_OVER,
    HowRead,
)
from dedup.rendering.sketch import from_bytes, to_bytes
from dedup.store.records import storable
from dedup.store.sql.database import Queries

_COLUMNS = ", ".join(HowRead._fields)
_NOTE = (
    f"INSERT INTO rendering ({_COLUMNS}) VALUES ({', '.join('?' * len(HowRead._fields))})"  # noqa: S608 -- our own names
    " ON CONFLICT (host, url) DO UPDATE SET template = excluded.template, kind = excluded.kind,"
    " is_rendered = excluded.is_rendered, why = excluded.why, seconds = excluded.seconds,"
    " is_same = excluded.is_same, sketch = coalesce(excluded.sketch, rendering.sketch),"
    " period = excluded.period"
)
_TEMPLATES = """
SELECT template, kind, sketch,
    (SELECT count(*) FROM rendering AS o
        WHERE o.host = r.host AND o.template = r.template AND o.is_same),
    (SELECT count(*) FROM rendering AS o
        WHERE o.host = r.host AND o.template = r.template AND NOT o.is_same),
    (SELECT max(period) FROM rendering AS o
        WHERE o.host = r.host AND o.template = r.template),
    (SELECT coalesce(max(period), 0) FROM rendering AS o
        WHERE o.host = r.host AND o.template = r.template AND o.is_same AND o.why = 'audit')
FROM rendering AS r WHERE host = ? AND sketch IS NOT NULL ORDER BY template
"""
_TURN_OVER = f"""
UPDATE rendering SET why = '{TURNED_OVER}'
WHERE host = ? AND template = ? AND period >= ? AND why IN ('static', 'duplicate', '{KEPT}')
"""  # noqa: S608 -- a constant
_TO_RENDER = """
SELECT r.url, p.number, d.number FROM rendering AS r
LEFT JOIN pages AS p ON p.url = r.url AND p.host = r.host
LEFT JOIN duplicates AS d ON d.url = r.url AND d.host = r.host
WHERE r.host = ? AND r.why LIKE ? AND (p.number IS NOT NULL OR d.number IS NOT NULL) LIMIT ?
"""
_DUPLICATES_AGAIN = f"""
SELECT d.url, d.number FROM rendering AS r
JOIN duplicates AS d ON d.url = r.url AND d.host = r.host
WHERE r.why = '{QUEUED_AGAIN}' OR r.why LIKE '{LAST}%'
"""  # noqa: S608 -- a constant
_COUNTS = """
SELECT why, is_rendered, count(*), sum(seconds), sum(CASE WHEN is_same IS NULL THEN 0 ELSE 1 END)
FROM rendering GROUP BY why, is_rendered
"""
_SLOWEST = """
SELECT host, template, kind, count(*), sum(seconds),
    sum(CASE WHEN is_rendered THEN 1 ELSE 0 END)
FROM rendering GROUP BY host, template, kind HAVING sum(seconds) > 0 ORDER BY 5 DESC LIMIT ?
"""


class ToRender(NamedTuple):
    """A recorded page that has to be rendered: its number, or that of its record as a duplicate."""

    url: str
    page: int | None
    duplicate: int | None


class RenderingTable(Queries):
    """A row for each page that was read while pages were rendered; by host and URL."""

    def note(self, read: HowRead) -> None:
        """Record how a page was read; it replaces what was recorded of its URL."""
        sketch = None if read.sketch is None else to_bytes(read.sketch)
        row = read._replace(url=storable(read.url), sketch=cast("Any", sketch))
        self._database.write(_NOTE, row, weight=1)

    def templates(self, host: str) -> list[Template]:
        """What is known of the templates of a host."""
        return [
            Template(
                number,
                cast("Kind", kind),
                from_bytes(sketch),
                n_same=same,
                n_other=other,
                period=period,
                since=since,
                is_stored=True,
            )
            for number, kind, sketch, same, other, period, since in self._database.all(
                _TEMPLATES, (host,)
            )
        ]

    def of_page(self, host: str, url: str) -> HowRead | None:
        """How a page was read last; None: pages were not rendered then."""
        query = f"SELECT {_COLUMNS} FROM rendering WHERE host = ? AND url = ?"  # noqa: S608 -- our own names
        row = self._database.first(query, (host, url))
        return None if row is None else HowRead(*row)._replace(is_rendered=bool(row[4]))

    def why_of(self, page: int) -> str | None:
        """Why a stored page, by its number, was rendered, or was not; None: it is not known."""
        query = (
            "SELECT r.why FROM pages AS p JOIN rendering AS r ON r.host = p.host AND r.url = p.url"
            " WHERE p.number = ?"
        )
        found: str | None = self._database.value(query, (page,))
        return found

    # --- Pages that have to be rendered after all ------------------------------------------------

    def turn_over(self, host: str, template: int, since: int) -> None:
        """Have the pages of a template, from a period on, rendered that were not."""
        self._database.write(_TURN_OVER, (host, template, since))

    def turn_over_failed(self, reasons: Collection[str] = ()) -> Counter[str]:
        """Have pages rendered that could not be; return how many, by reason.

        `reasons`: such as `rendering_timeout`; empty: all.
        """
        counts: Counter[str] = Counter()
        with self._database.unit() as connection:
            query = (
                "SELECT why, count(*) FROM rendering WHERE why LIKE ? OR why LIKE ? GROUP BY why"
            )
            for why, count in self._database.all(query, (f"{FAILED}%", f"{LATER}%")):
                reason = f"rendering_{why.partition(': ')[2]}"
                if not reasons or reason in reasons:
                    change = "UPDATE rendering SET why = ? WHERE why = ?"
                    connection.execute(change, (TURNED_OVER, why))
                    counts[reason] += count
            if counts:
                connection.execute("DELETE FROM meta WHERE name = 'finished'")
        return counts

    def hosts_to_render(self, why: str = TURNED_OVER) -> list[str]:
        """The hosts with pages that have to be rendered and are not queued for that.

        `why`: `TURNED_OVER`, or `LATER` for those that could not be rendered the first time.
        """
        query = "SELECT DISTINCT host FROM rendering WHERE why LIKE ? ORDER BY host"
        return [host for (host,) in self._database.all(query, (f"{why}%",))]

    def to_render(self, host: str, limit: int, why: str = TURNED_OVER) -> list[ToRender]:
        """Some recorded pages of a host that have to be rendered and are not queued for that."""
        return list(map(ToRender._make, self._database.all(_TO_RENDER, (host, f"{why}%", limit))))

    def note_queued(self, host: str, url: str) -> None:
        """Note that a page is queued to be rendered."""
        query = f"""
            UPDATE rendering SET why = CASE WHEN why LIKE '{LATER}%'
                THEN replace(why, '{LATER}', '{LAST}') ELSE '{QUEUED_AGAIN}' END
            WHERE host = ? AND url = ?
        """  # noqa: S608 -- constants
        self._database.write(query, (host, url), weight=1)

    def duplicates_again(self) -> dict[str, int]:
        """The numbers of duplicates that are queued to be rendered, by URL."""
        return self._database.pairs(_DUPLICATES_AGAIN)

    # --- Counts ----------------------------------------------------------------------------------

    def summary(self, n_templates: int) -> dict[str, Any]:
        """Pages by reason, seconds, and the templates that took most of them; {}: no pages.

        failed: pages that could not be rendered; later: those that come again by themselves
        compared: pages that were read both ways to find out whether they had to be
        """
        rendered: Counter[str] = Counter()
        raw: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        later: Counter[str] = Counter()
        seconds, n_both = 0.0, 0
        for why, is_rendered, count, its_seconds, n_compared in self._database.all(_COUNTS):
            before, is_failure, reason = why.rpartition(": ")
            if is_failure:
                (failed if f"{before}: " == FAILED else later)[reason] += count
            else:
                (rendered if is_rendered else raw)[why] += count
            seconds += its_seconds
            n_both += n_compared if why in BOTH_WAYS else 0
        if not (rendered or raw or failed or later):
            return {}
        names = ("host", "template", "kind", "pages", "seconds", "rendered")
        return {
            "rendered": dict(rendered),
            "raw": dict(raw),
            "failed": dict(failed),
            "later": dict(later),
            "compared": n_both,
            "seconds": round(seconds, 3),
            "templates": [
                dict(zip(names, row, strict=True))
                for row in self._database.all(_SLOWEST, (n_templates,))
            ],
        }
