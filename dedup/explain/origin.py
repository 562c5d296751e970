"""Where a page's text comes from, and what was left out of it."""

from __future__ import annotations

from dataclasses import dataclass

from dedup.document import TextSource
from dedup.html import bounded, decode
from dedup.html.unfolding import unfolded
from dedup.store import JobStore, Page
from dedup.templates.left_out import LeftOut, left_out_by, left_out_of
from dedup.templates.outline import outline
from dedup.templates.template import Template
from dedup.urls.parts import host_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrigin:
    """Where a page's text comes from.

    Attributes:
        source: see `Document.source`.
        template: the number of the template of the page's host; None: none was known.
        box: the way to the content box, as a CSS selector.
        n_learned: how many pages the template was learned from.
        left_out: boxes that are no part of the text.
        is_of_page: are those the boxes of this very page? Else, where its body is not kept, they
            are those of its template.
    """

    source: TextSource
    template: int | None = None
    box: str | None = None
    n_learned: int = 0
    left_out: tuple[LeftOut, ...] = ()
    is_of_page: bool = False


def text_origin(store: JobStore, page: Page) -> TextOrigin:
    """Tell where the text of a page of the job comes from."""
    if page.source != "box" or page.template is None:
        return TextOrigin(source=page.source)
    templates = store.learned.templates(host_of(page.url))
    if page.template >= len(templates):
        return TextOrigin(source=page.source)
    template = templates[page.template]
    left_out = _left_out_of_page(template, page)
    is_of_page = left_out is not None
    return TextOrigin(
        source=page.source,
        template=page.template,
        box=str(template),
        n_learned=template.n_pages,
        left_out=tuple(left_out_by(template) if left_out is None else left_out),
        is_of_page=is_of_page,
    )


def _left_out_of_page(template: Template, page: Page) -> list[LeftOut] | None:
    if not page.body:
        return None
    html = decode(page.body, page.content_type or None, host_encoding=page.encoding or None).text
    body = unfolded(bounded(html)).body
    return None if body is None else left_out_of(template, outline(body))
