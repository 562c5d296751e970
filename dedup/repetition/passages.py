"""The repeated passages of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import NamedTuple

import numpy as np

from dedup.repetition.counting import Counts
from dedup.repetition.lines import Lines, lines_of, stand_once

_INTRODUCES = ":", "："
"""What a line ends with that says what the next ones are."""


class Layout(NamedTuple):
    """What the markup of a page says of its lines.

    Attributes:
        fixed: lines that stay, such as those of programs.
        levels: of headings, 1 and more; the section of one ends with the next of its level or of
            a lower number.
    """

    fixed: Set[str] = frozenset()
    levels: Mapping[str, int] = {}


class Found(NamedTuple):
    """The lines of a text, and which of them are repeated passages.

    Attributes:
        lines: all of them.
        words: the number of words of each.
        is_repeated: does it belong to a passage?
    """

    lines: Sequence[str]
    words: Sequence[int]
    is_repeated: Sequence[bool]

    @property
    def rest(self) -> str:
        """The text without the passages."""
        kept = zip(self.lines, self.is_repeated, strict=True)
        return "\n".join(line for line, is_repeated in kept if not is_repeated)

    def passages(self) -> Iterator[tuple[str, int]]:
        """The passages, those side by side as one, with their numbers of words."""
        lines = zip(self.is_repeated, self.lines, self.words, strict=True)
        for is_repeated, each in groupby(lines, key=lambda line: line[0]):
            if is_repeated:
                _, texts, words = zip(*each, strict=True)
                yield "\n".join(texts), sum(words)


def find_passages(
    counts: Counts, host: str, text: str, layout: Callable[[], Layout] = Layout
) -> Found | None:
    """Find the repeated passages of a page's text; None: it has none.

    Rows of tables stay, and what introduces the next lines. So do headings, unless all of their
    section is left out and they stand in front of it on enough pages, too.

    Args:
        counts: of the job.
        host: of the page.
        text: of the page.
        layout: of the page; asked only for texts with repeated lines.
    """
    lines = lines_of([text], [host])
    repeated = lines.is_long & counts.are_enough(counts.of(lines.keys), host)
    repeated &= stand_once(lines.keys, np.zeros(len(repeated), np.intp))
    if not repeated.any():
        return None
    texts = text.split("\n")
    known = layout()
    found = [
        is_repeated and _may_go(line, known)
        for line, is_repeated in zip(texts, repeated.tolist(), strict=True)
    ]
    if not any(found):
        return None
    _add_headings(found, texts, known, counts, host, lines)
    return Found(texts, lines.words.tolist(), found)


def _may_go(line: str, known: Layout) -> bool:
    stays = line in known.fixed or line in known.levels
    return not (stays or "\t" in line or line.endswith(_INTRODUCES))


def _add_headings(
    found: list[bool],
    texts: Sequence[str],
    known: Layout,
    counts: Counts,
    host: str,
    lines: Lines,
) -> None:
    """Leave out the headings of which all of the section is left out."""
    with_next = counts.are_enough(counts.of(lines.pairs), host).tolist()
    levels = [known.levels.get(line, 0) for line in texts]
    # Of the lines behind: the first that stays, and where sections of each level end.
    stays, ends = len(texts), [len(texts)] * (1 + max(levels))
    for number in range(len(texts) - 1, -1, -1):
        if level := levels[number]:
            end = min(ends[: level + 1])
            if with_next[number] and number + 1 < end <= stays and texts[number] not in known.fixed:
                found[number] = True
            ends[level] = number
        if not found[number]:
            stays = number
