"""What the templates of a job's hosts left out of texts, for the report."""

from __future__ import annotations

import json
from collections import Counter
from sqlite3 import Connection
from typing import Any

from dedup.templates.left_out import left_out_by
from dedup.templates.template import Template

MAX_TEMPLATES = 100
"""Templates that are listed, those with most pages."""

MAX_BOXES = 12
"""Boxes that are listed of each, the most common."""

_USED = """
SELECT host, template FROM pages WHERE template IS NOT NULL
UNION ALL SELECT host, template FROM duplicates WHERE template IS NOT NULL
"""


def site_templates(connection: Connection) -> list[dict[str, Any]]:
    """Return the templates of the job's hosts, those with most pages first.

    Each has its `host` and `number`, the way to the content `box`, its `pages` in this job, how
    many it was `learned` from, and the boxes `left_out`: their names, on how many of the pages
    learned from they are, the share of their words that stands on other pages, and whether they
    are mostly links.
    """
    counts = Counter(dict.fromkeys(_known(connection), 0))
    query = f"SELECT host, template, count(*) FROM ({_USED}) GROUP BY host, template"  # noqa: S608
    for host, number, count in connection.execute(query):
        if (host, number) in counts:
            counts[host, number] += count
    return [
        _described(connection, host, number, count)
        for (host, number), count in counts.most_common(MAX_TEMPLATES)
        if count
    ]


def _known(connection: Connection) -> list[tuple[str, int]]:
    query = "SELECT host, number FROM templates ORDER BY host, number"
    return [(host, number) for host, number in connection.execute(query)]


def _described(connection: Connection, host: str, number: int, pages: int) -> dict[str, Any]:
    query = "SELECT value FROM templates WHERE host = ? AND number = ?"
    (value,) = connection.execute(query, (host, number)).fetchone()
    template = Template.from_json(json.loads(value))
    return {
        "host": host,
        "number": number,
        "box": str(template),
        "pages": pages,
        "learned": template.n_pages,
        "left_out": [
            {
                "box": each.box,
                "pages": each.n_pages,
                "repeated": each.repeated_share,
                "is_links": each.is_links,
            }
            for each in left_out_by(template)[:MAX_BOXES]
        ],
    }
