"""The decision: is a candidate a near duplicate? The same for all detectors."""

import re
from collections.abc import Iterable

from dedup.detectors.base import Originals
from dedup.document import Document
from dedup.resemblance import resemblance
from dedup.text import normalise

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def is_same_text(first: Document, second: Document, *, with_title: bool) -> bool:
    """Are the texts equal, after normalisation and up to white space? Empty ones never are."""
    if first.text == second.text and not with_title:
        return bool(first.text.strip())
    text = comparable_text(first, with_title=with_title)
    return text is not None and text == comparable_text(second, with_title=with_title)


def comparable_text(document: Document, *, with_title: bool) -> str | None:
    """Return the normal text, on demand after the title, with single spaces; None if empty.

    Version numbers (digits with dots between) are left out of the title, as documentation names its
    version in each; but not where the text has no shingle and the title is all there is.
    """
    text = " ".join(document.normal_text.split())
    if not text:
        return None
    if not with_title:
        return text
    title = normalise(document.title)
    if len(document.shingles):
        title = _VERSION.sub("", title)
    return " ".join(title.split()) + "\n" + text


class SecondCheck:
    """Compares a document with the earlier documents that a detector proposes.

    A candidate is a near duplicate if the sets of shingles have a resemblance of at least
    `near_resemblance`. If one of the two is short, of fewer than `short_shingles` shingles, the
    texts and titles must be equal instead, after normalisation and up to white space, and in the
    titles up to version numbers; their resemblance is then 1. A text of white space alone equals
    nothing, not even itself.

    What was compared is remembered until the next document comes, so that several detectors may
    propose the same candidate.
    """

    def __init__(
        self, originals: Originals, *, near_resemblance: float, short_shingles: int
    ) -> None:
        self.near_resemblance = near_resemblance
        self.short_shingles = short_shingles
        self.original = originals
        self._document: Document | None = None
        self._known: dict[int, float] = {}

    def is_short(self, document: Document) -> bool:
        return len(document.shingles) < self.short_shingles

    def nearest(self, document: Document, numbers: Iterable[int]) -> tuple[int, float] | None:
        """Return the near duplicate of highest resemblance and that, or None.

        Of several equally near, the smallest number.
        """
        near = [
            (-likeness, number)
            for number in numbers
            if (likeness := self.likeness(document, number)) >= self.near_resemblance
        ]
        if not near:
            return None
        negative, number = min(near)
        return number, -negative

    def likeness(self, document: Document, number: int) -> float:
        """Return the resemblance to an original; 0 where they are no near duplicates."""
        if document is not self._document:
            self._document, self._known = document, {}
        if number not in self._known:
            self._known[number] = self._compare(document, self.original(number))
        return self._known[number]

    def _compare(self, document: Document, original: Document) -> float:
        if self.is_short(document) or self.is_short(original):
            return float(is_same_text(document, original, with_title=True))
        return resemblance(document.shingles, original.shingles, at_least=self.near_resemblance)
