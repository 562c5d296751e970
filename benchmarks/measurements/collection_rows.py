"""Makes a large collection of near duplicates from small corpora, by edits that are known.

Run: python benchmarks/measurements/collection_rows.py OUT --rows 200000 CORPUS [CORPUS...]
    [--characters 1200]

CORPUS is JSON Lines (`id`, `text`), plain or compressed. A row is made of a *base*: a run of the
sentences of a few documents of a corpus, drawn by the seed, so that no two bases are alike. Of the
rows, as a seeded draw decides:

    50%  a base that no other row has
    20%  an exact copy of an earlier base, in another case or with other spaces
    20%  an earlier base with 1 to 5% of its words (Chinese: characters) replaced
     5%  an earlier base with 30% of its words replaced: no near duplicate
     5%  short: eight words of a base

A row says what it is (`kind`) and, where a base was copied or edited, the id of that (`base`) and
the exact resemblance to it (`resemblance`). The same OUT for the same arguments, on every machine.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.evaluation import read_corpus
from dedup import Document, resemblance
from dedup.text import is_unspaced

_SENTENCE = re.compile(r"[^.。！？!?\n]+[.。！？!?\n]*")
_KEPT = 5_000  # earlier bases that may be edited


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--characters", type=int, default=1_200, help="of a base, at least")
    options = parser.parse_args()
    corpora = [[each.text for each in read_corpus(path)] for path in options.corpora]
    with options.out.open("w", encoding="utf-8") as file:
        made_rows = rows(corpora, options.rows, options.seed, options.characters)
        for number, (kind, text, base) in enumerate(made_rows):
            row: dict[str, object] = {"id": number, "kind": kind}
            if base is not None:
                row |= {"base": base.id, "resemblance": likeness(text, base.text)}
            file.write(json.dumps({**row, "text": text}, ensure_ascii=False) + "\n")


class Base(NamedTuple):
    id: int
    text: str


def rows(
    corpora: list[list[str]], count: int, seed: int, n_characters: int
) -> Iterator[tuple[str, str, Base | None]]:
    choose = random.Random(seed)
    bases: list[Base] = []
    for number in range(count):
        draw = choose.random()
        if draw < 0.5 or len(bases) < 100:
            base = Base(number, made(choose, corpora, n_characters))
            if len(bases) < _KEPT:
                bases.append(base)
            else:
                bases[choose.randrange(_KEPT)] = base
            yield "base", base.text, None
            continue
        base = choose.choice(bases)
        if draw < 0.7:
            is_upper = choose.random() < 0.5
            yield "copy", base.text.upper() if is_upper else base.text.replace(" ", "  "), base
        elif draw < 0.9:
            yield "near", edited(choose, base.text, choose.uniform(0.01, 0.05)), base
        elif draw < 0.95:
            yield "far", edited(choose, base.text, 0.3), base
        else:
            yield "short", " ".join(base.text.split()[:8]), None


def likeness(first: str, second: str) -> float:
    return resemblance(Document("", first).shingles, Document("", second).shingles)


def made(choose: random.Random, corpora: list[list[str]], n_characters: int) -> str:
    """Sentences of two documents, or more of a long row, in an order of their own."""
    corpus = choose.choice(corpora)
    n_documents = max(2, n_characters // 1_000)
    sentences = [s for _ in range(n_documents) for s in _SENTENCE.findall(choose.choice(corpus))]
    choose.shuffle(sentences)
    found, size = [], 0
    for sentence in sentences:
        found.append(sentence)
        size += len(sentence)
        if size >= n_characters:
            break
    return "".join(found).strip() or "empty"


def edited(choose: random.Random, text: str, share: float) -> str:
    unspaced = is_unspaced(text)
    parts = list(text) if unspaced else text.split(" ")
    for place in choose.sample(range(len(parts)), max(int(share * len(parts)), 1)):
        parts[place] = (
            chr(choose.randrange(0x4E00, 0x9000)) if unspaced else f"w{choose.randrange(10**6):06}"
        )
    return ("" if unspaced else " ").join(parts)


if __name__ == "__main__":
    main()
