"""The names of a job's pages, by which lists of pages are told from menus."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from dedup.changes.lines import names_in, undated

_SEVERAL = 5
"""What so many titles have in common names a section, or the site."""


class PageNames:
    """Tells which lines are the name of a page: its title, or the first or last part of that.

    A date beside the name, and numbers at its ends, do not count.

    Titles are read when this is first asked; each takes up to 24 bytes.

    Args:
        titles: gives the host and the title of each page.
    """

    def __init__(self, titles: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._titles = titles

    def are_names(self, host: str, keys: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the keys of lines are that of a page's name on this host?"""
        asked = np.fromiter((_hash(host, undated(key)) for key in keys), np.uint64, len(keys))
        return np.isin(asked, self._hashes)

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        found = array("Q")
        for host, title in self._titles():
            found.extend(_hash(host, name) for name in names_in(title))
        hashes, counts = np.unique(np.frombuffer(found, np.uint64), return_counts=True)
        names: NDArray[np.uint64] = hashes[counts < _SEVERAL]
        return names


def _hash(host: str, name: str) -> int:
    return xxh3_64_intdigest(f"{host}\n{name}".encode("utf-8", "surrogatepass"))
