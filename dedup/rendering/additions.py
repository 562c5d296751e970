"""What scripts add to the pages of a host: what several pages get is furniture, such as a menu."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from dedup.rendering.comparison import (
    NO_SHINGLES,
    Form,
    Shingles,
    has_lost_text,
    loses_nothing,
)
from dedup.rendering.learner import Template

_MAX_PAGES = 8
"""Of a host that are remembered: a site has a few menus."""


class Added(NamedTuple):
    """What scripts have added to a page.

    Attributes:
        template: its number.
        raw_text: a hash.
        raw_shingles: all that the raw page shows.
        shingles: that the raw page has not, wherever on the page they are.
        links: all of the rendered page.
    """

    template: int
    raw_text: int
    raw_shingles: Shingles
    shingles: Shingles
    links: frozenset[str]


class Compared(NamedTuple):
    """What a page's raw form is to its rendered one.

    Attributes:
        lacks_nothing: has it all but furniture? None: only another page can tell.
        is_richer: is it to be stored, as scripts have taken most of its text away?
    """

    lacks_nothing: bool | None
    is_richer: bool = False


class Additions:
    """Compares the pages of a host, raw and rendered, without the furniture that scripts add.

    Args:
        resumed: numbers of templates of which pages have lacked nothing in an earlier process: it
            is not known whether they got furniture.
    """

    def __init__(self, resumed: Collection[int] = ()) -> None:
        self._resumed = resumed
        self._pages: deque[Added] = deque(maxlen=_MAX_PAGES)

    def compare(self, template: Template, raw: Form, rendered: Form) -> Compared:
        """Compare a page, raw and rendered.

        Only another page can tell if the raw page lacks something, and no other page of its
        template was compared, or only pages of which it is not known any more what they got. One
        with the same raw text may be the same page: it tells only if it got something else. Pages
        at routes have one raw text, and tell nothing of each other.
        """
        raw_text = xxh3_64_intdigest(raw.page.normal_text.encode("utf-8", "surrogatepass"))
        others = [each for each in self._pages if each.raw_text != raw_text]
        alike = [each for each in self._pages if each.template == template.number]
        is_told = any(each.raw_text != raw_text for each in alike)
        known, known_links = _union(others)
        lacks_nothing = loses_nothing(raw, rendered, known, known_links)
        is_richer = False
        if not lacks_nothing:
            if raw.page.needs_rendering or template.kind == "route":
                return Compared(lacks_nothing=False)
            common = _joined(each.raw_shingles for each in self._pages)
            is_richer = has_lost_text(raw, rendered, common, known)
            if template.is_dynamic and not (is_richer and is_told):
                return Compared(lacks_nothing=False)
        # What is beside the text may be part of the next page's text, once the site is known.
        raw_shingles = raw.shown()
        added = np.setdiff1d(rendered.shown(), raw_shingles, assume_unique=True)
        links = frozenset(rendered.links)
        is_new = not links.difference(raw.links) <= known_links or not np.isin(added, known).all()
        if is_new or not lacks_nothing:
            self._pages.append(Added(template.number, raw_text, raw_shingles, added, links))
        if lacks_nothing or is_told:
            return Compared(lacks_nothing or is_richer, is_richer)
        if alike and not loses_nothing(raw, rendered, *_union([*others, *alike])):
            return Compared(lacks_nothing=False)
        if template.n_same and template.number not in self._resumed:
            return Compared(lacks_nothing=False)
        return Compared(None, is_richer)


def _union(pages: Sequence[Added]) -> tuple[Shingles, frozenset[str]]:
    links = frozenset[str]().union(*(each.links for each in pages))
    return _joined(each.shingles for each in pages), links


def _joined(each: Iterable[Shingles]) -> Shingles:
    return np.unique(np.concatenate([NO_SHINGLES, *each]))
