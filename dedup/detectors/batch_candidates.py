"""Which documents of a batch share a key with any document before them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.second_check import SecondCheck
from dedup.document import Document
from dedup.index.multimap import AT_MOST, Multimap


def shared_keys(
    index: Multimap, keys: NDArray[np.uint32], owners: NDArray[np.intp], count: int
) -> NDArray[np.bool_]:
    """For each of `count` documents: does it share a key with the index or an earlier document?

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


def promising_keys(
    index: Multimap,
    check: SecondCheck,
    documents: Sequence[Document],
    keys: NDArray[np.uint32],
    owners: NDArray[np.intp],
    among: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Like `shared_keys`, but False for documents whose candidates are all ruled out.

    Only documents `among` those asked about are looked up.
    """
    may_match = np.zeros(len(documents), np.bool_)
    if not len(keys):
        return may_match
    batch = Multimap()
    batch.add_many(keys, owners)
    is_among = among[owners]
    keys, owners = keys[is_among], owners[is_among]
    asked, places = batch.find_many(keys, owners)
    asked, places = asked[places < asked], places[places < asked]
    may_match[asked[check.may_be_near_each_other(documents, asked, places)]] = True
    for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
        first, last = owners.searchsorted([start, start + _DOCUMENTS_AT_ONCE])
        asked, numbers = index.find_many(keys[first:last], owners[first:last])
        may_match |= np.bincount(asked, minlength=len(documents)) >= AT_MOST  # some were cut off
        may_match[asked[check.may_be_near(documents, asked, numbers)]] = True
    return may_match


_DOCUMENTS_AT_ONCE = 64
"""Each may have a thousand candidates for each of its keys."""
