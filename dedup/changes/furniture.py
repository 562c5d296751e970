"""The lines that came or went on many pages of a host at once: its template has changed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from dedup.changes.dates import COUNTS
from dedup.changes.lines import (
    MAX_PASSAGES,
    PIECE,
    TITLE,
    VARIABLE,
    NumbersChange,
    Renumbered,
    behind_updates,
    changed_entries,
    changed_numbers,
    differing_keys,
    keys_of,
    line_key,
    lines_of,
    passages,
    pieces_of,
    replaced_keys,
    template_lines,
    undated,
)
from dedup.changes.rereading import Reread
from dedup.names import url_file_name
from dedup.pieces.runs import SortedRows
from dedup.sites.lines import Keys, Numbers, Words, words_of
from dedup.sites.site import Site
from dedup.store.sql.changes import ChangedPage

AT_LEAST, _SHARE, _AT_MOST = 5, 0.03, 50
"""A line that came or went on 3% of a host's pages belongs to the template; 5 pages are needed
for that, and 50 are enough."""

_ONE = np.uint32(1)
"""The last bit of a line's key: is the line mostly links?"""

_ENDS = dict.fromkeys(map(ord, "\n\r"), " ")

_IN_VAIN = 5
"""Pages that are read for labels although none is in their article, at most: a bounded cost."""

_NUMBER_SHARE = 4
"""A line that differs in numbers on a quarter of its pages, of those that were visited, is the
template's: a time that the page took, how long ago something was."""

_LIST = 3
"""A page with the names of so many pages as lines lists them."""

_LONG, _VERY_LONG = 8, 24
"""Words: a sentence rather than a label, and rather than a line with a version or a date."""

_SHARED_SHARE, _SHARED = 10, 10
"""Not more than a tenth of the pages, or ten, share what is each one's own."""

_VERSION = re.compile(r"|[a-z]{2}(?:[-_][a-z]{2,4})?|v\d+(?:\.\d+)*|\d+(?:\.\d+)+", re.IGNORECASE)
"""Names a version or a language in a path; or nothing, between two slashes."""

_VERSIONS, _MOST_VERSIONS = 3, 50
"""So many pages of each name, at least and at most, on average, are its versions and languages."""

_DATED = -1
"""Marks a line that differs in a date, or in case; 0: one that came or went."""

_LETTER = re.compile(r"[^\W\d_]")
_OF_COUNTERS = {NumbersChange.GREW, NumbersChange.FELL}

_LINES_A_PAGE = 1_000
_MAX_LINES = 200_000
"""Of all templates, for a bounded memory: those after these are told as changes of pages."""


AreNames = Callable[[Sequence[str]], NDArray[np.bool_]]


@dataclass
class Template:
    """What many pages of a host have changed.

    Attributes:
        keys: those of lines, and of pieces of lines; on how many pages.
        labels: those of the keys that came or went on fewer than half of the host's pages, and
            have other numbers or dates on none: headings and labels of articles, or what a part of
            the pages shares.
        numbers: on how many pages lines differ in numbers alone, by key, of two pages or more; of
            counters, on how many others do.
        counters: the keys of lines with a counter, which mostly grew; beside it others may differ.
        renumbered: those of the keys that came or went on too few pages, by numbers on the others.
        versions: the keys of lines that came or went on as many pages, which have few names: these
            are versions and languages of some pages.
        entries: the keys of lines of which lists have more than before, or fewer.
    """

    keys: dict[str, int] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    renumbered: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    entries: set[str] = field(default_factory=set)


class UrlNames(NamedTuple):
    """The names of a host's pages, see `url_name`, and how many pages have each."""

    names: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, urls: Iterable[str]) -> UrlNames:
        found = np.fromiter(map(url_name, urls), np.uint64)
        return cls(*np.unique(found, return_counts=True))

    def are_versions(self, names: Collection[int]) -> bool:
        """Are pages of these names versions and languages of few of the host's pages?

        No, if half of the names are, or hosts have more pages of a name than there are languages:
        then these are what each user or product has.
        """
        n_pages = self.counts[np.isin(self.names, np.fromiter(names, np.uint64))].sum()
        return bool(2 * len(names) < len(self.names) and n_pages <= _MOST_VERSIONS * len(names))


def url_name(url: str) -> int:
    """A number for what the URLs of a page's versions and languages share: the end, and the query.

    >>> url_name("http://a/v2/de/guide.html") == url_name("http://a/3.1/guide/")
    True
    >>> url_name("http://a/docs/de/") == url_name("http://a/docs/en/index.html")
    True
    """
    parts = urlsplit(url)
    names = [url_file_name(url), *parts.path.rstrip("/").split("/")[-2::-1]]
    own = next((name for name in names if not _VERSION.fullmatch(name)), "")
    return _hash([own, parts.query])


def templates(
    pages: Iterable[ChangedPage],
    n_pages: Mapping[str, int],
    names_of: Callable[[str], UrlNames],
    folder: Path,
) -> dict[str, Template]:
    """Find what of the hosts' templates has changed, by host.

    Args:
        pages: those with a new version.
        n_pages: the number of pages of each host that are there.
        names_of: gives the names of a host's pages.
        folder: of temporary files.
    """
    found: defaultdict[str, Template] = defaultdict(Template)
    names_of = lru_cache(1)(names_of)
    counted: defaultdict[str, _Counters] = defaultdict(_Counters)
    n_lines = 0
    with closing(SortedRows(folder)) as rows:
        for page in pages:
            keys = {line_key(line) for lines in template_lines(page) for line in lines}
            changed, entries = changed_numbers(page), changed_entries(page)
            n_lines += counted[page.host].add(changed) if n_lines < _MAX_LINES else 0
            came_or_went, name = differing_keys(page), url_name(page.url)
            for key in sorted(keys)[:_LINES_A_PAGE]:
                kind = 0 if key in came_or_went else _DATED
                if key in changed:
                    kind = changed[key].change
                entry = _hash(entries[key]) if key in entries else 0
                rows.add((page.host, key, page.number, kind, name, entry))
        for (host, key), group in groupby(rows, key=lambda row: row[:2]):
            if n_lines >= _MAX_LINES:
                break
            _, _, _, kinds, names, entered = zip(*group, strict=True)
            template, n_own = found[host], n_pages.get(host, 0)
            if len(kinds) >= (enough := enough_pages(n_own)):
                n_lines += 1
                n_different = len(set(names))
                are_many = n_different >= enough or len(kinds) < _VERSIONS * n_different
                if are_many or not names_of(host).are_versions(set(names)):
                    template.keys[key] = len(kinds)
                    if kinds.count(0) < enough:
                        template.renumbered.add(key)
                    is_part = key.startswith((TITLE, PIECE))
                    if 2 * len(kinds) < n_own and not (is_part or any(kinds)):
                        template.labels.add(key)
                else:
                    template.versions.add(key)
            if len(numbered := [kind for kind in kinds if kind > 0]) > 1:
                n_lines += 1
                template.numbers[key] = len(numbered)
                if COUNTS.search(key) and _is_counter(Counter(numbered)):
                    template.counters.add(key)
                    template.numbers[key] = numbered.count(NumbersChange.BESIDE)
                    if not _LETTER.search(COUNTS.sub("", key)):  # it says nothing else
                        template.keys.setdefault(key, len(kinds))
            same = Counter(filter(None, entered))
            if same and max(same.values()) <= _most(n_own):
                n_lines += 1
                template.entries.add(key)
    for host, each in counted.items():
        template = found[host]
        for key, n in each.lines():
            if key not in template.numbers or key in template.counters:
                template.keys.setdefault(key, n)
                template.counters.add(key)
    return dict(found)


def _is_counter(kinds: Counter[int]) -> bool:
    """Has a line a counter, by how its numbers changed on so many pages?"""
    return not kinds[NumbersChange.OTHER] and kinds[NumbersChange.GREW] >= kinds[NumbersChange.FELL]


class _Counters:
    """What counters of a host count, and the lines that have one beside a name, as posts do."""

    def __init__(self) -> None:
        self._n_pages: Counter[str] = Counter()
        self._words: dict[str, str] = {}

    def add(self, changed: Mapping[str, Renumbered]) -> int:
        """Add the changed numbers of a page, see `changed_numbers`; return how many lines count."""
        words: dict[str, str] = {}
        for key, each in changed.items():
            word = COUNTS.search(key) if each.change is NumbersChange.GREW else None
            if word is not None and len(key.split()) < _LONG:
                words[key] = word[0]
        self._n_pages.update(set(words.values()))
        self._words |= words
        return len(words)

    def lines(self) -> Iterator[tuple[str, int]]:
        """The keys of lines with words beside which numbers grew on several pages.

        With the number of these pages.
        """
        for key, word in self._words.items():
            if self._n_pages[word] >= AT_LEAST:
                yield key, self._n_pages[word]


class Shown:
    """Lines of a template that came, and that went: those that most pages share.

    Attributes:
        seen_at: when the last of its pages was seen.
    """

    def __init__(self, template: Template) -> None:
        self.seen_at = 0.0
        self._keys = template.keys
        self._found: tuple[dict[str, str], dict[str, str]] = {}, {}

    def add(self, page: ChangedPage) -> None:
        self.seen_at = max(self.seen_at, page.now.fetched_at)
        for lines, found in zip(template_lines(page), self._found, strict=True):
            for line in lines:
                if (key := line_key(line)) in self._keys and key not in found:
                    found[key] = line
                    if len(found) > MAX_PASSAGES:
                        del found[max(found, key=self._order)]

    def passages(self) -> tuple[list[str], list[str]]:
        """What came and went, as it is shown."""
        came, went = (
            [found[key] for key in sorted(found, key=self._order)] for found in self._found
        )
        return passages(came, went), passages(went, came)

    def _order(self, key: str) -> tuple[int, bool, str]:
        return -self._keys[key], key.startswith(PIECE), key


class Furniture:
    """The lines of a host that belong to its template.

    Args:
        template: what many pages have changed.
        site: what is known of the host.
        are_names: which of some keys are that of the name of a page of the host?
        n_visited: on how many pages numbers could have been seen to change.
    """

    def __init__(
        self, template: Template, site: Site, are_names: AreNames, n_visited: int = 0
    ) -> None:
        self._template, self._site, self._are_names = template, site, are_names
        self._n_visited = n_visited
        self._labels, self._found = set(template.labels), set[str]()
        self._n_in_vain = 0

    def has_changed(self, own: Collection[str], lines: Sequence[str]) -> list[bool]:
        """Which of the lines, or pieces of lines, have many pages changed?

        `own`: keys of lines that do not count, see `numbers_of` and `shared_of`.
        """
        return self._have_changed(own, map(line_key, lines))

    def _have_changed(self, own: Collection[str], keys: Iterable[str]) -> list[bool]:
        many = self._template.keys
        return [key not in own and (key in many or key.removeprefix(PIECE) in many) for key in keys]

    def numbers_of(self, page: ChangedPage) -> set[str]:
        """The keys of lines that many pages have, but whose numbers are the page's own.

        Of the visited pages that have such a line fewer than a quarter have other numbers now, or
        four at most, and not all; counters only grew. Dates and times count on few pages alone:
        many have those of a build.
        """
        if not (self._n_visited and (changed := changed_numbers(page))):
            return set()
        counts = self._counts([each.line for each in changed.values()]).tolist()
        return {
            key
            for (key, each), count in zip(changed.items(), counts, strict=True)
            if not (each.change is NumbersChange.TIMES and key in self._template.keys)
            and not (each.change in _OF_COUNTERS and key in self._template.counters)
            and (n_pages := self._template.numbers.get(key, 1))
            and _least_share(n_pages) * n_pages * self._site.n_names < count * self._n_visited
        }

    def shared_of(self, page: ChangedPage, beside: Collection[str] = ()) -> set[str]:
        """The keys of lines that are the page's own although several pages have or changed them.

        These are names of pages that it lists, and long lines, as articles share them, if no more
        than a tenth of the host's pages have them, but for those with numbers and dates that are
        not very long, and those in `beside`; entries of lists of which it has more or fewer; lines
        that say something else behind the date of an update; and what changed in its versions.
        """
        names, others = set[str](), behind_updates(page) | self._entries_of(page)
        n_names = 0
        for version in (page.then, page.now):
            lines = lines_of(version, page.url)
            keys = keys_of(version, page.url)
            is_few = self._counts(lines) <= _most(self._site.n_names)
            is_few &= [self._template.keys.get(key, 0) <= _most(self._n_visited) for key in keys]
            found = set(compress(keys, is_few & self._are_names(keys)))
            names |= found
            n_names = max(n_names, len(found))
            is_long = _words(lines).counts >= [
                _VERY_LONG if VARIABLE in key else _LONG for key in keys
            ]
            is_long &= [key not in beside for key in keys]
            long = list(compress(lines, is_few & is_long))
            pieces = [piece for line in long for piece in pieces_of(line)]
            long += compress(pieces, _words(pieces).counts >= _LONG)
            others.update(map(line_key, long), self._template.versions.intersection(keys))
        if n_names < _LIST:
            return others
        return others | names | {PIECE + undated(name) for name in names}

    def _entries_of(self, page: ChangedPage) -> set[str]:
        """The keys of entries of which a page has more or fewer, and of their pieces."""
        return {
            line_key(each)
            for key, lines in changed_entries(page).items()
            if key in self._template.entries
            for line in lines
            for each in (line, *pieces_of(line))
        }

    def labels_of(self, page: ChangedPage) -> set[str]:
        """The labels that came or went on a page, and may be its own."""
        return self._labels & {key for _, key in self._differing(page)} | self.values_of(page)

    def values_of(self, page: ChangedPage) -> set[str]:
        """The keys of lines that many pages have, and few changed: one of a few values.

        Such as `In stock`; with a number beside it, if another such line has taken its place.
        """
        lines = {key: line for line, key in self._differing(page)}
        counts = self._counts(list(lines.values())).tolist()
        enough, replaced = enough_pages(self._site.n_names), replaced_keys(page)
        return {
            key
            for key, count in zip(lines, counts, strict=True)
            if (count >= enough and key not in self._template.keys)
            or key in self._template.renumbered
            if key in replaced or VARIABLE not in key
        }

    def _differing(self, page: ChangedPage) -> Iterator[tuple[str, str]]:
        """The lines of keys that came or went, but for titles."""
        found = differing_keys(page)
        for version in (page.then, page.now):
            both = zip(lines_of(version, page.url), keys_of(version, page.url), strict=True)
            yield from (
                (line, key) for line, key in both if key in found and not key.startswith(TITLE)
            )

    def note(self, labels: set[str], again: Reread | None) -> None:
        """After some pages that were read for labels in vain, only those of articles count."""
        own = frozenset[str]() if again is None else again.labels
        self._found |= own
        self._n_in_vain += bool(labels & self._labels) and not own
        if self._n_in_vain >= _IN_VAIN:
            self._labels &= self._found

    def __call__(
        self, again: Reread | None, own: Collection[str], lines: Sequence[str]
    ) -> list[bool]:
        """Which of the lines are not the page's own? Those that many pages have, or have changed.

        A line that many pages have is the page's own if the whole page has it once more, or once
        less: its menu has it, too. Of a title, only what many pages have changed is not.
        """
        labels = frozenset[str]() if again is None else again.labels
        is_common = self._counts(lines) >= enough_pages(self._site.n_names)
        if again is not None:
            is_common &= ~np.isin(_keys(lines), again.moved)
        keys = [line_key(line) for line in lines]
        each = zip(lines, keys, self._have_changed(own, keys), is_common.tolist(), strict=True)
        return [
            key not in labels
            and key not in own
            and (out or (common and not line.startswith((TITLE, PIECE))))
            for line, key, out, common in each
        ]

    def _counts(self, lines: Sequence[str]) -> Numbers:
        """How many names have each line, as text or as links."""
        keys = _keys(lines)
        return np.maximum(self._site.line_counts(keys | _ONE), self._site.line_counts(keys))


def _keys(lines: Sequence[str]) -> Keys:
    """The keys of lines that are not mostly links."""
    return _words(lines).line_hashes().astype(np.uint32) & ~_ONE


def _words(lines: Sequence[str]) -> Words:
    return words_of([line.translate(_ENDS) for line in lines])


def _hash(lines: Iterable[str]) -> int:
    return xxh3_64_intdigest("\n".join(lines).encode(errors="replace"))


def enough_pages(n_pages: int) -> int:
    """On how many pages of a host lines belong to its template."""
    return max(AT_LEAST, min(_AT_MOST, round(_SHARE * n_pages)))


def _least_share(n_pages: int) -> int:
    """How many times as many pages have a line whose numbers so many changed as their own."""
    return _NUMBER_SHARE if n_pages >= AT_LEAST else 1


def _most(n_pages: int) -> int:
    """How many pages may have a line that is each one's own: never more than half of them."""
    most = max(_SHARED, n_pages // _SHARED_SHARE)
    return min(most, n_pages // 2) if n_pages else most
