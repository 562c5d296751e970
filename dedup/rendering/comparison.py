"""Does the raw page have what the rendered one has?"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dedup.document import Document

_KEPT_SHARE = 0.95


def loses_nothing(
    raw: Document, rendered: Document, raw_links: Collection[str], links: Collection[str]
) -> bool:
    """Has the raw page at least 95% of the rendered page's text, and of its links?

    What the raw page has besides does not count. A raw page that is a shell has no text.
    """
    if raw.needs_rendering and not rendered.needs_rendering:
        return False
    known = set(raw_links)
    n_links = sum(link in known for link in links)
    return _text_share(raw, rendered) >= _KEPT_SHARE and n_links >= _KEPT_SHARE * len(links)


def _text_share(raw: Document, rendered: Document) -> float:
    """The share of the rendered text's shingles that the raw text has; of few words, of these."""
    wanted, known = rendered.shingles, raw.shingles
    if len(wanted):
        return float(np.isin(wanted, known, assume_unique=True).sum()) / len(wanted)
    words = rendered.normal_text.split()
    own = set(raw.normal_text.split())
    return sum(word in own for word in words) / len(words) if words else 1.0
