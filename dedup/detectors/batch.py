"""Which documents of a batch share a key with any document before them."""

import numpy as np
from numpy.typing import NDArray

from dedup.index.multimap import Multimap


def shared_keys(
    index: Multimap, keys: NDArray[np.uint32], owners: NDArray[np.intp], count: int
) -> NDArray[np.bool_]:
    """Tell of each of `count` documents whether a key of its is in the index or an earlier one's.

    Args:
        index: the keys of the documents added.
        keys: those of the batch, one document after the other.
        owners: which document of the batch each key belongs to, ascending.
        count: documents of the batch.
    """
    is_shared = np.zeros(count, np.bool_)
    is_shared[owners[index.contains(keys)]] = True
    order = np.argsort(keys, kind="stable")
    is_repeated = keys[order][1:] == keys[order][:-1]
    is_shared[owners[order][1:][is_repeated]] = True
    return is_shared
