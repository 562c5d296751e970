"""What is counted over the pages of a site, in bounded memory.

Of each name the first page counts: versions and copies of a page are no repetition. A line that
stands on the pages of many names is furniture; of each kind of box, the means of some figures tell
whether the page's own words stand there. See `dedup.sites.own_text`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.names import split_title
from dedup.sites.lines import Keys, Numbers, PageLines
from dedup.sites.own_text import N_FIGURES, Measured

MAX_LINES = 4_000
"""Lines of a site that are counted. Beyond, those are forgotten that the fewest pages have, and of
these the ones that were met longest ago."""

MAX_KINDS = 600
"""Kinds of boxes, likewise."""

MAX_NAMES = 4_096
"""Names that are remembered, the latest: those of a version of a manual, or of a large one's."""

MAX_PARTS = 64
_MAX_PART_CHARACTERS = 100
_MAX_LINES_A_PAGE = 2_000
_MAX_KINDS_A_PAGE = 300
_KEPT = 0.75
"""What is left of a table that was full: so it is seldom cut."""

_FORMAT = 1


class Contribution(NamedTuple):
    """What a page adds to what is known of its site.

    Attributes:
        name: a hash of the page's own name.
        lines: the keys of its lines, ascending.
        kinds: of its boxes, ascending.
        figures: `N_FIGURES` for each of these; of boxes of one kind their means.
        parts: of its title, see `split_title`.
    """

    name: int
    lines: Keys
    kinds: Keys
    figures: NDArray[np.float32]
    parts: tuple[str, ...]


def contribution(page: PageLines, name: int, title: str, measured: Measured) -> Contribution:
    """Return what a page adds, as it is judged by what is known of its site."""
    kinds, places, times = np.unique(page.kinds, return_inverse=True, return_counts=True)
    sums = np.zeros((len(kinds), N_FIGURES))
    np.add.at(sums, places, measured.figures())
    means = (sums / times[:, None]).astype(np.float32)
    return Contribution(
        name,
        page.distinct_keys()[:_MAX_LINES_A_PAGE],
        kinds[:_MAX_KINDS_A_PAGE],
        means[:_MAX_KINDS_A_PAGE],
        title_parts(title),
    )


def title_parts(title: str) -> tuple[str, ...]:
    """The parts of a title that are counted, each once, in the title's order.

    >>> title_parts("Forks | Spoons | Forks")
    ('forks', 'spoons')
    """
    return tuple(dict.fromkeys(part[:_MAX_PART_CHARACTERS] for part in split_title(title)))


@dataclass(slots=True)
class SiteCounts:
    """The counts of a site.

    Attributes:
        n_names: pages of different names that were counted.
        names: hashes of the names met last.
        lines, line_counts, line_seen: of each line, ascending by its key: on the pages of how many
            names it stands, and when it was met last.
        kinds, kind_counts, kind_sums: of each kind of box, ascending: on how many pages it stands,
            and the sums of its figures.
        parts: on how many pages each part of a title stands.
    """

    n_names: int = 0
    names: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    lines: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    line_counts: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    line_seen: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    kinds: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    kind_counts: Keys = field(default_factory=lambda: np.empty(0, np.uint32))
    kind_sums: NDArray[np.float32] = field(
        default_factory=lambda: np.empty((0, N_FIGURES), np.float32)
    )
    parts: Counter[str] = field(default_factory=Counter)

    def has(self, name: int) -> bool:
        """Was a page of this name counted, as far as that is remembered?"""
        return bool((self.names == name).any())

    def add(self, page: Contribution) -> bool:
        """Count a page; False: one of its name was counted before."""
        if not self.add_lines(page.name, page.lines, page.parts):
            return False
        self.add_kinds(page.kinds, page.figures)
        return True

    def add_lines(self, name: int, lines: Keys, parts: tuple[str, ...]) -> bool:
        """Count the lines of a page; False: one of its name was counted before."""
        if self.has(name):
            return False
        self.n_names += 1
        self.names = np.append(self.names, np.uint32(name))[-MAX_NAMES:]
        self.lines, places = _with_new(self.lines, lines)
        self.line_counts = _spread(self.line_counts, places.kept, len(self.lines))
        self.line_seen = _spread(self.line_seen, places.kept, len(self.lines))
        self.line_counts[places.added] += 1
        self.line_seen[places.added] = self.n_names
        if len(self.lines) > MAX_LINES:
            order = np.lexsort((self.line_seen, self.line_counts))
            kept = np.sort(order[-int(_KEPT * MAX_LINES) :])
            self.lines, self.line_counts = self.lines[kept], self.line_counts[kept]
            self.line_seen = self.line_seen[kept]
        self.parts.update(parts)
        if len(self.parts) > 2 * MAX_PARTS:
            self.parts = Counter(dict(self.parts.most_common(MAX_PARTS)))
        return True

    def add_kinds(self, kinds: Keys, figures: NDArray[np.float32]) -> None:
        """Add the figures of a page's boxes."""
        self.kinds, places = _with_new(self.kinds, kinds)
        self.kind_counts = _spread(self.kind_counts, places.kept, len(self.kinds))
        self.kind_sums = _spread(self.kind_sums, places.kept, len(self.kinds))
        self.kind_counts[places.added] += 1
        self.kind_sums[places.added] += figures
        if len(self.kinds) > MAX_KINDS:
            kept = np.sort(np.argsort(self.kind_counts, kind="stable")[-int(_KEPT * MAX_KINDS) :])
            self.kinds, self.kind_counts = self.kinds[kept], self.kind_counts[kept]
            self.kind_sums = self.kind_sums[kept]

    def to_bytes(self) -> bytes:
        """As it is stored; numbers are little-endian."""
        arrays = self._arrays()
        head = {
            "format": _FORMAT,
            "names": self.n_names,
            "parts": dict(self.parts),
            "lengths": [len(each) for each in arrays],
        }
        text = json.dumps(head).encode()
        data = b"".join(each.astype(each.dtype.newbyteorder("<")).tobytes() for each in arrays)
        return len(text).to_bytes(4, "little") + text + data

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteCounts:
        """What `to_bytes` gave.

        Raises:
            ValueError: it gave something else.
        """
        try:
            return cls._read(data)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise ValueError(f"what was learned of a site is damaged: {error}") from error

    def _arrays(self) -> list[NDArray[Any]]:
        sums = self.kind_sums.ravel()
        return [
            *(self.names, self.lines, self.line_counts, self.line_seen),
            *(self.kinds, self.kind_counts, sums),
        ]

    @classmethod
    def _read(cls, data: bytes) -> SiteCounts:
        start = 4 + int.from_bytes(data[:4], "little")
        head = json.loads(data[4:start])
        if head["format"] != _FORMAT:
            raise ValueError(f"format {head['format']!r}")
        arrays = []
        for place, length in enumerate(head["lengths"]):
            kind = "<f4" if place == len(head["lengths"]) - 1 else "<u4"
            arrays.append(np.frombuffer(data, kind, length, start).copy())
            start += 4 * length
        names, lines, counts, seen, kinds, kind_counts, sums = arrays
        if not (len(lines) == len(counts) == len(seen) and len(kinds) == len(kind_counts)):
            raise ValueError("lengths differ")
        if not (_is_ascending(lines) and _is_ascending(kinds) and np.isfinite(sums).all()):
            raise ValueError("its numbers are out of place")
        parts = Counter({str(part): int(count) for part, count in head["parts"].items()})
        table = sums.reshape(len(kinds), N_FIGURES)
        return cls(int(head["names"]), names, lines, counts, seen, kinds, kind_counts, table, parts)


def _is_ascending(keys: Keys) -> bool:
    return bool((keys[1:] > keys[:-1]).all())


class _Places(NamedTuple):
    kept: NDArray[np.intp]
    added: NDArray[np.intp]


def _with_new(known: Keys, found: Keys) -> tuple[Keys, _Places]:
    """Both together, ascending, and where those of each stand now."""
    if len(known):
        at = np.minimum(np.searchsorted(known, found), len(known) - 1)
        new = found[known[at] != found]
        every = np.sort(np.concatenate((known, new)), kind="stable") if len(new) else known
    else:
        every = found
    return every, _Places(np.searchsorted(every, known), np.searchsorted(every, found))


def _spread(values: NDArray[Any], places: NDArray[np.intp], length: int) -> NDArray[Any]:
    """The values at their new places, and 0 elsewhere."""
    if len(values) == length:
        return values
    found = np.zeros((length, *values.shape[1:]), values.dtype)
    found[places] = values
    return found


def mean_figures(counts: Keys, sums: NDArray[np.float32]) -> Numbers:
    """The means of the figures of each kind."""
    found: Numbers = sums / np.maximum(counts, 1)[:, None].astype(np.float64)
    return found
