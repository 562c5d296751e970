"""The text of a page of a site: by the site's templates, where they are known."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from dedup.document import TextSource
from dedup.html.bounds import Bounded
from dedup.html.main_text import DEFAULT_EXTRACTOR, main_text
from dedup.html.unfolding import unfolded
from dedup.templates.outline import Outline, outline
from dedup.templates.site import OwnText, Site

_MAX_LINES = 20_000
"""A page of more lines or boxes is no page to learn a template from: learning takes time for each
in the process that crawls."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, and how that is known.

    Attributes:
        text: a line for each line of the page.
        heading: the page's own heading; "" where it has none.
        title: the page's title without the site's part, as far as that is known.
        source: see `Document.source`.
        template: the number of the site's template; None: the page is of none that is known.
        outline: of a page of no known template, to learn from; None: there is nothing to learn.
    """

    text: str
    heading: str
    title: str
    source: TextSource
    template: int | None = None
    outline: Outline | None = None


def page_text(
    page: Bounded, title: str, *, extractor: str = DEFAULT_EXTRACTOR, site: Site | None = None
) -> PageText:
    """Read a page's text: by `site`, or by what the page itself tells.

    Args:
        page: of bounded depth.
        title: the page's `<title>`.
        extractor: see `extract_text`; only `content` knows of templates.
        site: the templates known of the page's site; None: the site is not known, and nothing is to
            be learned of it.
    """
    may_learn = extractor == "content" and site is not None and not page.is_flat
    body = unfolded(page).body if may_learn else None
    if body is not None and site is not None:
        own = site.read(body, title)
        if own is not None:
            return text_by_template(own)
    text, is_declared = main_text(page, extractor=extractor)
    source: TextSource = "given"  # of another extractor, which the user vouches for
    if extractor == "content":
        source = "landmark" if is_declared else "page"
    found = None if body is None else outline(body).without_inner_boxes()
    if found is not None and max(len(found.lines), len(found.boxes)) > _MAX_LINES:
        found = None
    return PageText(
        text=text,
        heading=heading_of(page.tree),
        title=title,
        source=source,
        outline=found if found is not None and found.lines else None,
    )


def text_by_template(own: OwnText) -> PageText:
    return PageText(own.text, own.heading, own.title, "box", own.template)


def heading_of(tree: LexborHTMLParser) -> str:
    """The first `<h1>`, or else `<h2>`, that has text."""
    for name in ("h1", "h2"):
        for node in tree.css(name):
            if lines := outline(node, with_links=False).lines:
                return lines[0].text
    return ""
