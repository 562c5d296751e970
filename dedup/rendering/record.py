"""How a page was read: rendered or not, and why."""

from __future__ import annotations

from typing import NamedTuple

from dedup.rendering.sketch import Sketch

TURNED_OVER, QUEUED_AGAIN = "turned_over", "again"
"""Reasons of pages that were not rendered and have to be; queued for that, in the second case."""

FAILED = "failed: "
"""Before the reason why a page could not be rendered."""


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
