"""Sentences with content, for the method of the longest sentences."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.text.character_table import CharacterTable
from dedup.text.codepoints import CodePoints, from_code_points
from dedup.text.joined_texts import JoinedTexts

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

_SQUEEZED_NOTICES = tuple("".join(notice.split()).encode() for notice in _NOTICES)
_ASCII_NOTICES = tuple(filter(bytes.isascii, _SQUEEZED_NOTICES))

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
    starts, ends, _, _ = _pieces(JoinedTexts([normal_text], unspaced=False))
    cut = (_content(normal_text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True))
    return [sentence for sentence in cut if sentence]


def longest_sentences(normal_text: str, count: int) -> list[str]:
    """Return the `count` longest distinct sentences: longest first, ties in code point order.

    Fewer where the text has fewer. Each comes once, however often the page repeats it.
    """
    found = sorted(sentences(normal_text), key=len, reverse=True)
    return _longest(((len(sentence), sentence) for sentence in found), count)


def hash_longest_sentences(texts: JoinedTexts, count: int) -> NDArray[np.uint64]:
    """Return the 64-bit XXH3 of the `count` longest sentences of each text, in any order.

    Shape (texts, count); `NO_SENTENCE` where a text has fewer. A sort finds the longest pieces, and
    only these are cut out. Where that does not decide (equal lengths, equal pieces, notices), all
    sentences of the text are looked at.
    """
    starts, ends, lengths, content = _pieces(texts)
    owners = np.searchsorted(texts.starts, starts, side="right") - 1
    stops = np.cumsum(lengths)
    order = np.argsort((owners << 32) - lengths)
    bounds = np.searchsorted(owners, np.arange(len(texts) + 1))
    starts, ends, stops, lengths = (each[order] for each in (starts, ends, stops, lengths))
    top = bounds[:-1, np.newaxis] + np.arange(count)
    is_there = top < bounds[1:, np.newaxis]
    top = top[is_there]
    keys = np.full(is_there.shape, NO_SENTENCE)
    cut_out = _cut(content, stops[top] - lengths[top], stops[top])
    keys[is_there] = list(map(_hash, cut_out))
    next_places = bounds[:-1] + count
    has_more = np.flatnonzero(next_places < bounds[1:])
    last = lengths[next_places[has_more] - 1]
    is_open = np.zeros(len(texts), np.bool_)
    is_open[has_more[last == lengths[next_places[has_more]]]] = True
    ordered = np.sort(keys, axis=1)
    is_open |= ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_SENTENCE)).any(axis=1)
    is_open[np.nonzero(is_there)[0][_with_notices(cut_out)]] = True
    for place in np.flatnonzero(is_open).tolist():
        pieces = range(*bounds[place : place + 2].tolist())
        cut = ((int(lengths[i]), _content(texts.text[starts[i] : ends[i]])) for i in pieces)
        found = [each.encode(errors="surrogatepass") for each in _longest(cut, count)]
        keys[place] = NO_SENTENCE
        keys[place, : len(found)] = list(map(_hash, found))
    return keys


NO_SENTENCE = np.uint64(0)


def _longest(pieces: Iterable[tuple[int, str]], count: int) -> list[str]:
    """The longest distinct sentences of pieces that come longest first, each with its length."""
    found: set[str] = set()
    least = 1
    for length, sentence in pieces:
        if length < least:
            break
        if sentence:
            found.add(sentence)
        if len(found) == count:  # go on among those of equal length: their order decides
            least = length
    return sorted(found, key=lambda sentence: (-len(sentence), sentence))[:count]


def _cut(content: CodePoints, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[bytes]:
    """Each piece of the characters that count."""
    spans = zip(starts.tolist(), stops.tolist(), strict=True)
    data = content.tobytes()
    if content.dtype == np.uint8 and data.isascii():
        return [data[start:stop] for start, stop in spans]
    text = from_code_points(content.astype("<u4"))
    return [text[start:stop].encode(errors="surrogatepass") for start, stop in spans]


def _hash(data: bytes) -> int:
    return xxhash.xxh3_64_intdigest(data) or 1  # 0 stands for none


def _with_notices(pieces: Sequence[bytes]) -> list[int]:
    """Which pieces may have a notice; a notice in a shorter piece changes nothing."""
    every = b"\n".join(pieces)  # there is no line end in them
    places = []
    for notice in _ASCII_NOTICES if every.isascii() else _SQUEEZED_NOTICES:
        at = every.find(notice)
        while at >= 0:
            places.append(every.count(b"\n", 0, at))
            at = every.find(notice, at + 1)
    return places


def _content(piece: str) -> str:
    if any(notice in piece for notice in _NOTICES):
        return ""
    return _DIGITS.sub("", "".join(piece.split()))


def _pieces(
    texts: JoinedTexts,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64], CodePoints]:
    """Return where sentences start and end, how many of their characters count, and these.

    Digits and spaces do not count; sentences without other characters are left out.
    """
    kinds = _sentence_kinds(texts.codes)
    ends = _ends(kinds, has_han=texts.codes.dtype != np.uint8)
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    is_content = (kinds & (_DIGIT | _SPACE)) == 0
    lengths = np.add.reduceat(is_content, starts, dtype=np.int64) if len(starts) else starts
    some = np.flatnonzero(lengths)
    content: Any = np.compress(is_content, texts.codes)
    return starts[some], ends[some], lengths[some], content


def _ends(kinds: NDArray[np.uint8], *, has_han: bool) -> NDArray[np.intp]:
    """Where sentences end: behind their last characters, of which few come into question."""
    places = np.flatnonzero((kinds & (_END | _DOT)) != 0)
    at = kinds[places]
    before, after = kinds[places - 1], kinds.take(places + 1, mode="clip")
    is_second_dot = ((before & at & ~after & _DOT) != 0) & (places > 0)
    is_last = (at & _END) != 0  # each text ends with a line end
    is_last |= ((at & _DOT) != 0) & (((after & _SPACE) != 0) | is_second_dot)
    ends: NDArray[np.intp] = places[is_last] + 1
    if not has_han:
        return ends
    spaces = np.flatnonzero(((kinds[1:] & _SPACE) != 0) & ((kinds[:-1] & _HAN) != 0)) + 2
    return np.union1d(ends, spaces)


def _kinds_of(characters: str) -> NDArray[np.uint8]:
    kinds = np.zeros(len(characters), np.uint8)
    for kind, pattern in _KINDS:
        for run in pattern.finditer(characters):
            kinds[run.start() : run.end()] |= kind
    return kinds


_sentence_kinds = CharacterTable(_kinds_of, np.uint8)
