"""Were the right pages dropped, and is what a reader sees on the others in the stored texts?"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from benchmarks.sites.container import WORDS, Content

SHORT_WORDS = 50
"""A content with fewer is the same as another only if both are equal."""

SAME, COPY, FAR = 0.8, 0.9, 0.5

MISTAKES = ("wrong", "far", "lost", "twin")
_KINDS = (*MISTAKES, "copy")

_LEAST_WORDS = 5  # of a content whose text is compared
_SKETCH, _MOST_CANDIDATES = 8, 200
_MOST_NAMESAKES = 50

Row = Mapping[str, Any]
"""Of an export of a job."""

Read = Callable[[str], Content]
"""From the URL of a page to its content."""


class Likeness(NamedTuple):
    jaccard: float
    is_same: bool


@dataclass(frozen=True, slots=True)
class Drop:
    """A page that was dropped, and in what ways that was wrong.

    Attributes:
        jaccard: of the words of the page's and its original's contents, three at a time.
        kinds: "wrong", the contents are not the same; "far", below .5; "lost", no other
            page that was kept has the content either; "twin", the same but for the page's name, on
            the same host; "copy", a drop as it should be, of a page of 50 words and more.
    """

    url: str
    original_url: str
    stage: str
    jaccard: float
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The stored text of a page beside its content.

    Attributes:
        recall: share of the content's words that are in the text.
        precision: share of the text's words that are in the content.
    """

    url: str
    recall: float
    precision: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """On a crawl.

    Attributes:
        unjudged: drops that nothing can be said of, by the reason.
        texts: of the pages that were kept, those with five words and more.
        code_lines: in the contents of these.
        code_kept: of the lines, those that their texts have.
        missed: pages of 50 words and more that were kept although one of the same name was before.
        without_container: kept pages that do not have the element.
    """

    kept: int
    dropped: int
    drops: Sequence[Drop]
    unjudged: Mapping[str, int]
    texts: Sequence[Text]
    code_lines: int
    code_kept: int
    missed: int
    without_container: int

    def count(self, kind: str) -> int:
        return sum(kind in drop.kinds for drop in self.drops)

    def figures(self) -> dict[str, Any]:
        """Numbers by their names; None: there was nothing to count."""
        recalls = sorted(text.recall for text in self.texts)
        copies = self.count("copy")
        return {
            "kept": self.kept,
            "dropped": self.dropped,
            "judged": len(self.drops),
            "wrong": self.count("wrong"),
            "far": self.count("far"),
            "lost": self.count("lost"),
            "twins": self.count("twin"),
            "by_stage": _by_stage(self.drops),
            "unjudged": dict(self.unjudged),
            "recall_mean": _mean(recalls),
            "recall_p10": round(recalls[len(recalls) // 10], 4) if recalls else None,
            "pages_below_recall_.8": sum(recall < 0.8 for recall in recalls),
            "precision_mean": _mean([text.precision for text in self.texts]),
            "copies_dropped": _share(copies, copies + self.missed),
            "missed": self.missed,
            "code_lines": self.code_lines,
            "code_kept": _share(self.code_kept, self.code_lines),
            "without_container": self.without_container,
        }


def judge(kept: Sequence[Row], dropped: Sequence[Row], read: Read) -> Verdict:
    """Compare what was kept and dropped with what a reader sees.

    Linear in the pages, but for those that share a name or a part of their content. Keeps the words
    of all pages in memory.
    """
    contents = {row["url"]: read(row["url"]) for row in kept}
    drops, unjudged = _judged_drops(dropped, contents, read)
    texts = [
        (row, content)
        for row in kept
        if len((content := contents[row["url"]]).words or ()) >= _LEAST_WORDS
    ]
    code = [_code(row, content) for row, content in texts]
    return Verdict(
        kept=len(kept),
        dropped=len(dropped),
        drops=drops,
        unjudged=unjudged,
        texts=[_text(row, content.words or ()) for row, content in texts],
        code_lines=sum(lines for lines, _ in code),
        code_kept=sum(there for _, there in code),
        missed=_missed(contents[row["url"]] for row in kept),
        without_container=sum(content.words is None for content in contents.values()),
    )


def likeness(first: Content, second: Content) -> Likeness:
    """How alike two contents are, and whether they are the same page's to a reader."""
    if first.words == second.words:
        return Likeness(1.0, is_same=True)
    one, other = first.shingles, second.shingles
    shared = len(np.intersect1d(one, other, assume_unique=True))
    jaccard = shared / (len(one) + len(other) - shared)
    return Likeness(jaccard, is_same=jaccard >= SAME and not (is_short(first) or is_short(second)))


def is_short(content: Content) -> bool:
    return len(content.words or ()) < SHORT_WORDS


class _KeptContents:
    """Finds a content among those that were kept, by the smallest hashes of its shingles."""

    def __init__(self, contents: Iterable[Content]) -> None:
        self._by_shingle: defaultdict[int, list[Content]] = defaultdict(list)
        for content in contents:
            if content.words:
                for shingle in _sketch(content):
                    self._by_shingle[shingle].append(content)

    def has(self, content: Content) -> bool:
        near = {
            id(each): each
            for shingle in _sketch(content)
            for each in self._by_shingle.get(shingle, [])[:_MOST_CANDIDATES]
        }
        return any(likeness(content, each).is_same for each in near.values())


def _sketch(content: Content) -> list[int]:
    smallest: list[int] = content.shingles[:_SKETCH].tolist()
    return smallest


def _judged_drops(
    rows: Sequence[Row], contents: Mapping[str, Content], read: Read
) -> tuple[list[Drop], Counter[str]]:
    found, unjudged = [], Counter[str]()
    kept = _KeptContents(contents.values())
    for row in rows:
        content, original = read(row["url"]), contents.get(row["duplicate_of_url"])
        if original is None:
            unjudged["original not kept"] += 1
        elif content.is_missing or original.is_missing:
            unjudged["page not found again"] += 1
        elif content.words is None or original.words is None:
            unjudged["no container"] += 1
        else:
            found.append(_drop(row, content, original, kept))
    return found, unjudged


def _drop(row: Row, content: Content, original: Content, kept: _KeptContents) -> Drop:
    jaccard, is_same = likeness(content, original)
    kinds = {
        "wrong": not is_same,
        "far": not is_same and jaccard < FAR,
        "lost": not is_same and not kept.has(content),
        "twin": is_same and _are_twins(row, content, original),
        "copy": is_same
        and jaccard >= COPY
        and content.name == original.name
        and not is_short(content),
    }
    found = tuple(kind for kind in _KINDS if kinds[kind])
    return Drop(row["url"], row["duplicate_of_url"], row["stage"], jaccard, found)


def _are_twins(row: Row, content: Content, original: Content) -> bool:
    """Two pages for a reader, though one text: the pages of StdOut and of StdErr."""
    hosts = {urlsplit(row[name]).netloc for name in ("url", "duplicate_of_url")}
    has_own_text = content.words != original.words
    return has_own_text and content.name != original.name and len(hosts) == 1


def _text(row: Row, words: Sequence[str]) -> Text:
    own, stored = Counter(words), Counter(WORDS.findall((row.get("text") or "").lower()))
    shared = (own & stored).total()
    return Text(row["url"], shared / own.total(), shared / max(1, stored.total()))


def _code(row: Row, content: Content) -> tuple[int, int]:
    """The lines of code, and those of them that are in the text."""
    packed = "".join((row.get("text") or "").split()) if content.code else ""
    return len(content.code), sum(line in packed for line in content.code)


def _missed(contents: Iterable[Content]) -> int:
    missed = 0
    namesakes: defaultdict[str, list[Content]] = defaultdict(list)
    for content in contents:
        if content.words is not None and not is_short(content):
            earlier = namesakes[content.name]
            missed += any(
                likeness(content, each).jaccard >= COPY for each in earlier[:_MOST_NAMESAKES]
            )
            earlier.append(content)
    return missed


def _by_stage(drops: Iterable[Drop]) -> dict[str, int]:
    """Of each stage of the detection, what was wrong with its drops."""
    kinds = (f"{drop.stage} {kind}" for drop in drops for kind in drop.kinds if kind in MISTAKES)
    return dict(Counter(kinds))


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
