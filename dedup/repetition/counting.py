"""On how many pages of its host each long line stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dedup.collection.sorted_runs import SortedRuns
from dedup.repetition.lines import Keys, lines_of, stand_once
from dedup.text.codepoints import POWERS_KEPT

MIN_PAGES = 5
"""On fewer pages nothing counts as repeated: three versions of a page are no reason."""

_PORTION_CHARACTERS = POWERS_KEPT


@dataclass(frozen=True)
class Counts:
    """The long lines, and those in front of them with them, that stand on enough pages.

    Of different lines that share a key, by chance one pair in 2**64, the counts are added.

    Attributes:
        share: a repeated line stands on at least this share of its host's pages.
        pages: the number of pages of each host.
        keys: ascending, see `Lines`.
        counts: the number of pages of each.
    """

    share: float
    pages: Mapping[str, int]
    keys: Keys
    counts: NDArray[np.intp]

    def of(self, keys: Keys) -> NDArray[np.intp]:
        """The counts of keys; 0 if they are too low."""
        if not len(self.keys):
            return np.zeros(len(keys), np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 0)

    def are_enough(self, counts: NDArray[np.intp], host: str) -> NDArray[np.bool_]:
        """Are lines on that many pages of a host repeated?"""
        return _are_enough(counts, self.pages.get(host, 1), self.share)


def count_lines(texts: Iterable[tuple[str, str]], share: float, folder: Path) -> Counts:
    """Count the pages of lines, exactly.

    Memory holds the hosts, and the lines that stand on enough pages; the rest is on disk.

    Args:
        texts: the host of each page, and its text.
        share: see `Counts`.
        folder: of temporary files: 32 bytes a line.

    Raises:
        OSError: the disk is full.
    """
    hosts: dict[str, int] = {}
    pages: list[int] = []
    with closing(SortedRuns(folder)) as runs:
        for batch in _batches(texts):
            for host, _ in batch:
                if host not in hosts:
                    hosts[host] = len(pages)
                    pages.append(0)
                pages[hosts[host]] += 1
            _add(batch, hosts, runs)
        sizes = np.array(pages, np.intp)
        found = [_repeated(*portion, sizes, share) for portion in runs.portions()]
    keys, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    return Counts(share, {host: pages[number] for host, number in hosts.items()}, keys, counts)


def _batches(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for host, text in texts:
        if batch and size + len(text) >= _PORTION_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append((host, text))
        size += len(text) + 1
    if batch:
        yield batch


def _add(batch: list[tuple[str, str]], hosts: Mapping[str, int], runs: SortedRuns) -> None:
    lines = lines_of([text for _, text in batch], [host for host, _ in batch])
    owners = np.repeat(np.arange(len(batch)), np.diff(lines.first))
    numbers = np.array([hosts[host] for host, _ in batch], np.uint64)
    is_before_long = np.append(lines.is_long[1:], False)
    is_before_long[lines.first[1:] - 1] = False  # the last line of each text
    for keys, chosen in ((lines.keys, lines.is_long), (lines.pairs, is_before_long)):
        once = stand_once(keys[chosen], owners[chosen])
        runs.add(keys[chosen][once], numbers[owners[chosen][once]])


def _are_enough(
    counts: NDArray[np.intp], pages: int | NDArray[np.intp], share: float
) -> NDArray[np.bool_]:
    return (counts >= MIN_PAGES) & (counts / pages >= share)


def _repeated(
    keys: Keys, hosts: Keys, pages: NDArray[np.intp], share: float
) -> tuple[Keys, NDArray[np.intp]]:
    """The keys that stand on enough pages."""
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    counts = np.diff(np.append(first, len(keys)))
    enough = _are_enough(counts, pages[hosts[first].astype(np.intp)], share)
    return keys[first[enough]], counts[enough]
