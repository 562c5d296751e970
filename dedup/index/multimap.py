"""A compact map from 32-bit keys to document numbers, for indexes that are many and large."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import UNBOUNDED, Arrays
from dedup.index.entries import NUMBER_MASK, Entries, EntryRun, are_of
from dedup.text.shingles import count_distinct

_TAIL_ENTRIES = 1 << 9
"""Entries that are collected, unsorted, before they become a run: a lookup scans them all."""

_GROWTH = 8
"""A run is merged with the previous run unless that is more than this many times as long."""

_KEYS_AT_ONCE = 1 << 8
"""What a batch looks up at a time in files: so few that their pages take little memory."""

_KEY_BITS = np.uint64(32)
_LAST_NUMBER = 2**32 - 1

_NOTHING = np.empty(0, np.uint64)
_NOBODY = np.empty(0, np.int64)


AT_MOST = 1 << 10
"""Numbers that are looked at for a key, unless another limit is asked for."""


class Multimap:
    """Documents by key: each may have several keys, each key any number of documents.

    Exact for its 32-bit keys. Where a key stands for something longer, what is found is a
    candidate; of n entries, n / 2^32 collide with a random key.

    An entry is one 64-bit integer, key before number, so it takes 8 bytes. Entries stand in sorted
    runs, each the older the longer, and a tail of at most 512, which every lookup reads. A full
    tail becomes a run; a run at most 8 times as long as what follows it is merged with that. So
    there are few runs, and an entry is copied a few dozen times. Long runs may be in files.

    Numbers are 0 to 2^32 - 1 and must not descend from one call to the next: then the entries of
    a key have ascending numbers, and the first of them are the same however they were added.

    Args:
        arrays: makes the runs; may be replaced, for those made later.

    >>> index = Multimap()
    >>> index.add(np.uint32([7, 8]), 1)
    >>> index.add(np.uint32([8, 9]), 2)
    >>> index.find(np.uint32([8, 9]))
    (array([2, 1]), array([2, 1]))
    """

    def __init__(self, arrays: Arrays = UNBOUNDED) -> None:
        self.arrays = arrays
        self._runs: list[EntryRun] = []
        self._tail = _NOTHING
        self._tail_length = 0
        self._sorted_tail: EntryRun | None = None

    def __len__(self) -> int:
        return self._tail_length + sum(map(len, self._runs))

    @property
    def size_bytes(self) -> int:
        """Of all entries, in memory and in files; while runs are merged, about as much again."""
        return self._tail.nbytes + sum(run.size_bytes for run in self._runs)

    def add(self, keys: NDArray[np.uint32], number: int) -> None:
        """Make `number` findable under each of `keys`.

        Raises:
            ValueError: `number` has more than 32 bits.
        """
        if not 0 <= number <= _LAST_NUMBER:
            raise ValueError(f"number must be 0 to {_LAST_NUMBER}, got {number!r}")
        self._append((keys.astype(np.uint64) << _KEY_BITS) | np.uint64(number))

    def add_many(self, keys: NDArray[np.uint32], numbers: NDArray[Any]) -> None:
        """Add documents at once: row `i` of `keys`, or key `i`, are those of `numbers[i]`."""
        if len(numbers) and not 0 <= numbers[0] <= numbers[-1] <= _LAST_NUMBER:
            raise ValueError(f"numbers must ascend from 0 to {_LAST_NUMBER}, got {numbers!r}")
        columns = keys.reshape(len(numbers), -1).astype(np.uint64)
        entries = (columns << _KEY_BITS) | numbers.astype(np.uint64)[:, np.newaxis]
        self._append(entries.ravel())

    def find(
        self, keys: NDArray[np.uint32], *, at_most: int = AT_MOST
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers under `keys`, and under how many of them each is.

        Those under the most keys come first, then smaller numbers before greater ones. Of a key
        with more numbers, only the `at_most` smallest are looked at: a sentence or a band that all
        pages of a site share says little, and reading all of its numbers would take ever longer.

        Args:
            keys: different ones.
            at_most: numbers that are looked at for each key.
        """
        if self.arrays.has_files:
            self.arrays.note_lookups(1)
        found = list(self._entries(keys.astype(np.uint64) << _KEY_BITS, at_most))
        if not found:
            return _NOBODY, _NOBODY
        numbers, counts = count_distinct(np.concatenate(found) & NUMBER_MASK)
        order = np.argsort(-counts, kind="stable")
        return numbers[order].astype(np.int64), counts[order]

    def contains(self, keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell for each key whether any number is under it; for many keys at once."""
        first = keys.astype(np.uint64) << _KEY_BITS
        is_found = np.zeros(len(first), np.bool_)
        runs = self._searchable()
        for part in self._portions(len(first)):
            for run in runs:
                is_found[part] |= run.contains(first[part])
        return is_found

    def find_many(
        self, keys: NDArray[np.uint32], owners: NDArray[np.intp], *, at_most: int = AT_MOST
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return what is under keys of several owners: pairs of owner and number, each once.

        Args:
            keys: different ones of each owner.
            owners: whose each key is, 0 to 2^32 - 1.
            at_most: numbers that are looked at for each key.
        """
        first = keys.astype(np.uint64) << _KEY_BITS
        pairs = [_NOTHING]
        runs = self._searchable()
        for part in self._portions(len(first)):
            room = np.full(len(first[part]), at_most)
            for run in runs:
                places, entries = run.entries_of(first[part], room)
                room -= np.bincount(places, minlength=len(room))
                owned = owners[part][places].astype(np.uint64) << _KEY_BITS
                pairs.append(owned | (entries & NUMBER_MASK))
        distinct, _ = count_distinct(np.concatenate(pairs))
        return (distinct >> _KEY_BITS).astype(np.intp), (distinct & NUMBER_MASK).astype(np.int64)

    def _entries(self, first: Entries, at_most: int) -> Iterator[Entries]:
        """Yield the entries of some keys; `first` are the smallest entries that they can have."""
        room = np.full(len(first), at_most)
        for run in self._runs:
            places, entries = run.entries_of(first, room)
            if len(places):
                room -= np.bincount(places, minlength=len(room))
                yield entries
        tail = self._tail[: self._tail_length]
        are_found = are_of(tail, first[:, np.newaxis])
        if are_found.any():
            rows, columns = are_found.nonzero()
            ranks = np.arange(len(rows)) - rows.searchsorted(rows)
            yield tail[columns[ranks < room[rows]]]

    def _append(self, entries: Entries) -> None:
        self._sorted_tail = None
        length = self._tail_length + len(entries)
        if length <= _TAIL_ENTRIES:
            if length > len(self._tail):  # to the next power of two: small indexes stay small
                self._tail = np.resize(self._tail, 1 << (length - 1).bit_length())
            self._tail[self._tail_length : length] = entries
            self._tail_length = length
            return
        merged = [np.sort(np.concatenate((self._tail[: self._tail_length], entries)))]
        length = len(merged[0])
        first = len(self._runs)
        while first and len(self._runs[first - 1]) <= _GROWTH * length:
            first -= 1
            merged.append(self._runs[first].entries)
            length += len(merged[-1])
        self._runs[first:] = [EntryRun(merged, self.arrays)]
        self._tail_length = 0

    def _searchable(self) -> list[EntryRun]:
        """The runs, and the tail as one more: for a batch, sorting it pays."""
        if not self._tail_length:
            return self._runs
        if self._sorted_tail is None:
            self._sorted_tail = EntryRun([np.sort(self._tail[: self._tail_length])], UNBOUNDED)
        return [*self._runs, self._sorted_tail]

    def _portions(self, count: int) -> Iterator[slice]:
        """Parts of a batch; what each has read of files is unmapped if it is too much."""
        at_once = _KEYS_AT_ONCE if self.arrays.has_files else max(count, 1)
        for start in range(0, count, at_once):
            yield slice(start, start + at_once)
            self.arrays.trim()

    def _check(self) -> None:
        """Raise `AssertionError` where an invariant does not hold."""
        for run in self._runs:
            run.check()
        for older, newer in pairwise(self._runs):
            if len(older) <= _GROWTH * len(newer):
                raise AssertionError("broken invariant: an older run is much longer")
            if (older.entries & NUMBER_MASK).max() > (newer.entries & NUMBER_MASK).min():
                raise AssertionError("broken invariant: an older run has the smaller numbers")
