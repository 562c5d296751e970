"""Where two texts differ, with some context.

The texts are compared first by sentences, then by words within sentences that differ: one pass over
all words takes minutes for two books. Chinese, Japanese and Thai are compared by characters.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from dedup.text.character_kinds import UNSPACED_RANGES

Part = str | int | tuple[str, str]
"""Text that both have; a number of characters left out; or what only the first and only the second
has."""

_CONTEXT = 80
_EQUAL = 400
_MAX_CHARACTERS = 3_000
_MAX_SENTENCES = 1_500
_MAX_TOKENS = 1_500
_MAX_CHANGE = 600

_LONG_LINE = 200
_SENTENCES = re.compile(r"(?<=[。！？；])|(?<=[.!?] )")
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)
_TOKENS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\s+|.")


def differences(first: str, second: str) -> list[Part]:
    """Return the two texts as a sequence of common and different parts.

    Common parts are cut to 80 characters before and after a difference (equal texts: to the first
    400), differences to their first 600. After about 3,000 characters, or 1,500 sentences from the
    first difference, the rest is left out. Takes 2 ms for a long page.

    >>> differences("One fine day in May.", "One fine day in June.")
    ['One fine day in ', ('May', 'June'), '.']
    """
    return list(_within_limit(_shortened(_joined(_by_sentences(first, second)))))


def _by_sentences(first: str, second: str) -> Iterator[Part]:
    same = _length_of_equal_lines(first, second)
    yield first[:same]
    a, b = _sentences(first[same:]), _sentences(second[same:])
    start = _count_equal(a, b)
    end = _count_equal(a[start:][::-1], b[start:][::-1])
    a_end, b_end = len(a) - end, len(b) - end
    a_stop, b_stop = (min(whole, start + _MAX_SENTENCES) for whole in (a_end, b_end))
    yield "".join(a[:start])
    for is_equal, x, y in _matched(a[start:a_stop], b[start:b_stop]):
        if is_equal:
            yield x
        else:
            yield from _by_words(x, y)
    yield max(len("".join(a[a_stop:a_end])), len("".join(b[b_stop:b_end])))
    yield "".join(a[a_end:])


def _length_of_equal_lines(first: str, second: str) -> int:
    """The length of the common lines at the beginning of both texts."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == second[:middle] else (low, middle - 1)
    return first.rfind("\n", 0, low) + 1


def _sentences(text: str) -> list[str]:
    """The lines, and the sentences of long lines. Ten times as fast as only sentences."""
    lines = text.splitlines(keepends=True)
    return [
        piece
        for line in lines
        for piece in (_SENTENCES.split(line) if len(line) > _LONG_LINE else (line,))
    ]


def _count_equal(first: list[str], second: list[str]) -> int:
    """The number of equal members at the beginning of two lists."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))


def _by_words(first: str, second: str) -> Iterator[Part]:
    a, b = _TOKENS.findall(first), _TOKENS.findall(second)
    if max(len(a), len(b)) > _MAX_TOKENS:
        yield first, second
    else:
        yield from (x if is_equal else (x, y) for is_equal, x, y in _matched(a, b))


def _matched(first: list[str], second: list[str]) -> Iterator[tuple[bool, str, str]]:
    for name, a, a_end, b, b_end in SequenceMatcher(None, first, second).get_opcodes():
        yield name == "equal", "".join(first[a:a_end]), "".join(second[b:b_end])


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Join neighbours, and changes with at most a space or a character between them."""
    joined: list[Part] = []
    for part in (part for part in parts if part):
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        elif isinstance(part, tuple) and joined:
            between, last = "", joined[-1]
            if len(joined) > 1 and isinstance(last, str) and len(last.strip()) < 2:
                between, last = last, joined[-2]
            if isinstance(last, tuple):
                del joined[-2 if between else -1 :]
                joined.append((last[0] + between + part[0], last[1] + between + part[1]))
            else:
                joined.append(part)
        else:
            joined.append(part)
    return joined


def _shortened(parts: list[Part]) -> Iterator[Part]:
    for place, part in enumerate(parts):
        if isinstance(part, tuple):
            yield part[0][:_MAX_CHANGE], part[1][:_MAX_CHANGE]
            yield max(len(part[0]), len(part[1])) - _MAX_CHANGE
        elif isinstance(part, int):
            yield part
        else:
            before = _CONTEXT if place > 0 else _EQUAL if len(parts) == 1 else 0
            after = _CONTEXT if place < len(parts) - 1 else 0
            if len(part) <= before + after:
                yield part
            else:
                yield part[:before]
                yield len(part) - before - after
                yield part[len(part) - after :]


def _within_limit(parts: Iterable[Part]) -> Iterator[Part]:
    """Leave out everything beyond the limit and add up its length; drop empty parts."""
    length = left_out = 0
    for part in parts:
        if isinstance(part, int):
            left_out += max(part, 0)
        elif length > _MAX_CHARACTERS:
            left_out += _size(part)
        elif size := _size(part):
            if left_out:
                yield left_out
            yield part
            length, left_out = length + size, 0
    if left_out:
        yield left_out


def _size(part: str | tuple[str, str]) -> int:
    return len(part) if isinstance(part, str) else max(len(part[0]), len(part[1]))
