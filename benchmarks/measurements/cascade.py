"""The default cascade beside datasketch's MinHash and LSH: documents a second over the same text.

Run: python benchmarks/measurements/cascade.py CORPUS [CORPUS...]

CORPUS is JSON Lines (`id`, `text`), plain or compressed. Both take texts and drop near duplicates
as a stream: ours by `Deduplicator.process_many`, datasketch by `MinHash.update_batch` over the set
of shingles (3 words, or 5 characters of Chinese), 128 permutations, and `MinHashLSH` at 0.8, with
no check of its candidates.
Five rounds of both in turn; the median of each and its range.
"""

import argparse
import platform
import re
import statistics
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from datasketch import MinHash, MinHashLSH

from benchmarks.evaluation import read_corpus
from dedup import Deduplicator, Document
from dedup.text import is_unspaced

_ROUNDS = 5
_WORDS = re.compile(r"\w+")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    options = parser.parse_args()
    print(f"Python {platform.python_version()} numpy {np.__version__}", end=" ")
    print(f"datasketch {version('datasketch')}")
    for path in options.corpora:
        documents = read_corpus(path)
        ours(documents[:100]), datasketch(documents[:100])
        rates: dict[str, list[float]] = {"cascade": [], "datasketch": []}
        dropped = {}
        for _ in range(options.rounds):
            for name, run in (("cascade", ours), ("datasketch", datasketch)):
                start = time.process_time()
                dropped[name] = run(documents)
                rates[name].append(len(documents) / (time.process_time() - start))
        medians = {name: statistics.median(found) for name, found in rates.items()}
        print(f"{path.name}: {len(documents):,} documents")
        for name, found in rates.items():
            print(
                f"  {name:11}{medians[name]:8,.0f} documents/s ({min(found):,.0f} to "
                f"{max(found):,.0f}), {dropped[name]} dropped"
            )
        print(f"  ratio {medians['cascade'] / medians['datasketch']:.1f}")


def ours(documents: Sequence[Document]) -> int:
    afresh = (Document(id=document.id, text=document.text) for document in documents)
    return sum(verdict.is_duplicate for verdict in Deduplicator().process_many(afresh))


def datasketch(documents: Sequence[Document]) -> int:
    lsh = MinHashLSH(threshold=0.8, num_perm=128)
    dropped = 0
    for document in documents:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(document.text)])
        if lsh.query(sketch):
            dropped += 1
        else:
            lsh.insert(document.id, sketch)
    return dropped


def shingles(text: str) -> set[str]:
    text = text.lower()
    words = _WORDS.findall(text)
    if is_unspaced(text):
        joined = "".join(words)
        return {joined[start : start + 5] for start in range(len(joined) - 4)}
    return set(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


if __name__ == "__main__":
    main()
