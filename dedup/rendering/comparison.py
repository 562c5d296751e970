"""Does the raw page have what the rendered one has?"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document
from dedup.text.codepoints import hash_windows

_KEPT_SHARE = 0.95

_NO_SHINGLES: NDArray[np.uint64] = np.empty(0, np.uint64)


def loses_nothing(
    raw: Document,
    rendered: Document,
    raw_links: Collection[str],
    links: Collection[str],
    added: NDArray[np.uint64] = _NO_SHINGLES,
    added_links: Collection[str] = (),
) -> bool:
    """Has the raw page at least 95% of the rendered page's text, and of its links?

    What the raw page has besides does not count, nor do shingles and links that scripts have added
    to other pages, too. A raw page that is a shell has no text.
    """
    if raw.needs_rendering and not rendered.needs_rendering:
        return False
    own, known = set(raw_links), set(added_links)
    wanted = [link for link in links if link in own or link not in known]
    n_links = sum(link in own for link in wanted)
    return _text_share(raw, rendered, added) >= _KEPT_SHARE and n_links >= _KEPT_SHARE * len(wanted)


def _text_share(raw: Document, rendered: Document, added: NDArray[np.uint64]) -> float:
    """The share of the rendered text's shingles that the raw text has; of few words, of these.

    Where an added menu meets the text, shingles have words of both, which are all known: they are
    not missing.
    """
    texts = rendered.words
    shingles = hash_windows(texts.units, texts.width)
    if len(shingles):
        is_own = np.isin(shingles, raw.shingles)
        is_missing = _have_a_missing_unit(is_own | np.isin(shingles, added), texts.width)
        n_own, n_missing = (len(np.unique(shingles[each])) for each in (is_own, is_missing))
        return n_own / (n_own + n_missing) if n_own + n_missing else 1.0
    words = rendered.normal_text.split()
    own = set(raw.normal_text.split())
    return sum(word in own for word in words) / len(words) if words else 1.0


def _have_a_missing_unit(is_known: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Of the shingles of a text, in order: which have a unit that is in no known shingle?"""
    is_there = np.zeros(len(is_known) + width - 1, np.bool_)
    for place in range(width):
        is_there[place : place + len(is_known)] |= is_known
    is_whole = np.ones(len(is_known), np.bool_)
    for place in range(width):
        is_whole &= is_there[place : place + len(is_known)]
    return ~is_whole
