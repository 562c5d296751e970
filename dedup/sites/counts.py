"""Counts lines and boxes over the pages of a site, in bounded memory.

Only the first page of each name counts, so versions and copies of a page do not count as
repetition. A line on the pages of many names is furniture. For each kind of box, the means of some
figures show whether it usually contains a page's own words. See `dedup.sites.own_text`.
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
"""The maximum of lines that are counted for a site. Beyond it, the lines on the fewest pages are
forgotten, those seen longest ago first."""

MAX_KINDS = 600
"""The maximum of kinds of boxes; beyond it, those on the fewest pages are forgotten."""

MAX_NAMES = 4_096
"""The latest names are remembered, up to this number: enough for one version of a manual."""

MAX_PARTS = 64
_MAX_PART_CHARACTERS = 100
_MAX_LINES_A_PAGE = 2_000
_MAX_KINDS_A_PAGE = 300
_KEPT = 0.75
"""The share of a full table that is kept when it is cut, so that it is seldom cut."""

_FORMAT = 1


class Contribution(NamedTuple):
    """What a page adds to the counts of its site.

    Attributes:
        name: a hash of the page's own name.
        lines: the keys of its lines, ascending.
        kinds: the kinds of its boxes, ascending.
        figures: `N_FIGURES` for each kind; several boxes of one kind count by their means.
        parts: the parts of its title, see `split_title`.
    """

    name: int
    lines: Keys
    kinds: Keys
    figures: NDArray[np.float32]
    parts: tuple[str, ...]


def contribution(page: PageLines, name: int, title: str, measured: Measured) -> Contribution:
    """Return what a page adds to the counts of its site; `measured`: the page's figures."""
    kinds, places, times = page.kinds_found
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
        n_names: the number of pages with different names that were counted.
        names: hashes of the names seen last.
        lines, line_counts, line_seen: for each line, ascending by key: its key, the number of names
            whose pages have it, and when it was last seen.
        kinds, kind_counts, kind_sums: for each kind of box, ascending: the kind, the number of
            pages that have it, and the sums of its figures.
        parts: the number of pages with each part of a title.
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
        """Was a page of this name counted? Only the latest `MAX_NAMES` names are remembered."""
        return bool((self.names == name).any())

    def add(self, page: Contribution) -> bool:
        """Count a page; return False if a page of its name was counted before."""
        if not self.add_lines(page.name, page.lines, page.parts):
            return False
        self.add_kinds(page.kinds, page.figures)
        return True

    def add_lines(self, name: int, lines: Keys, parts: tuple[str, ...]) -> bool:
        """Count the lines of a page; return False if a page of its name was counted before."""
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
        """Return the counts as they are stored; numbers are little-endian."""
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
        """Return the counts that `to_bytes` has written.

        Raises:
            ValueError: the bytes are in another format, or damaged.
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
    """Return the keys of both, ascending, and the new places of each."""
    if len(known):
        at = np.minimum(np.searchsorted(known, found), len(known) - 1)
        new = found[known[at] != found]
        every = np.sort(np.concatenate((known, new)), kind="stable") if len(new) else known
    else:
        every = found
    return every, _Places(np.searchsorted(every, known), np.searchsorted(every, found))


def _spread(values: NDArray[Any], places: NDArray[np.intp], length: int) -> NDArray[Any]:
    """Return the values at their new places, with 0 elsewhere."""
    if len(values) == length:
        return values
    found = np.zeros((length, *values.shape[1:]), values.dtype)
    found[places] = values
    return found


def mean_figures(counts: Keys, sums: NDArray[np.float32]) -> Numbers:
    """Return the means of the figures of each kind."""
    found: Numbers = sums / np.maximum(counts, 1)[:, None].astype(np.float64)
    return found
