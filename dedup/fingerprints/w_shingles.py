"""w-shinglings of any width: sets and bags, to compare with what others have published.

What a near duplicate is goes by `Document.shingles`, whose width is fixed; `dedup.resemblance`
compares sets of either kind.

Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997, section 2.
"""

import numpy as np
from numpy.typing import NDArray

from dedup.text.codepoints import hash_windows
from dedup.text.shingles import count_distinct, word_characters, word_hashes


def w_shingles(
    normal_text: str, width: int, *, unspaced: bool = False, as_bag: bool = False
) -> NDArray[np.uint64]:
    r"""Return the hashes of all runs of `width` words, or `\w` characters, ascending.

    Args:
        normal_text: a text in normal form.
        width: words or characters a shingle, at least 1; a text that has fewer has no shingle.
        unspaced: is the text in a script without spaces between words?
        as_bag: count repeats: the n-th occurrence of a shingle is another member than the first.
            Broder's option A; the default is his option B, the set.

    >>> rose = "a rose is a rose is a rose"
    >>> len(w_shingles(rose, 4)), len(w_shingles(rose, 4, as_bag=True))
    (3, 5)
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width!r}")
    values = word_characters(normal_text) if unspaced else word_hashes(normal_text)
    distinct, counts = count_distinct(hash_windows(values, width))
    if not as_bag:
        return distinct
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    occurrences = (np.arange(len(starts)) - starts).astype(np.uint64)
    members = np.repeat(distinct, counts)
    is_repeat = occurrences > 0
    pairs = members[is_repeat] ^ hash_windows(occurrences[is_repeat], 1)
    members[is_repeat] = hash_windows(pairs, 1)
    members.sort()
    return members
