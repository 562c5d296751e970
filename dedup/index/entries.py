"""Sorted runs of a multimap: found by reading one page of 4 KiB, and merged a portion at a time."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import Arrays

Entries = NDArray[np.uint64]

_PAGE = 512
"""Entries of a page, 4 KiB: what the system reads of a file at least."""

_ENTRIES_AT_ONCE = 1 << 16
"""What merging copies of each run at a time: half a megabyte, so it stays in the cache."""

NUMBER_MASK = np.uint64(0xFFFF_FFFF)
"""Of an entry: the key is in the other bits."""

_LAST_ENTRY = np.uint64(2**64 - 1)


class EntryRun:
    """Entries in ascending order, which never change.

    A search in a file bisects the first entries of all pages, which are in memory (1/512 of the
    run), and reads one page. To bisect the file would read some ten, in different places.

    Args:
        parts: sorted entries that become one run.
        arrays: makes its array, in memory or in a file.
    """

    __slots__ = ("_firsts", "_pages", "entries")

    def __init__(self, parts: Sequence[Entries], arrays: Arrays) -> None:
        length = sum(map(len, parts))
        self._pages = arrays.pages(-(-length // _PAGE), _PAGE)
        padded = self._pages.array.reshape(-1)
        padded[length:] = _LAST_ENTRY
        self.entries = padded[:length]
        firsts = list(_merge(parts, self.entries, arrays))
        self._firsts = np.concatenate(firsts) if self._pages.is_in_file else None

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def size_bytes(self) -> int:
        return self.entries.nbytes + (0 if self._firsts is None else self._firsts.nbytes)

    def contains(self, first: Entries) -> NDArray[np.bool_]:
        """Tell for each key, given as the smallest entry that it can have, whether it is here."""
        return self._look_up(first)[1]

    def spans(
        self, first: Entries, room: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Of the keys that are here: their places in `first`, where they begin, and their number.

        Args:
            first: the keys, each as the smallest entry that it can have.
            room: the most entries for each.
        """
        starts, is_found = self._look_up(first)
        found = is_found.nonzero()[0]
        starts = starts[found]
        if not len(found):
            return found, starts, starts
        stops, _ = self._look_up(first[found] | NUMBER_MASK, "right")
        return found, starts, np.minimum(stops - starts, room[found])

    def check(self) -> None:
        """Raise `AssertionError` where an invariant does not hold."""
        if not np.all(self.entries[1:] >= self.entries[:-1]):
            raise AssertionError("broken invariant: a run is sorted")

    def _look_up(
        self, values: Entries, side: Literal["left", "right"] = "left"
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where values would be put in, and whether what is there has the same key."""
        if self._firsts is None:
            places = self.entries.searchsorted(values, side)
            there = self.entries.take(places, mode="clip")
        else:
            pages = np.maximum(self._firsts[:-1].searchsorted(values, side) - 1, 0)
            found, column = self._pages.take(pages), values[:, np.newaxis]
            before = found < column if side == "left" else found <= column
            columns = np.count_nonzero(before, axis=1)
            places = np.minimum(pages * _PAGE + columns, len(self))  # the rest of it is no entry
            there = found[np.arange(len(found)), np.minimum(columns, _PAGE - 1)]
            there = np.where(columns < _PAGE, there, self._firsts[pages + 1])
        return places, are_of(there, values) & (places < len(self))


def are_of(entries: Entries, first: Entries) -> NDArray[np.bool_]:
    """Tell which entries have the keys whose smallest entries are `first`."""
    return (entries ^ first) <= NUMBER_MASK


def _merge(parts: Sequence[Entries], target: Entries, arrays: Arrays) -> Iterator[Entries]:
    """Yield the first entries of the pages of `target`, and one that is behind all."""
    done = 0
    while done < len(target):
        windows = [each[:_ENTRIES_AT_ONCE] for each in parts]
        # What follows a window may be as small as the window's last entry.
        lasts = (each[-1] for each in windows if len(each) == _ENTRIES_AT_ONCE)
        limit = min(lasts, default=_LAST_ENTRY)
        counts = [int(each.searchsorted(limit, side="right")) for each in windows]
        portion = np.concatenate([window[:n] for window, n in zip(windows, counts, strict=True)])
        portion.sort(kind="stable")  # merges what is sorted already
        target[done : done + len(portion)] = portion
        yield portion[-done % _PAGE :: _PAGE].copy()
        done += len(portion)
        parts = [each[count:] for each, count in zip(parts, counts, strict=True)]
        arrays.trim()
    yield np.array([_LAST_ENTRY])
