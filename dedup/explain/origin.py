"""Where a page's text comes from, and which boxes are not part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dedup.document import TextSource
from dedup.rendering.record import HowRead
from dedup.sites.left_out import LeftOut, text_place
from dedup.sites.site import Site, rest_by_itself
from dedup.sites.state import read_state
from dedup.sites.stored import outline_of
from dedup.store import JobStore, Page
from dedup.urls.parts import host_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrigin:
    """Where a page's text comes from.

    Attributes:
        source: see `Document.source`.
        box: the CSS selector of its box; None: the page's body is not kept, or nothing is known
            about its site.
        n_names: the number of pages of the host counted for the current knowledge.
        left_out: boxes that are not part of the text.
        own_share: the share of the page's rare words that is in its text, 0 to 1.
        words_elsewhere: words outside the text and these boxes, as in a box of one or two lines.
        how_read: was the page rendered, and why? None: pages were not rendered then.
        spared_in: the last refresh that knew the rendered page to be the same without rendering it;
            0: there was none since it was rendered.
        is_as_read: would the current knowledge give the stored text? If not, the page was read
            when less was known, and the boxes are those of a text read now.
    """

    source: TextSource
    box: str | None = None
    n_names: int = 0
    left_out: tuple[LeftOut, ...] = ()
    own_share: float | None = None
    words_elsewhere: int = 0
    how_read: HowRead | None = None
    spared_in: int = 0
    is_as_read: bool = True


def text_origin(store: JobStore, page: Page) -> TextOrigin:
    """Find where the text of a page of the job comes from."""
    host, url = host_of(page.url), page.url or ""
    how_read = store.learned.rendering.of_page(host, url)
    spared_in = store.learned.inputs.spared_in(host, url)
    return replace(_text_origin(store, page), how_read=how_read, spared_in=spared_in)


def _text_origin(store: JobStore, page: Page) -> TextOrigin:
    site = site_of(store, host_of(page.url))
    if page.source != "box" or not site:
        return TextOrigin(source=page.source)
    body, title, url = outline_of(page), page.title, page.url or ""
    place = None if body is None else text_place(site, body, title, url)
    own = None if body is None else site.read(body, title, url)
    if place is None or own is None:
        return TextOrigin(source=page.source, n_names=site.n_names)
    return TextOrigin(
        source=page.source,
        box=place.box,
        n_names=site.n_names,
        left_out=place.left_out,
        own_share=place.own_share,
        words_elsewhere=place.words_elsewhere,
        is_as_read=own.text == page.text,
    )


def site_of(store: JobStore, host: str) -> Site:
    """What the job knows about a host."""
    return read_state(host, store.learned.site(host)).site


def with_whole_rest(page: Page, site: Site) -> Page:
    """The page with all its rare shingles, as when it was judged; the store keeps some of them.

    A page without a stored body or rare shingles is returned unchanged.
    """
    body = outline_of(page) if page.rest is not None else None
    if body is None:
        return page
    own = site.read(body, page.title, page.url or "")
    return replace(page, rest=rest_by_itself(body) if own is None else own.rest)
