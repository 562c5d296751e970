"""Sentences with content, for the method of the longest sentences."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dedup.text.character_table import CharacterTable
from dedup.text.codepoints import (
    CodePoints,
    code_points,
    from_code_points,
    joined,
    text_portions,
)

_NOTICES = (
    "©",
    "(c)",
    "copyright",
    "all rights reserved",
    "版权所有",
    "版權所有",
    "保留所有权利",
    "保留所有權利",
    "icp备",
    "icp備",
    "icp证",
    "公网安备",
)
"""Notices that are on every page of a site."""

_DIGITS = re.compile(r"\d+")

_END, _DOT, _SPACE, _HAN, _DIGIT = 1, 2, 4, 8, 16
_KINDS = (
    (_END, re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029。！？；｡!?;…।۔؟]+")),
    (_DOT, re.compile(r"\.")),
    (_SPACE, re.compile(r"\s+")),
    (_HAN, re.compile(r"[\u3400-\u9fff]+")),
    (_DIGIT, re.compile(r"\d+")),
)


def sentences(normal_text: str) -> list[str]:
    r"""Return the sentences of `normal_text` in their order, without digits, spaces and notices.

    A sentence ends at a line end; at `! ? ; …` and their Chinese, Hindi and Arabic forms; at a dot
    before a space, or two in a row; at a space after a Chinese character, where headings and the
    numbers of paragraphs end. Digits and white space are dropped from each (dates and counters
    change where the sentence does not), copyright lines and empty sentences altogether.

    >>> sentences("pi is 3.14. 对吗？对；版权所有 2020\nyes 1")
    ['piis..', '对吗？', '对；', 'yes']

    Source: Baidu's method as described by Yanyi Wu, 2014; what to leave out is our choice.
    """
    starts, ends, _, _ = _pieces(normal_text)
    cut = (_content(normal_text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True))
    return [sentence for sentence in cut if sentence]


def longest_sentences(normal_text: str, count: int) -> list[str]:
    """Return the `count` longest distinct sentences: longest first, ties in code point order.

    Fewer where the text has fewer. Each comes once, however often the page repeats it.
    """
    return longest_sentences_of_many([normal_text], count)[0]


def longest_sentences_of_many(normal_texts: Sequence[str], count: int) -> list[list[str]]:
    """Return for each text its `longest_sentences`; for short texts several times as fast."""
    found: list[list[str]] = []
    for portion in text_portions(normal_texts):
        text, text_starts = joined(normal_texts[portion])
        starts, ends, lengths, is_content = _pieces(text)
        content = _from_codes(code_points(text)[is_content])
        owners = np.searchsorted(text_starts, starts, side="right") - 1
        order = np.argsort((owners << 32) - lengths)
        columns = (starts[order], ends[order], np.cumsum(lengths)[order], lengths[order])
        pieces = list(zip(*(column.tolist() for column in columns), strict=True))
        bounds = np.searchsorted(owners, np.arange(len(text_starts))).tolist()
        for first, last in pairwise(bounds):
            found.append(_longest(text, content, pieces[first:last], count))
    return found


def _longest(
    text: str, content: str, pieces: list[tuple[int, int, int, int]], count: int
) -> list[str]:
    """The longest distinct of some pieces, which come longest first.

    Of each: where it starts and ends in `text`, and where in `content` it ends, and its length.
    """
    found: dict[str, None] = {}
    least = 1
    for start, end, stop, size in pieces:
        if size < least:
            break
        if _has_notice(text[start:end]):
            continue
        found[content[stop - size : stop]] = None
        if len(found) == count:  # go on among those of equal length: their order decides
            least = size
    return sorted(found, key=lambda sentence: (-len(sentence), sentence))[:count]


def _from_codes(codes: CodePoints) -> str:
    if codes.dtype == np.uint8:
        return codes.tobytes().decode("latin-1")
    return from_code_points(codes.astype(np.uint32))


def _content(piece: str) -> str:
    return "" if _has_notice(piece) else _DIGITS.sub("", "".join(piece.split()))


def _has_notice(text: str) -> bool:
    return any(notice in text for notice in _NOTICES)


def _pieces(
    normal_text: str,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64], NDArray[np.bool_]]:
    """Return where sentences start and end, what they count, and which characters count.

    Digits and spaces do not count.
    """
    kinds = _sentence_kinds(code_points(normal_text))
    is_last = (kinds & _END) != 0
    is_dot, is_space = (kinds & _DOT) != 0, (kinds & _SPACE) != 0
    is_last[:-1] |= is_dot[:-1] & is_space[1:]
    is_last[1:-1] |= is_dot[:-2] & is_dot[1:-1] & ~is_dot[2:]
    is_last[1:] |= is_space[1:] & ((kinds[:-1] & _HAN) != 0)
    is_last[-1:] = True
    ends = np.flatnonzero(is_last) + 1
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    is_content = (kinds & (_DIGIT | _SPACE)) == 0
    lengths = np.add.reduceat(is_content, starts, dtype=np.int64) if len(starts) else starts
    return starts, ends, lengths, is_content


def _kinds_of(characters: str) -> NDArray[np.uint8]:
    kinds = np.zeros(len(characters), np.uint8)
    for kind, pattern in _KINDS:
        for run in pattern.finditer(characters):
            kinds[run.start() : run.end()] |= kind
    return kinds


_sentence_kinds = CharacterTable(_kinds_of, np.uint8)
