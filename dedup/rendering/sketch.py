"""Sketches of sets of hashes, by which templates are told apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SKETCH_HASHES = 64
"""Of a sketch of 64 the standard error of a resemblance is 6%."""

Sketch = NDArray[np.uint64]


class RawTemplate(NamedTuple):
    """What the raw HTML of a page tells about its making.

    Attributes:
        sketch: the lowest hashes of its steps, ascending.
        may_change: is there anything in the page that may change it in a browser?
    """

    sketch: Sketch
    may_change: bool


def resemblance(first: Sketch, second: Sketch) -> float:
    """The estimated resemblance of the sets that two sketches are of; 1.0 of two empty ones."""
    lowest = np.union1d(first, second)[:SKETCH_HASHES]
    if not len(lowest):
        return 1.0
    both = np.intersect1d(first, second, assume_unique=True)
    return float(np.isin(lowest, both, assume_unique=True).sum()) / len(lowest)
