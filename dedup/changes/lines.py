"""The lines of a page's versions, and what of them came and went."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from dedup.changes.dates import (
    COUNTS,
    MONTHS,
    Number,
    numbers,
    up_to_date,
    update_date,
    with_times,
    without_ages,
)
from dedup.names import split_title
from dedup.store.sql.changes import ChangedPage, Version
from dedup.text.character_kinds import UNSPACED_RANGES

_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)
_MARKS = "".join(
    sign
    for sign in map(chr, (*range(0x300, 0x1E00), *range(0xA800, 0xAC00)))
    if unicodedata.category(sign) in {"Mn", "Mc"}
)
r"""Vowels and accents that are characters of their own, which `\w` leaves out."""

_MONEY = r"[%\u00a2-\u00a5\u0e3f\u20a0-\u20c0\ufe69\uff04\uffe0\uffe1\uffe5\uffe6]"
_SIGN = (
    rf"(?:\$|{_MONEY})(?=\s?\d)|(?<=\d){_MONEY}|(?<=\d\s){_MONEY}"
    "|[\u00b1\u2260\u2264\u2265\u2605\u2606\u2b50\u2610-\u2612\u2705\u2713-\u2718\u274c\u274e"
    "\u26aa\u26ab\U0001f44d\U0001f44e\U0001f534\U0001f535\U0001f7e0-\U0001f7eb]"  # colours
    r"|(?<![\w.\-])[-\u2212](?=\d)|(?<=\w)\+\+|(?<=\b[cf])#(?!\w)"
)
"""Signs that say as much as words: money and a minus beside a number, comparisons, stars, ticks,
colours of a status; `C++` and `C#` are names. Others stand between words."""

_WORD = re.compile(rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])+|[{_UNSPACED}]|{_SIGN}")
"""A character of a script without spaces between words is a word."""

_SAYS = re.compile(rf"[^\W\d_]|\$|{_MONEY}")
"""Beside a number, it tells what that is."""

_RUN = re.compile(rf"[\w{_MARKS}]+|{_SIGN}")

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
TITLE = "\0"
"""Before the parts of a title, which are compared as lines of their own."""

PIECE = "\1"
"""Before the pieces of a line, which are other keys than whole lines."""

_SPACES = r"(?<!\s)\s+"
"""All white space that is together: a run of it is looked at once."""

_BETWEEN = re.compile(
    rf"((?:{_SPACES})?[|\u00b7\u2022\u203a\u00bb]\s*|{_SPACES}[-/\u2010-\u2015]\s+)"
)
"""Stands between what a line puts together: `May 3 · 2 min read · travel`."""

_SIGNS_BETWEEN = " -_/|\u00b7\u2010\u2011\u2012\u2013\u2014\u2015\u2022\u203a\u00bb"

_BETWEEN_NAMES = re.compile(rf"((?:{_SPACES})?[-_|\u00b7\u2010-\u2015]\s*)")
"""In titles: some sites put their name behind a page's with a mere hyphen."""

VARIABLE = "\2"
"""Stands for a number or a month in a line's key."""

_AT_ENDS = re.compile(rf"^(?:{VARIABLE}[年月日号]|\W)+|(?:{VARIABLE}[年月日号]|\W)+$")
_INDEX = re.compile(r"/(?:index\.html?)?$")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_KEY_CHARACTERS = 200
MAX_NUMBERED = 2_000
"""Characters of a line in which numbers are told from words, and of one whose are compared."""

_REMEMBERED_KEYS = 65_536
"""Lines of a page are asked for many times, and its neighbours share some."""

_DIGITS = re.compile(r"\d+")
_AMOUNT = re.compile(r"\d+(?:,\d{3}(?!\d))*")
"""In thousands: `1,000` has the key of `999`."""

_OF_COUNTER = re.compile(
    rf"{VARIABLE}(?:(?:[.,]{VARIABLE})?\s?[km万萬])?(\s?[个個條条人件位篇]?\s?)({COUNTS.pattern})"
)
_BEHIND_DAY = "|".join(
    rf"(?<={VARIABLE}{between})"
    for between in (r"\W", r"\W\W", r"(?:st|nd|rd|th)\s", r"(?:st|nd|rd|th)\sof\s")
)
_DATED = re.compile(rf"\b(?:{MONTHS})\b(?=\W{{0,3}}{VARIABLE})|(?:{_BEHIND_DAY})(?:{MONTHS})\b")
_MONTH = re.compile(rf"([{TITLE}{PIECE}]*)(?:{MONTHS})")
"""Months count as numbers beside one, or alone: `may` is also a verb."""

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)

_LONG_TEXTS = 1_000_000
"""Characters of both versions."""

MAX_PASSAGES = 5
_MAX_CHARACTERS = 300
_AROUND = 60
"""Characters that are shown before the first difference of long lines, at least."""

IsFurniture = Callable[[Sequence[str]], Sequence[bool]]
"""Which of some lines belong to many pages of the host, or to what many pages have changed?"""


def line_key(line: str) -> str:
    """What a line has in common with those of other pages that differ in numbers and dates alone.

    Few words behind a date do not tell lines apart, other than in titles.

    >>> line_key("Updated on March 3, 2024 by me") == line_key("updated on May 17, 2025")
    True
    """
    return _remembered_key(line) if len(line) <= _KEY_CHARACTERS else _key(line)


def _key(line: str) -> str:
    lower = line.lower()
    own = lower if line.startswith(TITLE) else up_to_date(lower)
    key = _varied(own[:MAX_NUMBERED])
    rest = key[_KEY_CHARACTERS:] + own[MAX_NUMBERED:]
    return key[:_KEY_CHARACTERS] + xxh3_64_hexdigest(rest.encode(errors="replace")) if rest else key


def _varied(line: str) -> str:
    """A line in lower case with a sign for each number, month and time before now."""
    found = _AMOUNT.sub(VARIABLE, without_ages(line, VARIABLE))
    if VARIABLE in found:
        found = _OF_COUNTER.sub(lambda each: VARIABLE + each[1] + _singular(each[2]), found)
        return _DATED.sub(VARIABLE, found)
    return _MONTH.sub(rf"\1{VARIABLE}", found) if _MONTH.fullmatch(found) else found


def _singular(word: str) -> str:
    """What counters call one of what they count; other words as they are."""
    every = (word.removesuffix("s"), word.removesuffix("e"), f"{word.removesuffix('ies')}y")
    return next((one for one in every if one != word and COUNTS.fullmatch(one)), word)


_remembered_key = lru_cache(_REMEMBERED_KEYS)(_key)


@lru_cache(8)  # both versions of a page are asked for several times, one page after the other
def lines_of(version: Version, url: str = "") -> tuple[str, ...]:
    """The lines of a version: the parts of its title, and those of its text.

    The page's own path, which counters and forms for comments show, counts as a number.
    """
    titles = [TITLE + part for part in split_title(version.title)]
    path, text = _INDEX.sub("", unquote(urlsplit(url).path)), version.text
    if path:
        own = re.escape(path) + r"(?:/index\.html?|/?)(?![\w/-])"
        text = re.sub(own, "0", text, flags=re.IGNORECASE)
    return (*titles, *filter(None, map(str.strip, text.split("\n"))))


@lru_cache(8)
def keys_of(version: Version, url: str = "") -> tuple[str, ...]:
    """The keys of the lines of a version."""
    return tuple(map(line_key, lines_of(version, url)))


def names_in(title: str) -> set[str]:
    """The names of a page, see `undated`: its title, or the first part or the last of that."""
    parts = _BETWEEN_NAMES.split(title)
    names = {undated(line_key(part)) for part in (title, parts[0], parts[-1])}
    return names - {""}


def undated(key: str) -> str:
    """A line's key without numbers, dates and signs at its ends: lists put a date beside a name.

    >>> undated(line_key("2017-07-01  Notes on C++ (3)"))
    'notes on c'
    """
    return _AT_ENDS.sub("", key)


def behind_updates(page: ChangedPage) -> set[str]:
    """The keys of lines with other words behind the date of an update, but for its author."""
    then, now = (_ends(each, page.url) for each in (page.then, page.now))
    return {key for key in then.keys() & now.keys() if then[key] != now[key]}


def _ends(version: Version, url: str) -> dict[str, set[str]]:
    """By key, what stands behind the date of an update."""
    found: dict[str, set[str]] = {}
    for line, key in zip(lines_of(version, url), keys_of(version, url), strict=True):
        if VARIABLE in key and not line.startswith(TITLE):
            lower = line.lower()
            end = "" if update_date(lower) else lower[len(up_to_date(lower)) :]
            found.setdefault(key, set()).add(_varied(end.strip()))
    return found


def differing_keys(page: ChangedPage) -> set[str]:
    """The keys that came or went, or of which there are more or fewer lines."""
    then, now = (Counter(keys_of(each, page.url)) for each in (page.then, page.now))
    return {*(now - then), *(then - now)}


def replaced_keys(page: ChangedPage) -> set[str]:
    """The keys of a line that went and one that came, if both say the same of a number beside it.

    Such as `price: $31 in stock`, `price: $31 sold`. No others with as many numbers came or went.
    What a counter counts does not tell lines apart: `1 like`, `2 likes`.
    """
    then, now = (Counter(keys_of(each, page.url)) for each in (page.then, page.now))
    came, went = (
        [key for key in one - other if VARIABLE in key] for one, other in ((now, then), (then, now))
    )
    found: defaultdict[int, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate((went, came)):
        for key in keys:
            found[key.count(VARIABLE)][side].append(key)
    pairs = [(*old, *new) for old, new in found.values() if len(old) == len(new) == 1]
    return {
        key
        for old, new in pairs
        if COUNTS.sub("", old) != COUNTS.sub("", new)
        and any(
            VARIABLE in frame and _SAYS.search(frame)
            for frame in (old[: _n_same(old, new)], old[::-1][: _n_same(old[::-1], new[::-1])])
        )
        for key in (old, new)
    }


class NumbersChange(IntEnum):
    """How the numbers of lines differ.

    Attributes:
        OTHER: by amounts.
        TIMES: by dates and times alone.
        GREW: by whole numbers that are larger now; where words beside numbers say what these count,
            by such numbers alone.
        FELL: by such numbers alone, some of which are smaller now.
        BESIDE: by others, in lines that have such.
    """

    OTHER = 1
    TIMES = 2
    GREW = 3
    FELL = 4
    BESIDE = 5


class Renumbered(NamedTuple):
    """How lines of one key differ; `line` is one of them."""

    line: str
    change: NumbersChange


def changed_numbers(page: ChangedPage) -> dict[str, Renumbered]:
    """By key, lines that differ in numbers alone: amounts, or times that words speak of."""
    then, now = (Counter(lines_of(each, page.url)) for each in (page.then, page.now))
    old, new = (_by_key((one - other).elements()) for one, other in ((then, now), (now, then)))
    found: dict[str, Renumbered] = {}
    for key in new.keys() & old.keys():
        pairs = list(zip(old[key], new[key], strict=False))
        if len(pairs) != len(old[key]) or len(pairs) != len(new[key]):
            continue
        if differing := _differing(pairs, numbers):
            found[key] = Renumbered(new[key][0], _change_of(differing, new[key]))
        elif _differing(pairs, with_times):
            found[key] = Renumbered(new[key][0], NumbersChange.TIMES)
    return found


_Number = TypeVar("_Number")


def _differing(
    pairs: Iterable[tuple[str, str]], numbers_of: Callable[[str], list[_Number]]
) -> list[tuple[_Number, _Number]]:
    """The numbers that differ, of lines with as many."""
    return [
        both
        for pair in pairs
        for both in zip(*(numbers_of(each.lower()) for each in pair), strict=False)
        if both[0] != both[1]
    ]


def _change_of(differing: Sequence[tuple[Number, Number]], lines: Iterable[str]) -> NumbersChange:
    """How the numbers of lines differ of which some do."""
    has_counts = any(number.is_count for line in lines for number in numbers(line.lower()))
    if has_counts and not all(old.is_count and new.is_count for old, new in differing):
        return NumbersChange.BESIDE
    if all(_is_larger(old.digits, new.digits) for old, new in differing):
        return NumbersChange.GREW
    return NumbersChange.FELL if has_counts else NumbersChange.OTHER


def _by_key(lines: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        if len(line) > MAX_NUMBERED or line.startswith(TITLE):
            continue
        if VARIABLE in (key := line_key(line)):
            found.setdefault(key, []).append(line)
    return found


def changed_entries(page: ChangedPage) -> dict[str, list[str]]:
    """By key, the lines that came or went, of lines with numbers that a page has several of.

    Of these it has more or fewer than before: entries of a list that differ in numbers alone.
    """
    then, now = (
        Counter(each for each in keys_of(version, page.url) if VARIABLE in each)
        for version in (page.then, page.now)
    )
    keys = {key for key in then if then[key] != now[key] and min(then[key], now[key]) > 1}
    if not keys:
        return {}
    old, new = (Counter(lines_of(each, page.url)) for each in (page.then, page.now))
    return _by_key(line for line in sorted({*(old - new), *(new - old)}) if line_key(line) in keys)


def _is_larger(old: str, new: str) -> bool:
    before, after = (_THOUSANDS.sub("", each).lstrip("0") for each in (old, new))
    are_whole = all(each.isdecimal() or not each for each in (before, after))
    return are_whole and (len(before), before) < (len(after), after)


def template_lines(page: ChangedPage) -> tuple[list[str], list[str]]:
    """The lines that came and that went, and those pieces of them that did."""
    then, now = (Counter(lines_of(each, page.url)) for each in (page.then, page.now))
    came, went = now - then, then - now
    new, old = (
        dict.fromkeys(piece for line in lines for piece in pieces_of(line))
        for lines in (came, went)
    )
    return (
        [*came, *(each for each in new if each not in old)],
        [*went, *(each for each in old if each not in new)],
    )


def pieces_of(line: str) -> list[str]:
    """What a line puts together; nothing if it is one piece."""
    title = TITLE if line.startswith(TITLE) else ""
    parts = _split(line)[::2]
    return [PIECE + title + part for part in parts] if len(parts) > 1 else []


def _split(line: str) -> list[str]:
    """Its pieces, with what stands between them."""
    if line.startswith(TITLE):
        return _BETWEEN_NAMES.split(line.removeprefix(TITLE))
    return _BETWEEN.split(line)


class Difference(NamedTuple):
    """How the own texts of two versions differ.

    Attributes:
        share: of the words, 0 to 1.
        came, went: some of the lines, shortened.
    """

    share: float
    came: list[str]
    went: list[str]

    def with_more(self, other: Difference) -> Difference:
        """The same, with lines that another reading of the page has besides."""
        both = zip((self.came, self.went), (other.came, other.went), strict=True)
        came, went = (
            [
                *own,
                *(line for line in more if not any(line.lower() in each.lower() for each in own)),
            ]
            for own, more in both
        )
        return Difference(self.share, came[:MAX_PASSAGES], went[:MAX_PASSAGES])


def shortened(page: ChangedPage) -> ChangedPage:
    """The page; of long texts, only lines of which one has more than the other, up to a limit.

    These take minutes to compare otherwise, in which the crawl waits.
    """
    both = page.then, page.now
    n_characters = sum(len(each.text) for each in both)
    if n_characters <= _LONG_TEXTS:
        return page
    every = [each.text.split("\n") for each in both]
    n_then, n_now = map(Counter, every)
    texts = [
        "\n".join(line for line in lines if n_then[line] != n_now[line])[: _LONG_TEXTS // 2]
        for lines in every
    ]
    then, now = (each._replace(text=text) for each, text in zip(both, texts, strict=True))
    return page._replace(then=then, now=now, part=sum(map(len, texts)) / n_characters)


def difference(page: ChangedPage, is_furniture: IsFurniture) -> Difference | None:
    """How a page's own text has changed; None: its words are the same, in the same order."""
    every = lines_of(page.then, page.url), lines_of(page.now, page.url)
    names = list(map(_repeated, every, (page.then.title, page.now.title)))
    own = (
        [line for line in _own(lines, is_furniture) if line not in repeated]
        for lines, repeated in zip(every, names, strict=True)
    )
    before, after = _undated(*own)
    old, new = _words(before), _words(after)
    if old == new:
        return None
    came, went = Counter(after) - Counter(before), Counter(before) - Counter(after)
    if came or went:
        came, went = _without_same(came, went, is_furniture)
        if not (came or went):
            return None
    dated = (each for lines in every for each in lines if _update_date(each))
    alike = {line_key(each) for each in (*came, *went, *dated, *chain(*names))}
    other = differing_keys(page) - alike
    if other and (came or went):  # the template changed
        came, went = (
            _not_in(list(_unmixed(lines, is_furniture)), others)
            for lines, others in zip((came, went), every, strict=True)
        )
        if not (came or went):
            return None
    shared = (Counter(old.split()) & Counter(new.split())).total()
    n_words = max(1, len(old.split()) + len(new.split()))
    share = max(1 - 2 * shared / n_words, 1 / n_words) * page.part
    return Difference(round(share, 4), passages(came, went), passages(went, came))


def _own(lines: Sequence[str], is_furniture: IsFurniture) -> list[str]:
    return [line for line, is_out in zip(lines, is_furniture(lines), strict=True) if not is_out]


def _repeated(lines: Iterable[str], title: str) -> set[str]:
    """The lines that repeat the title, as some themes have them: that is compared for itself.

    But for its numbers, so that lines with these count.
    """
    names = {_words([part]) for part in (title, *split_title(title))}
    return {
        line
        for line in lines
        if len(line) <= len(title)
        and not line.startswith(TITLE)
        and not _DIGITS.search(line)
        and _words([line]) in names
    }


def _undated(*versions: list[str]) -> tuple[list[str], ...]:
    """The lines of versions without those of the last update: they tell when it was, not what.

    If one has several dates, they are those of what it lists.
    """
    dates = [[_update_date(line) for line in lines] for lines in versions]
    if any(len({*each} - {None}) > 1 for each in dates):
        return versions
    return tuple(
        [line for line, date in zip(*both, strict=True) if date is None]
        for both in zip(versions, dates, strict=True)
    )


def _update_date(line: str) -> str | None:
    return None if line.startswith(TITLE) else update_date(line.lower())


def _without_same(
    came: Counter[str], went: Counter[str], is_furniture: IsFurniture
) -> tuple[Counter[str], Counter[str]]:
    """The lines without those that differ in ages, or in a piece alone that many have changed.

    Such as the date of a build, which differs from page to page by what stands beside it, or the
    site's part of a title.
    """
    rests = [
        {line: _rest(line, _unmixed([line], is_furniture)) for line in lines}
        for lines in (came, went)
    ]
    same = set(rests[0].values()) & set(rests[1].values())
    then, now = (
        Counter({line: n for line, n in lines.items() if rest[line] not in same})
        for lines, rest in zip((came, went), rests, strict=True)
    )
    return then, now


def _rest(line: str, own: Iterable[str]) -> tuple[str, ...]:
    lower = line.lower()
    if (rest := without_ages(lower)) != lower:
        return (rest,)
    return (TITLE if line.startswith(TITLE) else line_key(line), *own)


def _unmixed(lines: Iterable[str], is_furniture: IsFurniture) -> Iterator[str]:
    """The lines; of those that have pieces of a template, what stands between these."""
    for line in lines:
        pieces = pieces_of(line)
        is_out = is_furniture(pieces) if pieces else []
        if not any(is_out):
            yield line
            continue
        parts = _split(line)
        for out, group in groupby(
            range(len(parts)), key=lambda at: at % 2 == 0 and is_out[at // 2]
        ):
            if not out and (own := "".join(parts[at] for at in group).strip(_SIGNS_BETWEEN)):
                yield own


def _words(lines: Iterable[str]) -> str:
    """The words, with a space around each."""
    return f" {' '.join(_WORD.findall(_joined(lines)))} "


def _joined(lines: Iterable[str]) -> str:
    return without_ages("\n".join(lines).translate(_UNSEEN).lower())


def _not_in(lines: Sequence[str], others: Iterable[str]) -> Counter[str]:
    """The lines whose words are not together in others.

    In another template, headings are repeated in a table of contents, and lines end elsewhere.
    """
    words = [_RUN.findall(_joined([line])) for line in lines]
    runs = _Runs(_RUN.findall(_joined(others)))
    is_elsewhere = [not each for each in words]
    by_length = sorted((len(each), at) for at, each in enumerate(words) if each)
    for length, group in groupby(by_length, key=itemgetter(0)):
        places = [at for _, at in group]
        own = np.concatenate([_Runs(words[at]).hashes(length) for at in places])
        for at, has in zip(places, runs.have(own, length), strict=True):
            is_elsewhere[at] = has
    return Counter(line for line, out in zip(lines, is_elsewhere, strict=True) if not out)


class _Runs:
    """The runs of words of a text, by hashes (Karp and Rabin 1987) to the base of an odd number."""

    def __init__(self, words: Sequence[str]) -> None:
        encoded = (xxh3_64_intdigest(word.encode(errors="replace")) for word in words)
        hashes = np.fromiter(encoded, np.uint64, len(words))
        self._sums = np.zeros(len(words) + 1, np.uint64)
        np.cumsum(hashes * _powers(_BASE, len(words)), out=self._sums[1:])

    def hashes(self, length: int) -> NDArray[np.uint64]:
        """Those of all runs of so many words."""
        sums = self._sums[length:] - self._sums[: max(0, len(self._sums) - length)]
        return sums * _powers(_INVERSE, len(sums))

    def have(self, hashes: NDArray[np.uint64], length: int) -> list[bool]:
        """Which of the hashes of runs of so many words are those of runs here?"""
        asked, every = np.unique(hashes), self.hashes(length)
        places = np.minimum(np.searchsorted(asked, every), len(asked) - 1)
        return list(map(bool, np.isin(hashes, every[asked[places] == every])))


def _powers(base: int, n: int) -> NDArray[np.uint64]:
    """The powers of a number modulo 2^64, from 0 on."""
    powers = np.full(n, base, np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)


def passages(lines: Iterable[str], others: Collection[str]) -> list[str]:
    """The first of some lines, shortened to where they differ from others, as they are shown."""
    return [_excerpt(line, others).lstrip(PIECE + TITLE) for line in islice(lines, MAX_PASSAGES)]


def _excerpt(line: str, others: Iterable[str]) -> str:
    """The part of a long line around its first difference from the line that is most like it."""
    if len(line) <= _MAX_CHARACTERS:
        return line
    same = max((_n_same(line, other) for other in others), default=0)
    start = 0
    if same > _MAX_CHARACTERS - _AROUND:
        start = line.rfind(" ", same - 2 * _AROUND, same - _AROUND) + 1 or same - _AROUND
    before = "…" if start else ""
    room = _MAX_CHARACTERS - len(before)
    rest = line[start:]
    return before + (rest if len(rest) <= room else rest[: room - 1] + "…")


def _n_same(one: str, other: str) -> int:
    """The number of characters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
