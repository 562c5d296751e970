"""Hashes as the 32-bit keys of a detector."""

import numpy as np
from numpy.typing import NDArray

from dedup.text.shingles import count_distinct


def low_keys(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the lower halves of some hashes, each once, ascending."""
    return count_distinct(hashes & np.uint64(0xFFFF_FFFF))[0].astype("<u4")
