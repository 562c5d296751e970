"""Sorted runs of a multimap: found by reading one page of 4 KiB, and merged a portion at a time."""

from collections.abc import Iterator, Sequence

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

_NOTHING = np.empty(0, np.uint64)


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
        self._firsts = np.concatenate(firsts) if self._pages.is_in_file else _NOTHING

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def size_bytes(self) -> int:
        return self.entries.nbytes + self._firsts.nbytes

    def contains(self, first: Entries) -> NDArray[np.bool_]:
        """Tell for each key, given as the smallest entry that it can have, whether it is here."""
        if self._pages.is_in_file:
            return self._begin_in_pages(first)[2]
        return self._begin(first)[1]

    def entries_of(
        self, first: Entries, room: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], Entries]:
        """The entries of some keys, each with the place of its key in `first`.

        Args:
            first: the keys, each as the smallest entry that it can have.
            room: the most entries for each.
        """
        if self._pages.is_in_file:
            return self._entries_in_pages(first, room)
        starts, is_found = self._begin(first)
        found = is_found.nonzero()[0]
        if not len(found):
            return found, _NOTHING
        stops = self.entries.searchsorted(first[found] | NUMBER_MASK, side="right")
        counts = np.minimum(stops - starts[found], room[found])
        return np.repeat(found, counts), self.entries[_ranges(starts[found], counts)]

    def _entries_in_pages(
        self, first: Entries, room: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], Entries]:
        starts, pages, is_found = self._begin_in_pages(first)
        found = is_found.nonzero()[0]
        if not len(found):
            return found, _NOTHING
        last = first[found] | NUMBER_MASK
        ends = np.count_nonzero(pages[found] <= last[:, np.newaxis], axis=1)
        is_within = ends < _PAGE  # else its entries go on behind the page, or begin there
        within, columns = found[is_within], starts[found[is_within]] % _PAGE
        counts = np.minimum(ends[is_within] - columns, room[within])
        owners = [np.repeat(within, counts)]
        entries = [pages[owners[0], _ranges(columns, counts)]]
        for place in found[~is_within].tolist():
            part = self.entries[starts[place] : starts[place] + room[place]]
            entries.append(part[: part.searchsorted(first[place] | NUMBER_MASK, side="right")])
            owners.append(np.full(len(entries[-1]), place))
        return np.concatenate(owners), np.concatenate(entries)

    def check(self) -> None:
        """Raise `AssertionError` where an invariant does not hold."""
        if not np.all(self.entries[1:] >= self.entries[:-1]):
            raise AssertionError("broken invariant: a run is sorted")

    def _begin(self, first: Entries) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where the entries of each key begin, and whether there are any."""
        starts = self.entries.searchsorted(first)
        return starts, are_of(self.entries.take(starts, mode="clip"), first)

    def _begin_in_pages(
        self, first: Entries
    ) -> tuple[NDArray[np.intp], Entries, NDArray[np.bool_]]:
        """Where the entries of each key begin, the page before that, and whether there are any."""
        numbers = np.maximum(self._firsts[:-1].searchsorted(first) - 1, 0)
        pages = self._pages.take(numbers)
        columns = np.count_nonzero(pages < first[:, np.newaxis], axis=1)
        there = pages[np.arange(len(pages)), np.minimum(columns, _PAGE - 1)]
        there = np.where(columns < _PAGE, there, self._firsts[numbers + 1])
        starts = numbers * _PAGE + columns
        return starts, pages, are_of(there, first) & (starts < len(self))  # the rest is no entry


def _ranges(starts: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """The places from each start on, as many as its count."""
    return np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)


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
