"""Checks that passages are found exactly: against the ranks of a suffix array.

Run: python benchmarks/measurements/passages_exact.py CORPUS... [--words 50] [--texts 500]

CORPUS is what `benchmarks.evaluation.read_corpus` reads. Of all texts, those of each corpus up to
--texts, each run of so many words is ranked by prefix doubling (Manber and Myers, Suffix arrays,
1990); of equal ones the first counts, without those that overlap it. The words covered by all
others must be those of the passages found by `dedup.collection.passages.PassageFinder`.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation import read_corpus
from dedup.collection.passages import PassageFinder
from dedup.text import is_unspaced
from dedup.text.passages import Units, passages_of, place_of


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--texts", type=int, default=500)
    options = parser.parse_args()
    texts = [each.text for path in options.corpora for each in read_corpus(path)[: options.texts]]
    began = time.process_time()
    found, characters = covered(texts, options.words)
    took = time.process_time() - began
    expected = by_ranks(texts, options.words)
    n_words = sum(map(len, expected))
    n_cut = sum(int(each.sum()) for each in expected)
    is_equal = all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    print(
        f"{len(texts):,} texts, {n_words:,} words or characters, {n_cut:,} in repeated passages"
        f" ({characters:,} characters), {took:.1f} CPU seconds:"
        f" {'equal' if is_equal else 'DIFFERENT'}"
    )


def covered(texts: Sequence[str], width: int) -> tuple[list[NDArray[np.bool_]], int]:
    """Which words of each text are in passages, and how many characters are cut."""
    masks = [np.zeros(len(Units(text)), np.bool_) for text in texts]
    characters = 0
    with TemporaryDirectory() as folder:
        finder = PassageFinder(width, Path(folder))
        for number, text in enumerate(texts):
            finder.add(number, text)
        for number, stretches in finder.found():
            for each in stretches:
                start = each.start - place_of(number)
                masks[number][start : start + each.n_windows + width - 1] = True
            rest = passages_of(texts[number], stretches, width).rest
            characters += len(texts[number]) - len(rest or "")
    return masks, characters


def by_ranks(texts: Sequence[str], width: int) -> list[NDArray[np.bool_]]:
    units = [Units(text).at(0, len(text)) for text in texts]
    kinds = ["c" if is_unspaced(text) else "w" for text in texts]
    ids: dict[str, int] = {}
    codes: list[int] = []
    for number, (kind, each) in enumerate(zip(kinds, units, strict=True)):
        codes += [ids.setdefault(kind + unit, len(ids)) for unit in each]
        codes.append(ids.setdefault(f"end {number}", len(ids)))
    ranks, length = np.array(codes), 1
    while 2 * length <= width:
        ranks, length = _joined(ranks, length), 2 * length
    ranks = _joined(ranks, width - length)
    _, firsts = np.unique(ranks, return_index=True)
    bounds = np.cumsum([0, *(len(each) + 1 for each in units)])
    masks = [np.zeros(len(each), np.bool_) for each in units]
    for mask, start in zip(masks, bounds.tolist(), strict=False):
        for at in range(len(mask) - width + 1):
            if start + at - firsts[ranks[start + at]] >= width:
                mask[at : at + width] = True
    return masks


def _joined(ranks: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Ranks of runs, from those of their beginnings and of what begins `step` later."""
    after = np.append(ranks[step:], np.zeros(step, np.int64))
    _, found = np.unique(ranks * (int(ranks.max()) + 1) + after, return_inverse=True)
    return found


if __name__ == "__main__":
    main()
