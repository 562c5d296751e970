"""The text of a page of a site: by what its other pages repeat, where that is known."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from dedup.document import TextSource
from dedup.html.bounds import Bounded
from dedup.html.main_text import DEFAULT_EXTRACTOR, main_text
from dedup.html.unfolding import page_outline
from dedup.sites.counts import Contribution
from dedup.sites.outline import Outline, outline
from dedup.sites.rest import Rest
from dedup.sites.site import OwnText, Site, rest_by_itself

_MAX_LINES = 20_000
"""A page of more lines or boxes does not wait, nor is it read again from its outline."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, and how that is known.

    Attributes:
        text: a line for each line of the page.
        heading: the page's own heading; "" where it has none.
        title: the page's title without the site's part, as far as that is known.
        source: see `Document.source`.
        site_version: of what was known of the site; 0: nothing was.
        rest: what is rare on the page; None: nothing is known of its lines.
        contribution: what the page adds to what is known of its site.
        outline: to learn from, and to read it from once more is known; None: neither is needed.
    """

    text: str
    heading: str
    title: str
    source: TextSource
    site_version: int = 0
    rest: Rest | None = None
    contribution: Contribution | None = None
    outline: Outline | None = None


def page_text(
    page: Bounded,
    title: str,
    *,
    extractor: str = DEFAULT_EXTRACTOR,
    site: Site | None = None,
    url: str = "",
) -> PageText:
    """Read a page's text: by `site`, or by what the page itself tells.

    Args:
        page: of bounded depth.
        title: the page's `<title>`.
        extractor: see `extract_text`; only `content` knows of sites.
        site: what is known of the page's site; None: the site is not known, and nothing is to be
            learned of it.
        url: of the page; its file's name may be all that names it.
    """
    may_learn = extractor == "content" and site is not None
    found = page_outline(page) if may_learn else None
    is_usual = found is not None and 0 < max(len(found.lines), len(found.boxes)) <= _MAX_LINES
    if found is not None and site:
        own = site.read(found, title, url)
        if own is not None:
            return text_by_site(own, None if site.is_settled or not is_usual else found)
    text, is_declared = main_text(page, extractor=extractor)
    source: TextSource = "given"  # of another extractor, which the user vouches for
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


def text_by_site(own: OwnText, page: Outline | None = None) -> PageText:
    """The text of a page that was read by what is known of its site, with its outline or not."""
    return PageText(
        own.text,
        own.heading,
        own.title,
        "box",
        own.version,
        own.rest,
        own.contribution,
        page,
    )


def heading_of(tree: LexborHTMLParser) -> str:
    """The first `<h1>`, or else `<h2>`, that has text."""
    for name in ("h1", "h2"):
        for node in tree.css(name):
            if lines := outline(node, with_links=False).lines:
                return lines[0].text
    return ""
