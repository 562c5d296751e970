"""What the templates of a job's hosts left out of texts, for the report."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dedup.store import JobStore
from dedup.templates.left_out import left_out_by
from dedup.templates.template import Template

MAX_TEMPLATES = 100
"""Templates that are listed, those with most pages."""

MAX_BOXES = 12
"""Boxes that are listed of each, the most common."""


def site_templates(store: JobStore) -> list[dict[str, Any]]:
    """Return the templates of the job's hosts, those with most pages first.

    Each has its `host` and `number`, the way to the content `box`, its `pages` in this job, how
    many it was `learned` from, and the boxes `left_out`: their names, on how many of the pages
    learned from they are, the share of their words that stands on other pages, and whether they
    are mostly links.
    """
    counts = Counter(dict.fromkeys(store.learned.template_numbers(), 0))
    for used, count in store.report.pages_by_template().items():
        if used in counts:
            counts[used] += count
    return [
        _described(store.learned.template(host, number), host, number, count)
        for (host, number), count in counts.most_common(MAX_TEMPLATES)
        if count
    ]


def _described(template: Template, host: str, number: int, pages: int) -> dict[str, Any]:
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
