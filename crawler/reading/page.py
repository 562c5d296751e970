"""What takes a page's time and needs no state: from its bytes to text, links and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.config import DedupConfig
from dedup.detectors import default_detectors
from dedup.html import HtmlPage, bounded, decode, extract_text, parse_page
from dedup.store import Page


class RawPage(NamedTuple):
    """An HTML page as received.

    Attributes:
        body: after decompression.
        content_type: the header's value; "" if there was none.
        robots_headers: the values of the X-Robots-Tag headers.
    """

    body: bytes
    url: str
    content_type: str
    robots_headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read from pages.

    Attributes:
        extractor: see `extract_text`.
        links: are links wanted?
        bodies: are bodies stored?
        stages: the detectors that look at the page; none: features are computed where they are
            needed.
        detection: the settings of those.
    """

    extractor: str
    links: bool
    bodies: bool
    stages: frozenset[str]
    detection: DedupConfig


class Features(NamedTuple):
    """What is computed of a page for the detectors and the store, under the names of `Page`."""

    shingles: NDArray[np.uint64]
    signatures: Mapping[str, bytes | None]
    packed_text: bytes
    packed_body: bytes | None


class Known(NamedTuple):
    """Features, and of what."""

    text: str
    title: str
    body: bytes
    features: Features

    def give(self, page: Page) -> None:
        """Hand them to a page, unless a pipeline has changed what they were computed of."""
        if page.text is self.text and page.title is self.title and page.body is self.body:
            vars(page).update(self.features._asdict())  # where `cached_property` looks


class Content(NamedTuple):
    """What a page says.

    Attributes:
        page: its metadata, without `hrefs`.
        links: as `HtmlPage.links`; none where they are not wanted.
        features: None where no detector wants any.
    """

    page: HtmlPage
    text: str
    encoding: str
    links: list[str]
    features: Features | None


class ContentReader:
    """Decodes once, parses once, and takes out what is wanted. Never raises for a bad page."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        detectors = default_detectors(_no_original, wanted.detection)
        self._detectors = [each for each in detectors if each.stage in wanted.stages]

    def read(self, raw: RawPage) -> Content:
        decoded = decode(raw.body, raw.content_type or None)
        html = bounded(decoded.text)
        page = parse_page(html, raw.url, robots_headers=raw.robots_headers)
        text = extract_text(html, extractor=self._wanted.extractor)
        return Content(
            page=replace(page, hrefs=()),
            text=text,
            encoding=decoded.encoding,
            links=page.links() if self._wanted.links else [],
            features=self._features(raw, page, text),
        )

    def _features(self, raw: RawPage, page: HtmlPage, text: str) -> Features | None:
        if not self._detectors:
            return None
        document = Page(id="", text=text, title=page.title, body=raw.body)
        return Features(
            shingles=document.shingles,
            signatures={each.stage: each.signature(document) for each in self._detectors},
            packed_text=document.packed_text,
            packed_body=document.packed_body if self._wanted.bodies else None,
        )


def _no_original(number: int) -> Any:
    raise KeyError(number)
