"""Names in a report: drops whose original has another name, and pages that differ only in names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from xxhash import xxh3_128_digest

from dedup.names import do_agree, name_of
from dedup.store import JobStore

MAX_RECORDS = 200_000
"""Near duplicates whose names are compared, the earliest: takes at most 2 s."""

MAX_CANDIDATES = 50_000
"""Pages whose texts are compared to find aliases, the earliest: takes at most 3 s."""

MAX_ALIASES = 200
"""The maximum number of listed groups of aliases."""


@dataclass(frozen=True, slots=True)
class OtherNames:
    """Near duplicates by their names.

    Attributes:
        near: the number of near duplicates whose names were compared.
        other: the number of these with a different title or heading from their original.
        on_one_host: the number of these on the host of their original.
    """

    near: int
    other: int
    on_one_host: int


@dataclass(frozen=True, slots=True)
class Aliases:
    """Stored pages of one host that differ only in their names.

    Attributes:
        pages: their number, without the first page of each text.
        groups: for each text, URL and name of its pages; at most 200 groups.
    """

    pages: int
    groups: list[list[tuple[str, str]]]


def other_names(store: JobStore) -> OtherNames:
    """Compare the names of near duplicates with those of their originals."""
    near = other = on_one_host = 0
    for is_one_host, *names in store.report.near_names(MAX_RECORDS):
        near += 1
        if has_other_name(*names):
            other += 1
            on_one_host += is_one_host
    return OtherNames(near, other, on_one_host)


def has_other_name(title: str, heading: str, original_title: str, original_heading: str) -> bool:
    """Do title or heading differ, ignoring versions? A missing one does not count."""
    return not (do_agree(title, original_title) and do_agree(heading, original_heading))


def aliases(store: JobStore) -> Aliases:
    """Find the pages that differ only in their names.

    Candidates are pages that share one of their longest sentences with another page. Jobs without
    that stage have none.
    """
    found: defaultdict[tuple[str, bytes], dict[str, tuple[str, str]]] = defaultdict(dict)
    for number in _candidates(store):
        try:
            page = store.report.page(number)
        except KeyError:  # a signature without a page: the store may come from anyone
            continue
        text = _without_names(page.text, page.own_title, page.heading)
        if page.host and text:
            name = name_of(page.own_title, page.heading)
            shown = page.url or "", page.heading or page.title
            found[page.host, xxh3_128_digest(text)].setdefault(name, shown)
    groups = [list(names.values()) for names in found.values() if len(names) > 1]
    groups.sort(key=len, reverse=True)
    return Aliases(sum(len(group) - 1 for group in groups), groups[:MAX_ALIASES])


def _candidates(store: JobStore) -> list[int]:
    """The numbers of pages that share a long sentence with another page."""
    numbers: list[int] = []
    keys: list[np.ndarray[Any, np.dtype[np.uint32]]] = []
    for some_numbers, values in store.signatures("sentences"):
        for number, value in zip(some_numbers, values, strict=True):
            found = np.frombuffer(value, "<u4")
            keys.append(found)
            numbers += [int(number)] * len(found)
    if not keys:
        return []
    _, place, counts = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    shared = np.unique(np.array(numbers)[counts[place] > 1])
    return [int(number) for number in shared[:MAX_CANDIDATES]]


def _without_names(text: str, title: str, heading: str) -> bytes:
    """The text without the page's names; for `pandas.Index.isna`, also without `isna`."""
    names = {name for each in (title, heading) for name in _spellings(" ".join(each.split()))}
    lines = (" ".join(line.split()) for line in text.splitlines())
    joined = "\n".join(line for line in lines if line and line not in names)
    for name in sorted(names, key=len, reverse=True):
        joined = joined.replace(name, "")
    return joined.encode(errors="replace")


def _spellings(name: str) -> Iterator[str]:
    """The name and, for a dotted word, its ends; without those of a single character."""
    while len(name) > 1:
        yield name
        name = "" if " " in name else name.partition(".")[2]
