"""Where a page's text comes from, and what was left out of it."""

from __future__ import annotations

from dataclasses import dataclass

from dedup.document import TextSource
from dedup.html import bounded, decode
from dedup.html.unfolding import unfolded
from dedup.sites.learner import SiteState
from dedup.sites.left_out import LeftOut, text_place
from dedup.sites.outline import Outline, outline
from dedup.sites.site import Site
from dedup.store import JobStore, Page
from dedup.urls.parts import host_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrigin:
    """Where a page's text comes from.

    Attributes:
        source: see `Document.source`.
        box: the way to its box, as a CSS selector; None: the page's body is not kept.
        n_names: how many pages of the host were counted.
        left_out: boxes that are no part of the text.
    """

    source: TextSource
    box: str | None = None
    n_names: int = 0
    left_out: tuple[LeftOut, ...] = ()


def text_origin(store: JobStore, page: Page) -> TextOrigin:
    """Tell where the text of a page of the job comes from."""
    site = site_of(store, host_of(page.url))
    body = outline_of(page)
    if page.source != "box" or not site:
        return TextOrigin(source=page.source)
    place = None if body is None else text_place(site, body, page.title, page.url or "")
    if place is None:
        return TextOrigin(source=page.source, n_names=site.n_names)
    return TextOrigin(
        source=page.source, box=place.box, n_names=site.n_names, left_out=place.left_out
    )


def site_of(store: JobStore, host: str) -> Site:
    """What the job knows of a host."""
    data = store.learned.site(host)
    try:
        return Site() if data is None else SiteState.from_bytes(data).site
    except ValueError:
        return Site()


def outline_of(page: Page) -> Outline | None:
    """The outline of a page whose body is kept."""
    if not page.body:
        return None
    html = decode(page.body, page.content_type or None, host_encoding=page.encoding or None).text
    body = unfolded(bounded(html)).body
    return None if body is None else outline(body).without_inner_boxes()
