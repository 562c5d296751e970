"""The lines of a page that tell it from another, in words."""

from __future__ import annotations

from dedup.sites.lines import Keys, PageLines
from dedup.sites.stored import outline_of
from dedup.store.records import Page

_MAX_BYTES = 500_000
"""Of a page that is parsed for this; it is done in the crawl's own process."""

_MAX_LINES = 3
_MAX_CHARACTERS = 200


def lines_of_body(page: Page, keys: Keys) -> list[str]:
    """Return up to three of the lines of these keys, as the page's body has them.

    There are none where the body is large, or not kept.
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
