"""What scripts add to the pages of a host: what several pages get is furniture, such as a menu."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from dedup.rendering.comparison import NO_SHINGLES, Form, Shingles, loses_nothing
from dedup.rendering.learner import Template

_MAX_PAGES = 8
"""Of a host that are remembered: a site has a few menus."""


class Added(NamedTuple):
    """What scripts have added to a page.

    Attributes:
        template: its number.
        raw_text: a hash; a page with the same text is no other page.
        shingles: that the raw page has not, wherever on the page they are.
        links: all of the rendered page.
    """

    template: int
    raw_text: int
    shingles: Shingles
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

    def lacks_nothing(self, template: Template, raw: Form, rendered: Form) -> bool | None:
        """Has the raw page all but furniture?

        None: it lacks something, and there is no other page of its template to tell whether that is
        furniture: none was compared, or only pages of which this is not known any more. Pages at
        routes have one raw text, and tell nothing of each other.
        """
        text = xxh3_64_intdigest(raw.page.normal_text.encode("utf-8", "surrogatepass"))
        others = [each for each in self._pages if each.raw_text != text]
        known = np.unique(np.concatenate([NO_SHINGLES, *(each.shingles for each in others)]))
        known_links = frozenset[str]().union(*(each.links for each in others))
        is_same = loses_nothing(raw, rendered, known, known_links)
        if not is_same and (
            raw.page.needs_rendering or template.is_dynamic or template.kind == "route"
        ):
            return False
        # What is beside the text may be part of the next page's text, once the site is known.
        added = np.setdiff1d(rendered.shown(), raw.shown(), assume_unique=True)
        links = frozenset(rendered.links)
        is_new = not links.difference(raw.links) <= known_links or not np.isin(added, known).all()
        if not is_same or is_new:
            self._pages.append(Added(template.number, text, added, links))
        if is_same or any(each.template == template.number for each in others):
            return is_same
        return None if not template.n_same or template.number in self._resumed else False
