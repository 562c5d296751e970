"""The second look: do two pages differ outside their main texts?

Two pages may differ only outside their texts: in a breadcrumb, or in the answers below a question.
So before a page is dropped, the *rare* lines of both pages are compared, wherever they are: lines
that hardly any page of the site has. Known furniture does not count, nor do numbers such as dates
and view counters. Both pages must differ: a print view, a page without its side bar, and a copy
with one more line are still copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup.sites.lines import Keys, PageLines, words_of

KEPT_SHINGLES = 128
"""The maximum of shingles stored with a page, those with the lowest hashes: up to 1,024 bytes."""

SEEN_SHINGLES = 1_024
"""The maximum of shingles that are compared of a page."""

_SHORT_TEXT = 50
_COUNTED_CHARACTERS = 2_000

IsRare = Callable[[Keys], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """The rare shingles of a page, ascending, and the line of each.

    Attributes:
        is_whole: are these all rare shingles? If not, they are those with the lowest hashes.
    """

    shingles: Keys
    lines: Keys
    is_whole: bool = True

    def kept(self) -> Rest:
        """The part that is stored."""
        if len(self.shingles) <= KEPT_SHINGLES:
            return self
        shingles, lines = self.shingles[:KEPT_SHINGLES], self.lines[:KEPT_SHINGLES]
        return Rest(shingles.copy(), lines.copy(), is_whole=False)

    def to_bytes(self) -> bytes:
        """Return a flag, the shingles, and their lines; of a stored part at most 1,025 bytes."""
        arrays = (self.shingles.astype("<u4"), self.lines.astype("<u4"))
        return bytes([self.is_whole]) + b"".join(each.tobytes() for each in arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Rest:
        """Return what `to_bytes` has written.

        Raises:
            ValueError: the length is wrong.
        """
        if len(data) % 8 != 1:
            raise ValueError(f"rare shingles must take 8 bytes each, got {len(data)}")
        numbers = np.frombuffer(data, "<u4", offset=1)
        half = len(numbers) // 2
        return cls(numbers[:half], numbers[half:], is_whole=bool(data[0]))

    def still_rare(self, is_rare: IsRare | None) -> Rest:
        """The same without lines that have since turned out to be furniture."""
        if is_rare is None or not len(self.lines):
            return self
        lines, places = np.unique(self.lines, return_inverse=True)
        stays = is_rare(lines)[places]
        return Rest(self.shingles[stays], self.lines[stays], is_whole=self.is_whole)

    def reach(self) -> int:
        """The hash up to which it has all rare shingles; -1 if no shingle of a part is left."""
        if self.is_whole:
            return 1 << 32
        return int(self.shingles[-1]) if len(self.shingles) else -1


def rest_of(page: PageLines, is_rare: NDArray[np.bool_]) -> Rest:
    """Return the shingles of the lines of a page that are rare.

    Shingles are three consecutive words of a line, or all words of a shorter one.
    """
    hashes, owners = page.shingles
    chosen = is_rare[owners]
    shingles, places = _firsts(hashes[chosen])
    lines = page.keys[owners[chosen][places[:SEEN_SHINGLES]]]
    is_whole = len(shingles) <= SEEN_SHINGLES
    return Rest(shingles[:SEEN_SHINGLES], lines, is_whole=is_whole)


def count_shingles(text: str) -> int:
    """Count the different shingles of this kind in the lines of a text: all, or enough of them.

    A text with `_SHORT_TEXT` of them is not short, however many more there are.
    """
    end = text.find("\n", _COUNTED_CHARACTERS)
    if end > 0 and (count := _count_shingles(text[:end])) >= _SHORT_TEXT:
        return count
    return _count_shingles(text)


def _count_shingles(text: str) -> int:
    return len(np.unique(words_of(text.split("\n")).all_shingles()[0]))


def _firsts(hashes: Keys) -> tuple[Keys, NDArray[np.intp]]:
    """Return the different hashes, ascending, and the first place of each.

    As `np.unique` does, in a third of the time: numbers sort faster than places by number.
    """
    ordered: NDArray[np.uint64] = hashes.astype(np.uint64) << np.uint64(32)
    ordered += np.arange(len(hashes), dtype=np.uint64)
    ordered.sort()
    ascending = (ordered >> np.uint64(32)).astype(np.uint32)
    is_first = np.ones(len(hashes), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first], (ordered[is_first] & np.uint64(0xFFFFFFFF)).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """How the rare parts of two pages differ.

    Attributes:
        only_first, only_second, shared: the numbers of rare shingles that only the first page, only
            the second page, and both pages have.
        lines: the keys of the first page's lines with shingles that the second page lacks.
    """

    only_first: int
    only_second: int
    shared: int
    lines: Keys

    def tells_apart(self, *, have_same_name: bool, n_shingles: int) -> bool:
        """Are these two different pages? `n_shingles`: of the original, in its text, and rare.

        Each page must have something that the other lacks. The shorter their text, and the less
        their names agree, the less is enough. A page with much that its original lacks is also
        different.
        """
        lesser, more = min(self.only_first, self.only_second), self.only_first
        is_mostly_other = 2 * self.shared < self.only_first + self.only_second + self.shared
        if not have_same_name:
            return more >= 1
        if n_shingles < _SHORT_TEXT:
            return lesser >= (1 if is_mostly_other else 2) or more >= 20
        return (lesser >= 3 and is_mostly_other) or (more >= 50 and more > self.shared)


def difference(page: Rest, original: Rest) -> Difference:
    """Compare the rare shingles of a page and of its original, in the range known of both."""
    reach = min(page.reach(), original.reach())
    first = page.shingles[page.shingles <= reach]
    second = original.shingles[original.shingles <= reach]
    is_shared = np.isin(first, second, assume_unique=True)
    n_shared = int(is_shared.sum())
    lines = page.lines[: len(first)][~is_shared]
    return Difference(len(first) - n_shared, len(second) - n_shared, n_shared, lines)
