"""What people call the same: the default cascade on pairs of documents that people have judged.

Run: python benchmarks/measurements/judged_pairs.py CORPUS JUDGED [--near 1] [--same 3] [--list]

CORPUS is JSON Lines (`id`, `text`, and perhaps `title`), plain or compressed. JUDGED has
a line for each judged pair, `id<TAB>id<TAB>grade`. Grades are whole numbers, 0 for two different
documents, and the greater the more they are the same. From `--near` on a pair counts as near
duplicates to people, from `--same` on as the same document.

The sample that docs/detection.md names has a folder `A_vs_B` for each pair. Its two documents are
the files `full-text-A` and `full-text-B`, which the judges saw, and its grade is in `label`.

Each pair has a cascade of its own: the first document is kept, and the second is dropped or not.
What else the collection holds, about which nobody was asked, does not count. Three tables:

1. The curve: for thresholds from .5 to .95 how many pairs are dropped, the share of them that is
   near to people (precision), the shares of the same and of the near pairs that are dropped
   (recall), and how many pairs the detectors did not propose though their resemblance reaches it.
2. The grades by resemblance: they tell how the sample was drawn, on which precision hangs.
3. The errors at the default threshold by their class, with `--list` one by one.

A pair that is dropped and not near to people has the class `equal text`, where the judgement is in
doubt, or `threshold`. The class of a pair that is the same to people and not dropped is the first
that holds:

- short: the rule for few shingles decided;
- missed: the resemblance reaches the threshold, and no detector proposed the pair;
- marks, invisible characters, apostrophes or hyphens: without them (`FORMS`) the resemblance
  reaches it;
- word breaks: likewise, if white space did not count;
- order: nearly the same words equally often, in another order;
- held: one text is nearly all of it in the other, which has more: furniture, or an addition;
- threshold: a resemblance of .5 and more, so that a lower threshold would drop it;
- other words: less than that.
"""

import argparse
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.evaluation import LEAST_RESEMBLANCE, read_corpus
from benchmarks.evaluation.corpus import open_text
from dedup import DedupConfig, Deduplicator, Document, containment, resemblance
from dedup.text import normalise

_THRESHOLDS = [round(0.5 + 0.05 * step, 2) for step in range(10)]
_NEARLY_ALL = 0.95
_WINDOW = 15
"""Characters, as many as three English words have: an edit costs about as much as in shingles."""


@dataclass(frozen=True)
class Pair:
    first: Document
    second: Document
    grade: int

    @property
    def resemblance(self) -> float:
        return resemblance(self.first.shingles, self.second.shingles)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("judged", type=Path)
    parser.add_argument("--near", type=int, default=1, help="least grade of a near duplicate")
    parser.add_argument("--same", type=int, default=3, help="least grade of the same document")
    parser.add_argument("--list", action="store_true", help="list the errors one by one")
    options = parser.parse_args()
    if options.near > options.same:
        parser.error(f"--near must be at most --same ({options.same}), got {options.near}")
    pairs = list(read_judged(options.judged, read_corpus(options.corpus)))
    print(f"{len(pairs)} pairs: grades {dict(sorted(Counter(p.grade for p in pairs).items()))}\n")
    print_curve(pairs, near=options.near, same=options.same)
    print_grades(pairs)
    print_errors(pairs, near=options.near, same=options.same, one_by_one=options.list)


def read_judged(path: Path, documents: Sequence[Document]) -> Iterator[Pair]:
    known = {document.id: document for document in documents}
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                first, second, grade = line.rstrip("\r\n").split("\t")
                yield Pair(known[first], known[second], int(grade))
            except KeyError as error:
                raise SystemExit(f"{path}, line {number}: unknown id {error}") from None
            except ValueError:
                raise SystemExit(
                    f"{path}, line {number}: expected id, id and a whole grade with tabs between, "
                    f"found {line.rstrip()[:100]!r}"
                ) from None


def is_dropped(pair: Pair, config: DedupConfig) -> bool:
    deduplicator = Deduplicator(config=config)
    deduplicator.add(pair.first)
    return deduplicator.find(pair.second) is not None


def print_curve(pairs: Sequence[Pair], *, near: int, same: int) -> None:
    print("threshold  dropped  near to people  of the same  of the near  missed")
    near_pairs = [pair for pair in pairs if pair.grade >= near]
    same_pairs = [pair for pair in pairs if pair.grade >= same]
    for threshold in _THRESHOLDS:
        config = DedupConfig(near_resemblance=threshold)
        dropped = [pair for pair in pairs if is_dropped(pair, config)]
        shares = [
            _share([pair for pair in dropped if pair.grade >= near], dropped),
            _share([pair for pair in dropped if pair.grade >= same], same_pairs),
            _share([pair for pair in dropped if pair.grade >= near], near_pairs),
        ]
        reached = sum(
            pair.resemblance >= threshold and not is_short(pair, config) and pair not in dropped
            for pair in pairs
        )
        print(
            f"{threshold:9.2f}{len(dropped):9}{shares[0]:>16}{shares[1]:>13}{shares[2]:>13}"
            f"{reached:8}"
        )
    print()


def print_grades(pairs: Sequence[Pair]) -> None:
    grades = sorted({pair.grade for pair in pairs})
    print("resemblance" + "".join(f"{f'grade {grade}':>9}" for grade in grades))
    edges = [0.0, *_THRESHOLDS, 1.01]
    for lower, upper in pairwise(edges):
        found = Counter(pair.grade for pair in pairs if lower <= pair.resemblance < upper)
        label = f"{lower:.2f}-{min(upper, 1):.2f}"
        print(f"{label:11}" + "".join(f"{found[grade]:9}" for grade in grades))
    print()


def print_errors(pairs: Sequence[Pair], *, near: int, same: int, one_by_one: bool) -> None:
    config = DedupConfig()
    classes: dict[str, list[Pair]] = {}
    for pair in pairs:
        dropped = is_dropped(pair, config)
        if dropped and pair.grade < near:
            classes.setdefault(f"dropped: {class_of_dropped(pair)}", []).append(pair)
        elif not dropped and pair.grade >= same:
            classes.setdefault(f"not found: {class_of_kept(pair, config)}", []).append(pair)
    print(f"errors at {config.near_resemblance}: {sum(map(len, classes.values()))}")
    for name, found in sorted(classes.items()):
        print(f"{len(found):5}  {name}")
        for pair in found if one_by_one else ():
            print(
                f"       {pair.first.id} {pair.second.id} grade {pair.grade}, "
                f"resemblance {pair.resemblance:.3f}"
            )


def class_of_dropped(pair: Pair) -> str:
    first, second = (document.normal_text.split() for document in (pair.first, pair.second))
    return "equal text" if first == second else "threshold"


def class_of_kept(pair: Pair, config: DedupConfig) -> str:
    if is_short(pair, config):
        return "short"
    if pair.resemblance >= config.near_resemblance:
        return "missed"
    for name, form in FORMS.items():
        if _resemblance_in(form, pair) >= config.near_resemblance:
            return name
    if _resemblance_of_windows(pair) >= config.near_resemblance:
        return "word breaks"
    if _resemblance_of_counts(pair) >= _NEARLY_ALL:
        return "order"
    if _containment(pair) >= _NEARLY_ALL:
        return "held"
    return "threshold" if pair.resemblance >= LEAST_RESEMBLANCE else "other words"


def is_short(pair: Pair, config: DedupConfig) -> bool:
    return min(len(pair.first.shingles), len(pair.second.shingles)) < config.short_shingles


def _resemblance_in(form: Callable[[str], str], pair: Pair) -> float:
    first, second = (Document(each.id, form(each.text)) for each in (pair.first, pair.second))
    return resemblance(first.shingles, second.shingles)


def _resemblance_of_windows(pair: Pair) -> float:
    r"""That of the runs of `\w` characters, wherever the white space stands."""
    joined = ["".join(_words(each.text)) for each in (pair.first, pair.second)]
    first, second = (
        {text[start : start + _WINDOW] for start in range(len(text) - _WINDOW + 1)}
        for text in joined
    )
    return len(first & second) / max(len(first | second), 1)


def _resemblance_of_counts(pair: Pair) -> float:
    first, second = (Counter(_words(each.text)) for each in (pair.first, pair.second))
    return (first & second).total() / max((first | second).total(), 1)


def _containment(pair: Pair) -> float:
    part, whole = sorted((pair.first.shingles, pair.second.shingles), key=len)
    return containment(part, whole)


def without_marks(text: str) -> str:
    """Vowel signs and accents; of Arabic script, letters that differ by country as well."""
    letters = unicodedata.normalize("NFD", text).translate(_ARABIC)
    return "".join(each for each in letters if not unicodedata.category(each).startswith("M"))


def without_invisible(text: str) -> str:
    """Soft hyphens, joiners, marks of direction."""
    return "".join(each for each in text if unicodedata.category(each) != "Cf")


def without_apostrophes(text: str) -> str:
    return re.sub(r"(?<=\w)['\u2018\u2019\u0092`\u00b4](?=\w)", "", text)


def without_hyphens(text: str) -> str:
    """At the end of a line, too: both parts become one word."""
    return re.sub(r"(?<=\w)[-\u00ad\u2010\u2011\u2013]\s*(?=\w)", "", text)


FORMS: dict[str, Callable[[str], str]] = {
    "marks": without_marks,
    "invisible characters": without_invisible,
    "apostrophes": without_apostrophes,
    "hyphens": without_hyphens,
}
"""Looser normal forms: what a text would be if such a difference did not count."""

_ARABIC = str.maketrans(
    "\u064a\u0649\u0643\u0647\u0629", "\u06cc\u06cc\u06a9\u06c1\u06c1", "\u0640"
)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", normalise(text))


def _share(part: Sequence[Pair], whole: Sequence[Pair]) -> str:
    return f"{len(part) / len(whole):.3f}" if whole else "-"


if __name__ == "__main__":
    main()
