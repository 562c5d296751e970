"""What scripts add to the pages of a host: what several pages get is furniture, such as a menu."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from dedup.document import Document
from dedup.rendering.comparison import loses_nothing
from dedup.rendering.learner import Template

_MAX_PAGES = 8
"""Of a host that are remembered: a site has a few menus."""


class Added(NamedTuple):
    """What scripts have added to a page.

    Attributes:
        template: its number.
        raw_text: a hash; a page with the same text is no other page.
        shingles, links: that the raw page has not.
    """

    template: int
    raw_text: int
    shingles: NDArray[np.uint64]
    links: frozenset[str]


class Additions:
    """Compares the pages of a host, raw and rendered, without the furniture that scripts add.

    Args:
        resumed: numbers of templates of which pages have lacked nothing in an earlier process: it
            is not known whether they got furniture.
    """

    def __init__(self, resumed: Collection[int] = ()) -> None:
        self._resumed = resumed
        self._pages: deque[Added] = deque(maxlen=_MAX_PAGES)

    def lacks_nothing(
        self,
        template: Template,
        raw: Document,
        rendered: Document,
        raw_links: Collection[str],
        links: Collection[str],
    ) -> bool | None:
        """Has the raw page all but furniture?

        None: it lacks something, and there is no other page of its template to tell whether that is
        furniture: none was compared, or only pages of which this is not known any more. Pages at
        routes have one raw text, and tell nothing of each other.
        """
        text = xxh3_64_intdigest(raw.normal_text.encode("utf-8", "surrogatepass"))
        others = [each for each in self._pages if each.raw_text != text]
        shingles = np.unique(
            np.concatenate([np.empty(0, np.uint64), *(o.shingles for o in others)])
        )
        known = frozenset[str]().union(*(each.links for each in others))
        if loses_nothing(raw, rendered, raw_links, links, shingles, known):
            return True
        if raw.needs_rendering or template.is_dynamic or template.kind == "route":
            return False
        added = np.setdiff1d(rendered.shingles, raw.shingles, assume_unique=True)
        new_links = frozenset(links).difference(raw_links)
        self._pages.append(Added(template.number, text, added, new_links))
        if any(each.template == template.number for each in others):
            return False
        return None if not template.n_same or template.number in self._resumed else False
