"""Does the raw page have what the rendered one has?"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document
from dedup.sites.outline import Outline
from dedup.text import normalise
from dedup.text.codepoints import hash_windows
from dedup.text.joined_texts import JoinedTexts

Shingles = NDArray[np.uint64]

NO_SHINGLES: Shingles = np.empty(0, np.uint64)

_KEPT_SHARE = 0.95

_FEW_SHINGLES = 50


class Form(NamedTuple):
    """A page, raw or rendered, with its links.

    Attributes:
        outline: of all that it shows, while little is known of its site, so that its text may
            change; else None.
    """

    page: Document
    links: Collection[str]
    outline: Outline | None = None

    def shown(self) -> Shingles:
        """The shingles of all that the page shows, ascending; without an outline, of its text."""
        if self.outline is None:
            return self.page.shingles
        text = normalise("\n".join(line.text for line in self.outline.lines))
        return JoinedTexts([text], unspaced=self.page.is_unspaced).shingles


def loses_nothing(
    raw: Form,
    rendered: Form,
    added: Shingles = NO_SHINGLES,
    known_links: Collection[str] = (),
) -> bool:
    """Has the raw page at least 95% of the rendered page's text, and of its links?

    What the raw page has besides does not count, nor do shingles that scripts have added to other
    pages, too, and links that other pages have. A raw page that is a shell has no text.
    """
    if raw.page.needs_rendering and not rendered.page.needs_rendering:
        return False
    own, known = set(raw.links), set(known_links)
    wanted = [link for link in rendered.links if link not in known]
    n_links = sum(link in own for link in wanted)
    return _text_share(raw, rendered, added) >= _KEPT_SHARE and n_links >= _KEPT_SHARE * len(wanted)


def has_lost_text(raw: Form, rendered: Form, common: Shingles, added: Shingles) -> bool:
    """Have scripts taken most of the raw page's own text away, and added less than half of that?

    Such as a note that asks readers to pay, or to reload. `common`: what other raw pages show;
    `added`: as for `loses_nothing`.
    """
    own = np.setdiff1d(raw.page.shingles, common)
    lost = np.setdiff1d(own, rendered.shown())
    new = np.setdiff1d(np.setdiff1d(rendered.page.shingles, raw.shown()), added)
    return len(lost) >= max(_FEW_SHINGLES, len(own) / 2, 2 * len(new))


def _text_share(raw: Form, rendered: Form, added: Shingles) -> float:
    """The share of the rendered text's shingles that the raw text has; of few words, of these.

    Where an added menu meets the text, shingles have words of both, which are all known: they are
    not missing. Nor are a few that the raw page shows beside its text: where little is known of a
    site, a text of few words beside a large menu is taken with all that the page shows.
    """
    texts = rendered.page.words
    shingles = hash_windows(texts.units, texts.width)
    if not len(shingles):
        words = rendered.page.normal_text.split()
        own = set(raw.page.normal_text.split())
        return sum(word in own for word in words) / len(words) if words else 1.0
    is_own = np.isin(shingles, raw.page.shingles)
    is_known = is_own | np.isin(shingles, added)
    missing = _missing(shingles, is_known, texts.width)
    if len(missing) and raw.outline is not None:
        lacking = _missing(shingles, is_known | np.isin(shingles, raw.shown()), texts.width)
        if len(missing) - len(lacking) < _FEW_SHINGLES:
            missing = lacking
    n_own = len(np.unique(shingles[is_own]))
    return n_own / (n_own + len(missing)) if n_own + len(missing) else 1.0


def _missing(shingles: Shingles, is_known: NDArray[np.bool_], width: int) -> Shingles:
    return np.unique(shingles[_have_a_missing_unit(is_known, width)])


def _have_a_missing_unit(is_known: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Of the shingles of a text, in order: which have a unit that is in no known shingle?"""
    is_there = np.zeros(len(is_known) + width - 1, np.bool_)
    for place in range(width):
        is_there[place : place + len(is_known)] |= is_known
    is_whole = np.ones(len(is_known), np.bool_)
    for place in range(width):
        is_whole &= is_there[place : place + len(is_known)]
    return ~is_whole
