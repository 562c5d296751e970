"""Sketches of sets of hashes, by which templates are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple

import numpy as np

SKETCH_HASHES = 64
"""Of a sketch of 64 the standard error of a resemblance is 6%."""

Sketch = frozenset[int]


class RawTemplate(NamedTuple):
    """What the raw HTML of a page tells about its making.

    Attributes:
        sketch: the lowest hashes of its steps.
        may_change: is there anything in the page that may change it in a browser?
    """

    sketch: Sketch
    may_change: bool


def sketch_of(hashes: Iterable[int]) -> Sketch:
    """The sketch of a set of 64-bit hashes: its lowest."""
    return frozenset(nsmallest(SKETCH_HASHES, hashes))


def are_alike(first: Sketch, second: Sketch, share: float) -> bool:
    """Is the estimated resemblance of the sets at least `share`? That of two empty ones is 1."""
    both = first & second
    n_lowest = min(len(first) + len(second) - len(both), SKETCH_HASHES)
    if len(both) < share * n_lowest:
        return False
    lowest = nsmallest(SKETCH_HASHES, first | second)
    return sum(each in both for each in lowest) >= share * len(lowest)


def to_bytes(sketch: Sketch) -> bytes:
    return np.array(sorted(sketch), dtype="<u8").tobytes()


def from_bytes(data: bytes) -> Sketch:
    return frozenset(np.frombuffer(data, dtype="<u8").tolist())
