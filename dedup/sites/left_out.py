"""Explains which boxes of a page are left out of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dedup.sites.lines import PageLines
from dedup.sites.outline import BODY, Box, Outline
from dedup.sites.own_text import Knowledge, Mask, Measured
from dedup.sites.site import Site, name_key


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A box that is not part of a page's text.

    Attributes:
        box: its tag, id and classes, as a CSS selector.
        words: the number of its words on this page.
        n_pages: how many of the `n_names` counted pages have such a box.
        repeated_share: the share of its words in lines that other pages also have, 0 to 1.
        is_links: is it mostly links?
    """

    box: str
    words: int
    n_pages: int
    n_names: int
    repeated_share: float
    is_links: bool

    def __str__(self) -> str:
        kind = "mostly links" if self.is_links else "words"
        pages = f"{self.n_pages:,}" if self.n_pages else "none"
        return (
            f"{self.box}, on {pages} of the {self.n_names:,} pages counted, {self.words:,} words"
            f" here ({kind}), {self.repeated_share:.0%} of them also on other pages"
        )


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of a page's text, and what is left out of it.

    Attributes:
        box: the path to its box, as a CSS selector.
        own_share: the share of the page's rare words that is in its text, 0 to 1.
        words_elsewhere: the number of words outside both, such as in boxes of one or two lines.
    """

    box: str
    left_out: tuple[LeftOut, ...]
    own_share: float
    words_elsewhere: int = 0


def text_place(site: Site, page: Outline, title: str, url: str) -> TextPlace | None:
    """Find the place of a page's text; None: nothing is known of its site."""
    if not site or not page.lines:
        return None
    lines = PageLines(page)
    known = site.known_of(lines, name_key(page, title, url))
    own = Measured(lines, known).own()
    weights = lines.sizes * known.rarity
    total = float(weights.sum())
    left_out = tuple(_left_out(known, lines, own.is_own))
    n_words = round(float(lines.sizes[~own.is_own].sum()))
    return TextPlace(
        way_to(page, int(lines.boxes[own.core])),
        left_out,
        float(weights[own.is_own].sum()) / total if total else 1.0,
        words_elsewhere=n_words - sum(each.words for each in left_out),
    )


def _left_out(known: Knowledge, lines: PageLines, is_own: Mask) -> Iterator[LeftOut]:
    """The outermost boxes without any line in the text, in document order."""
    is_out = lines.sums(is_own.astype(np.float64)) == 0
    end = 0
    for box in np.flatnonzero(is_out).tolist():
        if lines.first[box] < end:
            continue
        end = int(lines.end[box])
        part = slice(lines.first[box], end)
        words = float(lines.sizes[part].sum())
        if words:
            repeated = float((lines.sizes[part] * (known.rarity[part] < 1)).sum())
            yield LeftOut(
                box=selector(lines.outline.boxes[int(lines.boxes[box])]),
                words=round(words),
                n_pages=min(int(known.n_pages[box]), known.n_names),
                n_names=known.n_names,
                repeated_share=repeated / words,
                is_links=bool(2 * lines.linked[part].sum() >= words),
            )


def way_to(page: Outline, box: int) -> str:
    """The path from the body to a box, as a CSS selector."""
    way = [box]
    while way[-1] != BODY:
        way.append(page.boxes[way[-1]].parent)
    return " > ".join(selector(page.boxes[each]) for each in reversed(way))


def selector(box: Box) -> str:
    """The box as a CSS selector: its tag, id and classes.

    >>> selector(Box(-1, "div", ("#menu", "wide")))
    'div#menu.wide'
    """
    return box.tag + "".join(name if name[0] == "#" else f".{name}" for name in box.names)
