"""The text of lines in which a page differs from another one."""

from __future__ import annotations

from dedup.sites.lines import Keys, PageLines
from dedup.sites.stored import outline_of
from dedup.store.records import Page

_MAX_BYTES = 500_000
"""Larger pages are not parsed for this, as it happens in the crawl's own process."""

_MAX_LINES = 3
_MAX_CHARACTERS = 200


def lines_of_body(page: Page, keys: Keys) -> list[str]:
    """Return the text of up to three lines with these keys, from the page's body.

    The list is empty if the body is large, or was not kept.
    """
    outline = outline_of(page) if page.body and len(page.body) <= _MAX_BYTES else None
    if outline is None:
        return []
    lines = PageLines(outline)
    wanted = set(keys.tolist())
    found: dict[str, None] = {}
    for line, key in zip(lines.lines, lines.keys.tolist(), strict=True):
        if key in wanted:
            found[line.text[:_MAX_CHARACTERS]] = None
            if len(found) == _MAX_LINES:
                break
    return list(found)
