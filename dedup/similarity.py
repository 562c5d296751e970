"""How alike two sets of shingles are (Broder, SEQUENCES 1997): resemblance and containment.

Sets are ascending arrays of 64-bit hashes without repeats, as `Document.shingles` gives them.
"""

import numpy as np
from numpy.typing import NDArray


def resemblance(
    first: NDArray[np.uint64], second: NDArray[np.uint64], *, at_least: float = 0.0
) -> float:
    """Return the Jaccard coefficient of two sets: shared members over all members, 0 to 1.

    Two empty sets resemble each other by 0: there is nothing that they share.

    Where only a resemblance of `at_least` matters, a smaller one may come back as 0.0 without the
    sets having been compared: it can be no more than smaller set over larger set.

    >>> resemblance(np.uint64([1, 2, 3]), np.uint64([2, 3, 4]))
    0.5
    """
    smaller, larger = sorted((len(first), len(second)))
    if smaller == 0 or smaller < at_least * larger:
        return 0.0
    shared = _count_shared(first, second)
    return shared / (smaller + larger - shared)


def containment(part: NDArray[np.uint64], whole: NDArray[np.uint64]) -> float:
    """Return the share of the members of `part` that are in `whole`, 0 to 1; 0 for an empty part.

    >>> containment(np.uint64([1, 2]), np.uint64([2, 3, 4]))
    0.5
    """
    return _count_shared(part, whole) / len(part) if len(part) else 0.0


def _count_shared(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    both = np.concatenate((first, second))
    both.sort(kind="stable")  # merges two ascending runs in linear time
    return int(np.count_nonzero(both[1:] == both[:-1]))
