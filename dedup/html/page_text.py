"""The text of a page: read with knowledge of its site, or from the page alone."""

from __future__ import annotations

from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser

from dedup.document import TextSource
from dedup.html.bounds import Bounded
from dedup.html.main_text import DEFAULT_EXTRACTOR, main_text
from dedup.html.unfolding import page_outline
from dedup.sites.outline import outline
from dedup.sites.site import PageText, Site, rest_by_itself

__all__ = ["PageText", "heading_of", "page_text"]

_MAX_LINES = 20_000
"""A page with more lines or boxes neither waits nor is read again from its outline."""


def page_text(
    page: Bounded,
    title: str,
    *,
    extractor: str = DEFAULT_EXTRACTOR,
    site: Site | None = None,
    url: str = "",
) -> PageText:
    """Read a page's text, with knowledge of its site or from the page alone.

    Args:
        page: a page of bounded depth.
        title: the page's `<title>`.
        extractor: see `extract_text`; only `content` uses knowledge of sites.
        site: what is known of the page's site; None: nothing is learned of sites.
        url: the page's URL; the name of its file may be the page's only name.
    """
    may_learn = extractor == "content" and site is not None
    found = page_outline(page, url) if may_learn else None
    is_usual = found is not None and 0 < max(len(found.lines), len(found.boxes)) <= _MAX_LINES
    if found is not None and site:
        own = site.read(found, title, url)
        if own is not None:
            return replace(own, outline=None if site.is_settled or not is_usual else found)
    text, is_declared = main_text(page, extractor=extractor)
    source: TextSource = "given"  # by another extractor, which the user has chosen
    if extractor == "content":
        source = "landmark" if is_declared else "page"
    if not is_usual:
        found = None
    return PageText(
        text=text,
        heading=heading_of(page.tree),
        title=title,
        source=source,
        rest=None if found is None else rest_by_itself(found),
        outline=found if found is not None and found.lines else None,
    )


def heading_of(tree: LexborHTMLParser) -> str:
    """The first `<h1>`, or else `<h2>`, that has text."""
    for name in ("h1", "h2"):
        for node in tree.css(name):
            if lines := outline(node, with_links=False).lines:
                return lines[0].text
    return ""
