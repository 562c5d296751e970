"""What a stored page is made of, from its body."""

from __future__ import annotations

from dedup.html import bounded, decode
from dedup.html.unfolding import page_outline
from dedup.sites.outline import Outline
from dedup.store.records import Page


def outline_of(page: Page) -> Outline | None:
    """The outline of a page; None: its body is not kept, or has none."""
    if not page.body:
        return None
    html = decode(page.body, page.content_type or None, host_encoding=page.encoding or None).text
    return page_outline(bounded(html))
