"""In which order rows are judged, so that the right one of several stays.

Being duplicates is not transitive, so no row is chosen from a group: rows are judged in the order
of preference, and each is compared with those that stay.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def judging_order(
    groups: Sequence[int], preferences: Sequence[NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Return the places of all rows, group by group; in each the greatest preference first.

    Args:
        groups: the number of each row's group.
        preferences: of each row, by the first criterion, the second and so on. Of rows that are
            equal in all the first one comes first.
    """
    liked = [-each for each in reversed(preferences)]
    return np.lexsort((np.arange(len(groups)), *liked, np.asarray(groups, np.int64)))
