"""Reads a page without state: from its bytes to its text, links and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.config import DedupConfig
from dedup.detectors import default_signers
from dedup.html import Bounded, HtmlPage, bounded, decode, parse_page
from dedup.html.page_text import PageText, page_text
from dedup.html.shell import needs_rendering
from dedup.html.structured import state_text
from dedup.rendering.sketch import RawTemplate
from dedup.rendering.template import template_of
from dedup.sites.outline import Box, Line, Outline
from dedup.sites.second_look import Rest
from dedup.sites.site import Site, rest_by_itself
from dedup.store import Page
from dedup.store.records import with_text

MAX_TAGS = 1_000_000
"""A parser takes over 5 s and 1 GB for more. The HTML standard on one page has half of this."""


class TooComplexError(Exception):
    """The page is larger than the parser is given."""


class Unread(NamedTuple):
    """Why a page could not be read; `reason` is recorded.

    Attributes:
        traceback: of an unexpected error, for the log.
    """

    reason: str
    detail: str
    traceback: str = ""


class RawPage(NamedTuple):
    """A page as received: HTML, or a document.

    Attributes:
        body: after decompression.
        content_type: the header's value; "" if there was none.
        robots_headers: the values of the X-Robots-Tag headers.
        host_encoding: the encoding of the host's other pages, if it is known.
        format: of a document, see `dedup.documents.formats`; "": it is HTML.
    """

    body: bytes
    url: str
    content_type: str
    robots_headers: tuple[str, ...]
    host_encoding: str | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read from pages.

    Attributes:
        extractor: see `extract_text`.
        links: are links wanted?
        is_nofollow_obeyed: are links omitted that the page asks robots not to follow?
        bodies: are bodies stored?
        stages: of the detectors that judge the page; none: the crawl's process computes features
            when a detector asks for them.
        detection: the settings of the detectors.
        templates: are some pages rendered? It depends on their templates.
        routes: do links keep their routes? See `dedup.urls.routes`.
        cpu_seconds: CPU time that a reading process may take for one page.
        memory_mb: memory that a reading process may take.
    """

    extractor: str
    links: bool
    is_nofollow_obeyed: bool
    bodies: bool
    stages: frozenset[str]
    detection: DedupConfig
    templates: bool = False
    routes: bool = False
    cpu_seconds: float = 5.0
    memory_mb: int = 1000


class Features(NamedTuple):
    """What is computed of a page for the detectors and the store, see `Page`."""

    shingles: NDArray[np.uint64]
    signatures: Mapping[str, bytes | None]
    packed_text: bytes
    packed_body: bytes | None


class Content(NamedTuple):
    """What was read from a page.

    Attributes:
        page: its metadata, without `hrefs`.
        extracted: its text, and where the text comes from.
        links: to follow, as `HtmlPage.links`; none if they are not wanted.
        nofollow_links: those that the page asks robots not to follow.
        n_links_left: number of links that are omitted because there are too many.
        features: None: no detector needs any.
        encoding: of its bytes; "": it is a document.
        is_encoding_sure: see `Decoded`.
        site_version: of what was known of its site.
        template: None: it is not wanted.
    """

    page: HtmlPage
    extracted: PageText
    encoding: str
    is_encoding_sure: bool
    links: list[str]
    nofollow_links: list[str]
    n_links_left: int
    features: Features | None
    site_version: int
    template: RawTemplate | None = None

    def complete(self, page: Page) -> Page:
        """A page of which the response's own facts are known, with what was read from it."""
        page = replace(
            with_text(page, self.extracted),
            title=self.page.title,
            language=self.page.language or page.language,
            canonical_url=self.page.canonical_url,
            encoding=self.encoding,
        )
        if self.features:
            page.take(shingles=self.features.shingles, signatures=self.features.signatures)
            page.take_packed(self.features.packed_text, self.features.packed_body)
        return page


class ContentReader:
    """Decodes and parses a page once, and reads what is wanted from it.

    For a bad page it raises only `TooComplexError`, for a bad document `DocumentError`. It does not
    bound its time and memory; the process that it runs in does: see `dedup.scrapy.reading.worker`.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        signers = default_signers(wanted.detection)
        self._signers = [each for each in signers if each.stage in wanted.stages]

    def read(self, raw: RawPage, site: Site | None = None) -> Content:
        """Read a page with the knowledge of its site; None: nothing is learned of sites."""
        if raw.format:
            return self._read_document(raw, site)
        n_tags = raw.body.count(b"<")
        if n_tags > MAX_TAGS:
            raise TooComplexError(f"{n_tags:,} tags; the limit is {MAX_TAGS:,}")
        decoded = decode(raw.body, raw.content_type or None, host_encoding=raw.host_encoding)
        html = bounded(decoded.text)
        page = parse_page(
            html,
            raw.url,
            encoding=decoded.encoding,
            robots_headers=raw.robots_headers,
            has_routes=self._wanted.routes,
        )
        extracted = self._text(html, page.title, raw.url, site)
        links, nofollow_links, n_links_left = self._links(page)
        return Content(
            page=replace(page, hrefs=(), nofollow_hrefs=frozenset()),
            extracted=extracted,
            encoding=decoded.encoding,
            is_encoding_sure=decoded.is_sure,
            links=links,
            nofollow_links=nofollow_links,
            n_links_left=n_links_left,
            features=self._features(raw, page, extracted),
            site_version=site.version if site is not None else 0,
            template=template_of(html) if self._wanted.templates else None,
        )

    def _text(self, html: Bounded, title: str, url: str, site: Site | None) -> PageText:
        """The page's text. A shell is always read by itself, so that visits find the same text."""
        extractor = self._wanted.extractor
        found = page_text(html, title, extractor=extractor, site=site, url=url)
        if not needs_rendering(html, found.text):
            return found
        alone = page_text(html, title, extractor=extractor)
        if not needs_rendering(html, alone.text):
            return alone
        if state := state_text(html):
            return replace(alone, text=f"{alone.text}\n{state}".strip(), source="state")
        return replace(alone, source="shell")

    def _read_document(self, raw: RawPage, site: Site | None) -> Content:
        """Read a document. Nothing is learned from it, as it has no boxes, and no link followed."""
        from dedup.documents.formats import read_document  # most crawls read no documents

        found = read_document(raw.body, raw.format)
        page = replace(
            parse_page("", raw.url, robots_headers=raw.robots_headers),
            title=found.title,
            language=found.about.language.lower(),
        )
        extracted = PageText(
            *(found.text, found.heading, found.own_title),
            source="document",
            rest=_rest_of(found.text),
        )
        return Content(
            page=page,
            extracted=extracted,
            encoding="",
            is_encoding_sure=True,
            links=[],
            nofollow_links=[],
            n_links_left=0,
            features=self._features(raw, page, extracted),
            site_version=site.version if site is not None else 0,
        )

    def _links(self, page: HtmlPage) -> tuple[list[str], list[str], int]:
        """The links to follow, those not to follow, and the number of those omitted."""
        if not self._wanted.links:
            return [], [], 0
        every, n_left = page.bounded_links(with_nofollow=True)
        if not self._wanted.is_nofollow_obeyed:
            return every, [], n_left
        if page.is_nofollow:
            return [], every, n_left
        if not page.nofollow_hrefs:
            return every, [], n_left
        links, n_left = page.bounded_links()
        followed = set(links)
        return links, [url for url in every if url not in followed], n_left

    def _features(self, raw: RawPage, page: HtmlPage, extracted: PageText) -> Features | None:
        if not self._signers:
            return None
        document = Page(
            id="",
            text=extracted.text,
            title=page.title,
            body=raw.body,
            heading=extracted.heading,
            own_title=extracted.title,
            source=extracted.source,
        )
        return Features(
            shingles=document.shingles,
            signatures={each.key: each.sign(document) for each in self._signers},
            packed_text=document.packed_text,
            packed_body=document.packed_body if self._wanted.bodies else None,
        )


def _rest_of(text: str) -> Rest:
    """What a second look compares of a document: its lines are all that it has."""
    lines = [Line(0, line, line, "p") for line in text.split("\n")]
    return rest_by_itself(Outline([Box(-1, "body", ())], lines))
