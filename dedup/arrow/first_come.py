"""Who stays: a row is dropped if an earlier row that stays duplicates it.

Not the components of the graph: where versions form a chain, A like B like C and C unlike A, then C
stays.
"""

import numpy as np
from numpy.typing import NDArray


def first_come(earlier: NDArray[np.int64], later: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that are dropped, ascending, from all pairs of duplicates.

    Args:
        earlier: the first row of each pair; rows are numbered in their order.
        later: the second one.

    >>> first_come(np.array([1, 2]), np.array([2, 3]))
    array([2])
    """
    order = np.argsort(later, kind="stable")
    dropped: set[int] = set()
    for first, second in zip(earlier[order].tolist(), later[order].tolist(), strict=True):
        if first not in dropped:
            dropped.add(second)
    return np.array(sorted(dropped), np.int64)
