"""The lines of a page that tell it from another, in words."""

from __future__ import annotations

from dedup.html import bounded, decode
from dedup.html.unfolding import unfolded
from dedup.sites.lines import Keys, PageLines
from dedup.sites.outline import outline
from dedup.store.records import Page

_MAX_BYTES = 500_000
"""Of a page that is parsed for this; it is done in the crawl's own process."""

_MAX_LINES = 3
_MAX_CHARACTERS = 200


def lines_of_body(page: Page, keys: Keys) -> list[str]:
    """Return up to three of the lines of these keys, as the page's body has them.

    None where the body is large, or not there.
    """
    if not page.body or len(page.body) > _MAX_BYTES:
        return []
    text = decode(page.body, page.content_type or None, host_encoding=page.encoding or None).text
    body = unfolded(bounded(text)).body
    if body is None:
        return []
    lines = PageLines(outline(body).without_inner_boxes())
    wanted = set(keys.tolist())
    found: dict[str, None] = {}
    for line, key in zip(lines.lines, lines.keys.tolist(), strict=True):
        if key in wanted:
            found[line.text[:_MAX_CHARACTERS]] = None
            if len(found) == _MAX_LINES:
                break
    return list(found)
