"""The outline of a stored page."""

from __future__ import annotations

from dedup.html import bounded, decode
from dedup.html.unfolding import page_outline
from dedup.sites.outline import Outline
from dedup.store.records import Page


def outline_of(page: Page) -> Outline | None:
    """Return the outline of a page; None: its body was not kept, or has no outline."""
    if not page.body or page.source in ("document", "shell", "state"):
        return None
    html = decode(page.body, page.content_type or None, host_encoding=page.encoding or None).text
    return page_outline(bounded(html), page.url or "")
