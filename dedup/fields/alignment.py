"""Finds the places of some tokens in a longer sequence that contains most of them in this order.

Tokens that occur equally often in both are the fixed points (patience sorting; of fixed points that
contradict each other the fewest are given up). From these, equal neighbours are matched, and what
is left between them is aligned in the same way. If no token occurs equally often, the longest run
of equal tokens is a fixed point. That takes linear time on what pages have, and is bounded: after a
number of steps proportional to the length, the rest is matched with the next equal token.

Source: Bram Cohen's patience diff (https://bramcohen.livejournal.com/73318.html) and JGit's
    histogram diff, which extends it to tokens that are not unique.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

_STEPS_A_TOKEN = 60
_MAX_PLACES = 64
_MAX_RUN = 1_000


class _Part(NamedTuple):
    """Parts of both sequences to be aligned, and whether what borders on them is matched."""

    first: int
    end: int
    other_first: int
    other_end: int
    is_after_match: bool
    is_before_match: bool


def align(
    wanted: Sequence[Hashable],
    there: Sequence[Hashable],
    *,
    is_better: Callable[[int], bool] = lambda _: False,
) -> list[int]:
    """Return the place of each wanted token in `there`, ascending; -1: it has none.

    Args:
        wanted: the tokens that are looked for.
        there: the tokens among which they are.
        is_better: is this place in `there` to be preferred to others with an equal token?

    >>> align("bcd", "abxbcde")
    [3, 4, 5]
    """
    found = _Alignment(wanted, there, is_better)
    found.run(_Part(0, len(wanted), 0, len(there), False, False))
    return found.places


def align_rest(
    places: list[int],
    wanted: Sequence[Hashable],
    there: Sequence[Hashable],
    *,
    is_better: Callable[[int], bool] = lambda _: False,
) -> list[int]:
    """Return the places after the tokens without one have been looked for between the others."""
    found = _Alignment(wanted, there, is_better)
    found.places = list(places)
    for part in gaps(places, len(there)):
        found.run(part)
    return found.places


def gaps(places: Sequence[int], length: int) -> list[_Part]:
    """The runs of tokens without a place, each with the part of the other sequence around it."""
    found = []
    first, before = 0, -1
    for number in range(len(places) + 1):
        place = length if number == len(places) else places[number]
        if place < 0:
            continue
        if number > first:
            is_last = number == len(places)
            found.append(_Part(first, number, before + 1, place, before >= 0, not is_last))
        first, before = number + 1, place
    return found


class _Alignment:
    def __init__(
        self,
        wanted: Sequence[Hashable],
        there: Sequence[Hashable],
        is_better: Callable[[int], bool],
    ) -> None:
        self._wanted, self._there = wanted, there
        self._is_better = is_better
        self.places = [-1] * len(wanted)
        self._steps = _STEPS_A_TOKEN * (len(wanted) + len(there))

    def run(self, part: _Part) -> None:
        waiting = [part]
        while waiting:
            now = self._extended(waiting.pop())
            if now.first == now.end or now.other_first == now.other_end:
                continue
            self._steps -= now.end - now.first + now.other_end - now.other_first
            fixed = self._fixed(now) if self._steps > 0 else self._next_equal(now)
            for number, place in fixed:
                self.places[number] = place
            if fixed and self._steps > 0:
                waiting += _between(fixed, now)

    def _extended(self, part: _Part) -> _Part:
        """Match equal tokens next to those that are matched; return what is left."""
        first, end, other_first, other_end, is_after, is_before = part
        wanted, there = self._wanted, self._there
        if is_before:
            while first < end and other_first < other_end:
                if wanted[end - 1] != there[other_end - 1]:
                    break
                end, other_end = end - 1, other_end - 1
                self.places[end] = other_end
        if is_after:
            while first < end and other_first < other_end:
                if wanted[first] != there[other_first]:
                    break
                self.places[first] = other_first
                first, other_first = first + 1, other_first + 1
        return _Part(first, end, other_first, other_end, is_after, is_before)

    def _fixed(self, part: _Part) -> list[tuple[int, int]]:
        mine, theirs = defaultdict(list), defaultdict(list)
        for number in range(part.first, part.end):
            mine[self._wanted[number]].append(number)
        for place in range(part.other_first, part.other_end):
            if (token := self._there[place]) in mine:
                theirs[token].append(place)
        pairs = [
            pair
            for token, numbers in mine.items()
            if len(numbers) == len(theirs.get(token, ()))
            for pair in zip(numbers, theirs[token], strict=True)
        ]
        if pairs:
            return _ascending(sorted(pairs))
        return self._longest_run(part, mine, theirs)

    def _longest_run(
        self,
        part: _Part,
        mine: dict[Hashable, list[int]],
        theirs: dict[Hashable, list[int]],
    ) -> list[tuple[int, int]]:
        """The longest run that begins with one of the rarest tokens."""
        if not theirs:
            return []
        rarest = min(theirs, key=lambda token: len(mine[token]) * len(theirs[token]))
        numbers, places = mine[rarest], theirs[rarest]
        if part.is_before_match and not part.is_after_match:  # the nearest are looked at
            numbers, places = numbers[::-1], places[::-1]
        best: tuple[int, bool, int, int] | None = None
        for number in numbers[: _MAX_PLACES // 8]:
            for place in places[:_MAX_PLACES]:
                before, after = self._run_around(number, place, part)
                self._steps -= before + after
                rank = (before + after, self._is_better(place))
                if best is None or rank > best[:2]:
                    best = (*rank, number - before, place - before)
        if best is None:
            return []
        length, _, number, place = best
        return [(number + each, place + each) for each in range(length)]

    def _run_around(self, number: int, place: int, part: _Part) -> tuple[int, int]:
        """How many tokens are equal before a pair of equal tokens, and from it on."""
        wanted, there = self._wanted, self._there
        most = min(_MAX_RUN, number - part.first, place - part.other_first)
        before = 0
        while before < most and wanted[number - before - 1] == there[place - before - 1]:
            before += 1
        most = min(_MAX_RUN, part.end - number, part.other_end - place)
        after = 1
        while after < most and wanted[number + after] == there[place + after]:
            after += 1
        return before, after

    def _next_equal(self, part: _Part) -> list[tuple[int, int]]:
        """Match each token with the next equal one."""
        theirs = defaultdict(list)
        for place in range(part.other_first, part.other_end):
            theirs[self._there[place]].append(place)
        found, place = [], part.other_first
        for number in range(part.first, part.end):
            places = theirs.get(self._wanted[number], [])
            if (at := bisect_left(places, place)) < len(places):
                found.append((number, places[at]))
                place = places[at] + 1
        return found


def _between(fixed: list[tuple[int, int]], part: _Part) -> list[_Part]:
    """The parts before, between and after matched pairs."""
    found = []
    first, other_first, is_after = part.first, part.other_first, part.is_after_match
    for number, place in fixed:
        if number > first and place > other_first:
            found.append(_Part(first, number, other_first, place, is_after, True))
        first, other_first, is_after = number + 1, place + 1, True
    found.append(_Part(first, part.end, other_first, part.other_end, True, part.is_before_match))
    return found


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs that ascend in both numbers, of pairs that ascend in the first."""
    ends: list[int] = []
    last: list[int] = []
    before = [-1] * len(pairs)
    for each, (_, place) in enumerate(pairs):
        at = bisect_left(ends, place)
        before[each] = last[at - 1] if at else -1
        ends[at : at + 1], last[at : at + 1] = [place], [each]
    found = []
    each = last[-1] if last else -1
    while each >= 0:
        found.append(pairs[each])
        each = before[each]
    return found[::-1]
