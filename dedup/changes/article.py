"""The part of a page that has most of what no other page says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from dedup.changes.lines import line_key
from dedup.sites.lines import Words
from dedup.sites.outline import BODY, Outline, text_of
from dedup.sites.site import Site

_NO_LINK = np.uint32(0xFFFFFFFE)
"""The bits of a line's key without the one that tells whether it is mostly links."""

_BESIDE = frozenset(["aside", "nav"])
"""Boxes that are no part of the article around them."""


def article_keys(page: Outline, words: Words, site: Site, given: Collection[str]) -> Counter[str]:
    """How often each of the given keys stands in the article of a page.

    The article is the innermost box with more than half of the words of rare lines; of the body
    only what stands in none of its boxes, if that has as many. What stands beside a program alone,
    such as its language or a button, does not count.

    `words`: of the lines.
    """
    is_given = [line_key(line.text.strip()) in given for line in page.lines]
    inside = _is_inside(page, _article(page, words, site, is_given))
    own: dict[int, set[bool]] = {}
    for line, is_label in zip(page.lines, is_given, strict=True):
        if not is_label:
            own.setdefault(line.box, set()).add(line.block == "pre")
    programs = {box for box, found in own.items() if found == {True}}
    lines = [
        line
        for line in page.lines
        if inside[line.box] and (line.box not in programs or line.block == "pre")
    ]
    found = (line_key(line.strip()) for line in text_of(page.boxes, lines).split("\n"))
    return Counter(key for key in found if key in given)


def _article(page: Outline, words: Words, site: Site, is_given: Sequence[bool]) -> int | None:
    is_own = site.is_rare(words.line_hashes().astype(np.uint32) & _NO_LINK)
    is_own &= [2 * len(line.plain) >= len(line.text) for line in page.lines]
    is_own &= ~np.array(is_given, np.bool_)
    sums = np.bincount(
        [line.box for line in page.lines], is_own * words.counts, len(page.boxes)
    ).tolist()
    n_body = sums[BODY]
    for box in range(len(page.boxes) - 1, BODY, -1):
        sums[page.boxes[box].parent] += sums[box]
    least = sums[BODY] / 2
    boxes = (box for box, found in enumerate(sums) if found > least and box != BODY)
    return max(boxes, default=BODY if n_body > least else None)


def _is_inside(page: Outline, outer: int | None) -> list[bool]:
    found: list[bool] = []
    for number, box in enumerate(page.boxes):
        is_beside = box.tag in _BESIDE or outer == BODY
        found.append(number == outer or (number > BODY and found[box.parent] and not is_beside))
    return found
