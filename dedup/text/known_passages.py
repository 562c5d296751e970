"""Passages of some texts that are known before, such as those of an evaluation set."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.text.joined_texts import JoinedTexts
from dedup.text.passages import Units, joined_by_kind, place_of, text_at, windows

LEAST_UNITS = 8
"""A shorter text is not looked for: it may be no more than a phrase. Source: Brown and others,
Language models are few-shot learners, 2020, appendix C: 8 to 13 words."""

_TEXTS_AT_ONCE = 1_000
_TEXTS_IN_MEMORY = 256


class _Windows(NamedTuple):
    """Windows of one width, by ascending hashes, and their places."""

    hashes: NDArray[np.uint64]
    places: NDArray[np.uint64]


class KnownPassages:
    r"""Finds texts that hold a passage of one of some others.

    A passage is `width` consecutive words, or `\w` characters in scripts without spaces. Texts of
    fewer, but at least 8, have to be there as a whole. Memory: 16 bytes a word, and the texts.

    Args:
        texts: those that are known.
        width: the number of words.

    Attributes:
        least: how many words the shortest text has that is looked for.
        too_short: how many texts have fewer.
    """

    def __init__(self, texts: Iterable[str], width: int) -> None:
        self.least = min(LEAST_UNITS, width)
        self.too_short = 0
        self._width = width
        self._texts: list[str] = []
        parts: dict[tuple[bool, int], list[_Windows]] = defaultdict(list)
        waiting: list[str] = []
        for text in texts:
            waiting.append(text)
            if len(waiting) == _TEXTS_AT_ONCE:
                self._add(waiting, parts)
                waiting = []
        self._add(waiting, parts)
        self._tables = {key: _sorted(found) for key, found in sorted(parts.items())}
        self._start()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_units"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._start()

    def find(self, texts: Sequence[str]) -> list[int | None]:
        """The first known text of whose passages each text holds one; None: it holds none."""
        found: list[int | None] = [None] * len(texts)
        for at, joined in joined_by_kind(texts):
            first = self._first(joined, [texts[each] for each in at])
            for place, known in first.items():
                found[at[place]] = known
        return found

    def _start(self) -> None:
        self._units = lru_cache(maxsize=_TEXTS_IN_MEMORY)(Units)

    def _add(self, texts: list[str], parts: dict[tuple[bool, int], list[_Windows]]) -> None:
        start = len(self._texts)
        self._texts += texts
        for at, joined in joined_by_kind(texts):
            sizes = np.diff(joined.bounds)
            widths = np.minimum(sizes, self._width)
            self.too_short += int(np.count_nonzero(widths < self.least))
            for width in np.unique(widths[widths >= self.least]).tolist():
                hashes, owners, within = windows(joined, width)
                chosen = widths[owners] == width
                numbers = np.array(at, np.uint64)[owners] + np.uint64(start)
                places = numbers * np.uint64(place_of(1)) + within.astype(np.uint64)
                parts[joined.unspaced, width].append(_Windows(hashes[chosen], places[chosen]))

    def _first(self, joined: JoinedTexts, texts: Sequence[str]) -> dict[int, int]:
        """The first known text of which each of some texts holds a passage."""
        found: dict[int, int] = {}
        for (unspaced, width), table in self._tables.items():
            if unspaced != joined.unspaced:
                continue
            hashes, owners, within = windows(joined, width)
            starts = np.searchsorted(table.hashes, hashes)
            is_there = table.hashes[np.minimum(starts, len(table.hashes) - 1)] == hashes
            for at in np.flatnonzero(is_there).tolist():
                owner = int(owners[at])
                stop = int(np.searchsorted(table.hashes, hashes[at], side="right"))
                places = table.places[starts[at] : stop].tolist()
                before = place_of(found.get(owner, len(self._texts)))
                earlier = [place for place in places if place < before]
                if not earlier:
                    continue
                units = self._units(texts[owner]).at(int(within[at]), width)
                for place in earlier:
                    if self._units(self._texts[text_at(place)]).at(place, width) == units:
                        found[owner] = text_at(place)
                        break
        return found


def _sorted(parts: list[_Windows]) -> _Windows:
    hashes, places = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(hashes, kind="stable")
    return _Windows(hashes[order], places[order])
