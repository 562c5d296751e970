"""How a page was read: rendered or not, and why."""

from __future__ import annotations

from typing import NamedTuple

from dedup.rendering.sketch import Sketch

TURNED_OVER, QUEUED_AGAIN = "turned_over", "again"
"""Reasons of pages that were not rendered and have to be; queued for that, in the second case."""

FAILED = "failed: "
"""Before the reason why a page could not be rendered."""

LATER, LAST = "later: ", "last: "
"""Instead of `FAILED`: pages that are rendered once more when nothing else is left; and those that
are queued for that."""

KEPT = "kept"
"""The reason of a page that was rendered, and is stored as it was before."""

BOTH_WAYS = ("first", "audit")
"""Reasons of pages that are rendered to find out whether they had to be."""

_WORDS = {
    "always": "every page is",
    "shell": "its text is made by scripts",
    "template": "pages of its template lack something before scripts run",
    "first": "one of the first pages of its template, which are read both ways",
    "audit": "read both ways, to see whether its template still needs no browser",
    "no_scripts": "it has nothing that changes it in a browser",
    "static": "pages of its template lack nothing before scripts run",
    "duplicate": "its text before scripts run is that of another page",
    KEPT: "its scripts have taken most of its text away",
    TURNED_OVER: "pages of its template need it, as was found later; the crawl fetches it again",
    QUEUED_AGAIN: "pages of its template need it, as was found later; it is queued for that",
}


def reading_words(why: str) -> str:
    """Why a page was rendered, or was not, in words."""
    for before in (LATER, LAST):
        if why.startswith(before):
            return f"{FAILED}{why.removeprefix(before)}; it is rendered again when nothing is left"
    return _WORDS.get(why, why)


class HowRead(NamedTuple):
    """How a page was read.

    Attributes:
        host: as the store names it.
        template: its number; None: it was not asked for.
        kind: see `dedup.rendering.learner.Kind`.
        is_rendered: is the page as it is after its scripts have run?
        why: see `dedup.rendering.learner.Why`.
        seconds: that rendering took; 0: it was not tried.
        is_same: did its raw form lack nothing? None: they were not compared.
        sketch: of the template's first page.
        period: see `dedup.rendering.learner.Template`.
    """

    host: str
    url: str
    template: int | None
    kind: str
    is_rendered: bool
    why: str
    seconds: float = 0.0
    is_same: bool | None = None
    sketch: Sketch | None = None
    period: int = 0
