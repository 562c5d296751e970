"""How URLs of duplicates differ from those of their originals, and how to avoid fetching them.

A pattern is a difference in two or more pairs: a tracking parameter, "www.", a mirror, a directory
that repeats another. Each comes with the setting that avoids such fetches, and with the effect of
that setting on this job: fetches saved, and pages lost. This is more reliable than any list of
harmless parameters.
"""

import re
import shlex
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple
from urllib.parse import quote_plus

from xxhash import xxh3_64_intdigest

from dedup.store import JobStore
from dedup.url_patterns.differences import UrlDifference, split_web_url, url_differences
from dedup.urls.named_rules import DROP
from dedup.urls.parts import UrlParts
from dedup.urls.rules import RULES, UrlRules

MAX_RECORDS = 200_000
"""The number of records used, the earliest: takes one or two seconds, and 50 MB."""

_MIN_DUPLICATES = 2
_MAX_PATTERNS = 20
_MAX_EXAMPLES = 3

_PLAIN_NAME = re.compile(r"[\w.\[\]-]+", re.ASCII)  # without commas, at which settings split lists


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """One difference between URLs of duplicates and those of their originals.

    Attributes:
        kind: a URL rule (`tracking`, `session`, `slash`, `index`, `www`, `https`), `parameter`,
            `bare-query` (a query without "="), `print`, `host`, `path`, or `other` for duplicates
            without a pattern.
        detail: what differs: the parameter, both hosts, both parts of the path; "" for a rule.
        duplicates: the number of dropped pages with this difference from the original's URL. A page
            with two differences counts for both.
        size_bytes: the total size of their bodies.
        setting: the option for `scrapy crawl …` that avoids such pages, quoted for a shell; "" for
            `other`.
        saved: fetches of this job that the setting would have avoided without losing a page.
        lost: pages of this job that the setting would have lost, because they have no other URL.
        examples: up to three pairs of a duplicate's URL and its original's.
    """

    kind: str
    detail: str
    duplicates: int
    size_bytes: int
    setting: str
    saved: int
    lost: int
    examples: tuple[tuple[str, str], ...]


def duplicate_patterns(store: JobStore, *, max_records: int = MAX_RECORDS) -> list[UrlPattern]:
    """Return the patterns of a job's duplicates: those that save most first, `other` last.

    Returns at most 20 patterns, each of at least two duplicates, and none that would lose as many
    pages as it saves fetches. `saved` and `lost` are exact for the first `max_records` records.

    Args:
        store: the store of a job, which is only read.
        max_records: bounds time (20 µs a record) and memory.

    Raises:
        StateError: the store is damaged.
    """
    pairs = _count_pairs(store, max_records)
    ways = [
        _Way(difference, tally, detail, setting)
        for difference, tally in _most_common(pairs)
        for detail, setting in _ways_out(difference, tally)
    ]
    _try_out(store, max_records, ways)
    best = _best_ways(ways)
    by_setting = {
        way.setting: way for way in reversed(best)
    }  # for each, the most common difference
    patterns = [way.pattern() for way in by_setting.values()]
    patterns.sort(key=lambda pattern: (-pattern.saved, pattern.kind, pattern.detail))
    explained = {way.difference for way in best}
    other = _Tally.of(tally for found, tally in pairs.items() if not explained & found)
    if other.duplicates:
        patterns.append(_Way(UrlDifference("other"), other).pattern())
    return patterns


@dataclass(frozen=True, slots=True)
class Together:
    """The effect of several settings together; see `UrlPattern` for the attributes."""

    setting: str
    saved: int
    lost: int


def together(store: JobStore, patterns: Iterable[UrlPattern]) -> Together | None:
    """Join the settings of all patterns that lose nothing; None: there are fewer than two.

    Scrapy uses the last of several options with one name, so they must be joined. Settings that
    lose nothing alone may still lose pages together, which `lost` counts: one of two mirrors must
    stay.
    """
    settings = [shlex.split(each.setting) for each in patterns if each.setting and not each.lost]
    if len(settings) < 2:
        return None
    rules, denied = (
        tuple(value.partition("=")[2] for option, value in settings if option == wanted)
        for wanted in ("-s", "-a")
    )
    way = _Way(UrlDifference("together"), _Tally(), setting=_Setting(rules, denied))
    _try_out(store, MAX_RECORDS, [way])
    return Together(str(way.setting), way.saved, way.lost)


class _Setting(NamedTuple):
    """URL rules, and regular expressions for URLs that are not fetched."""

    rules: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The options for `scrapy crawl …`."""
        options = []
        if self.rules:
            options.append(f"-s {shlex.quote('DEDUP_URL_RULES=' + ','.join(self.rules))}")
        if self.denied:
            options.append(f"-a {shlex.quote('deny=' + '|'.join(self.denied))}")
        return " ".join(options)

    def new_filter(self) -> Callable[[str, UrlParts], bool]:
        """A function that is called with each URL in turn: would it be fetched?"""
        is_denied = re.compile("|".join(self.denied)).search if self.denied else None
        rules = UrlRules(self.rules)
        seen: set[int] = set()

        def is_fetched(url: str, parts: UrlParts) -> bool:
            if is_denied and is_denied(url):  # denied URLs do not count as seen
                return False
            if not self.rules:
                return True
            key = xxh3_64_intdigest(str(rules(parts)).encode())
            is_new = key not in seen
            seen.add(key)
            return is_new

        return is_fetched


@dataclass(slots=True)
class _Tally:
    duplicates: int = 0
    size_bytes: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, duplicates: int, size_bytes: int, *examples: tuple[str, str]) -> None:
        self.duplicates += duplicates
        self.size_bytes += size_bytes
        self.examples += examples[: _MAX_EXAMPLES - len(self.examples)]

    @classmethod
    def of(cls, tallies: Iterable["_Tally"]) -> "_Tally":
        whole = cls()
        for tally in tallies:
            whole.add(tally.duplicates, tally.size_bytes, *tally.examples)
        return whole


@dataclass(slots=True)
class _Way:
    """A setting that avoids URLs with a difference, and its effect on the job."""

    difference: UrlDifference
    tally: _Tally
    detail: str = ""
    setting: _Setting = field(default_factory=_Setting)
    saved: int = 0
    lost: int = 0

    def pattern(self) -> UrlPattern:
        return UrlPattern(
            kind=self.difference.kind,
            detail=self.detail,
            duplicates=self.tally.duplicates,
            size_bytes=self.tally.size_bytes,
            setting=str(self.setting),
            saved=self.saved,
            lost=self.lost,
            examples=tuple(self.tally.examples),
        )


def _count_pairs(store: JobStore, max_records: int) -> dict[frozenset[UrlDifference], _Tally]:
    """The pairs of duplicate and original, by the differences of their URLs."""
    pairs: dict[frozenset[UrlDifference], _Tally] = {}
    for url, original, size_bytes in store.report.url_pairs(max_records):
        found = frozenset(url_differences(url, original))
        pairs.setdefault(found, _Tally()).add(1, size_bytes, (url, original))
    return pairs


def _most_common(
    pairs: dict[frozenset[UrlDifference], _Tally],
) -> list[tuple[UrlDifference, _Tally]]:
    tallies: dict[UrlDifference, list[_Tally]] = {}
    for found, tally in pairs.items():
        for difference in found:
            tallies.setdefault(difference, []).append(tally)
    whole = [(difference, _Tally.of(parts)) for difference, parts in tallies.items()]
    whole = [item for item in whole if item[1].duplicates >= _MIN_DUPLICATES]
    whole.sort(key=lambda item: (-item[1].duplicates, item[0]))
    return whole[:_MAX_PATTERNS]


def _ways_out(difference: UrlDifference, tally: _Tally) -> Iterator[tuple[str, _Setting]]:
    """The settings that avoid URLs with a difference, each with its detail."""
    kind, first, second, place = difference
    if kind in RULES or kind == "bare-query":
        yield "", _Setting(rules=(kind,))
    elif kind == "parameter" and _PLAIN_NAME.fullmatch(first):
        yield first, _Setting(rules=(DROP + first,))
    elif kind == "parameter":
        yield first, _Setting(denied=(rf"[?&]{_escape(quote_plus(first))}=",))
    elif kind == "host":
        for host in _sides(difference, tally):
            yield f"{first} = {second}", _Setting(denied=(f"://{_escape(host)}/",))
    elif not place:
        yield first, _Setting(denied=(rf"[?&]{_escape(first)}(?:&|$)",))
    else:
        start, end, expression = _PLACES[place]
        detail = " = ".join(f"{start}{name}{end}" for name in (first, second) if name)
        for name in _sides(difference, tally):
            yield detail, _Setting(denied=(expression.format(_apart(name, place)),))


def _sides(difference: UrlDifference, tally: _Tally) -> list[str]:
    """What to deny. The side of the duplicates is first: it is chosen if both are equal."""
    url = tally.examples[0][0]
    sides = filter(None, (difference.first, difference.second))
    return sorted(sides, key=lambda side: side not in url)


_PLACES = {
    "directory": ("/", "/", "/{}/"),
    "end": ("/", "", r"/{}(?:\?|$)"),
    "name": ("", "", r"/[^/?]*{}[^/?]*(?:\?|$)"),
}
"""By place in the path: what is shown before and after a name, and the regular expression, which
matches only complete parts of the path."""


def _apart(name: str, place: str) -> str:
    """A regular expression for a name; for part of a name, one that matches only whole words."""
    expression = _escape(name)
    if place != "name":
        return expression
    before = "(?<![A-Za-z0-9])" if name[0].isalnum() else ""
    return before + expression + ("(?![A-Za-z0-9])" if name[-1].isalnum() else "")


def _escape(text: str) -> str:
    return re.escape(text).replace(r"\-", "-")  # special only within brackets


def _try_out(store: JobStore, max_records: int, ways: list[_Way]) -> None:
    """Set what each way would have saved and lost.

    The content of an avoided URL is lost if all its URLs are avoided.
    """
    if not ways:
        return
    size = 1 + min(max_records, store.report.last_page())
    avoided = [array("L", bytes(size * array("L").itemsize)) for _ in ways]
    kept = [bytearray(size) for _ in ways]
    filters = [way.setting.new_filter() for way in ways]
    for url, content in store.report.fetched_urls(max_records):
        try:
            parts = split_web_url(url)
        except ValueError:
            continue
        for index, is_fetched in enumerate(filters):
            if is_fetched(url, parts):
                kept[index][content] = 1
            else:
                avoided[index][content] += 1
    for way, counts, is_kept in zip(ways, avoided, kept, strict=True):
        way.saved = sum(compress(counts, is_kept))
        way.lost = sum(1 for count, kept in zip(counts, is_kept, strict=True) if count and not kept)


def _best_ways(ways: list[_Way]) -> list[_Way]:
    """The best way for each difference: it loses least, and saves more than it loses."""
    best: dict[UrlDifference, _Way] = {}
    for way in ways:
        rival = best.get(way.difference, way)
        best[way.difference] = min(rival, way, key=lambda way: way.lost - way.saved)
    return [way for way in best.values() if way.saved > way.lost]
