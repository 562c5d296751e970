"""The groups of duplicates that a report lists, and the pairs of texts that it compares.

Both are bounded, so that a report on millions of pages still opens at once. The result says how
much it contains.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dedup.document import Document
from dedup.explain.text_differences import Part, differences
from dedup.fingerprints import simhash
from dedup.report.names import has_other_name
from dedup.store import JobStore
from dedup.store.query_results import ListedDuplicate
from dedup.text import features

MAX_DUPLICATES = 20_000
"""Listed duplicates, those with the lowest resemblance: one or two megabytes of the file."""

MAX_COMPARED = 300
"""Pairs of texts whose differences are marked: takes 0.5 to 2 s."""

MAX_EXCERPTS = 2_000
"""The number of groups, the largest, that show the beginning of the original."""

_EXCERPT_LENGTH = 400


def listed_groups(store: JobStore, sites: Mapping[str, int]) -> dict[str, Any]:
    """Return the originals, those with most duplicates first, and their duplicates.

    `originals` holds: URL, host, title, language, beginning of the text, site, how many
    duplicates are listed, how many there are. `duplicates`, those of the first original first: URL,
    host, title, stage, distance, resemblance, differences of the texts or None, the distance of
    their fingerprints where another stage than simhash found them, or None, site, and whether the
    original's name is another. Hosts and stages are places in the lists of that name; so are sites,
    in the list that `sites` gives by host, or None where a page was read by itself. `distances`
    counts the distances of fingerprints.
    """
    rows = store.report.listed_duplicates(MAX_DUPLICATES)
    compared = dict(_compared(store, rows))
    groups = [
        (original, list(members))
        # Sorting is stable: the least similar duplicate of each original comes first.
        for original, members in groupby(
            sorted(rows, key=lambda row: row.original), lambda row: row.original
        )
    ]
    groups.sort(key=lambda group: -len(group[1]))
    totals = store.report.duplicates_by_original()
    hosts, stages = _Places(), _Places()
    return {
        "originals": [
            [
                *_original(store, hosts, original, sites, place < MAX_EXCERPTS),
                len(members),
                totals[original],
            ]
            for place, (original, members) in enumerate(groups)
        ],
        "duplicates": [
            [
                *(each.url, hosts[each.host], each.shown_title, stages[each.stage]),
                *(each.distance, each.resemblance),
                *compared.get(each.number, (None, None)),
                sites.get(each.host) if each.site_version else None,
                has_other_name(
                    each.title, each.heading, each.original_title, each.original_heading
                ),
            ]
            for _, members in groups
            for each in members
        ],
        "hosts": list(hosts),
        "stages": list(stages),
        "distances": Counter(found for _, found in compared.values() if found is not None),
        "listed": len(rows),
    }


class _Places(dict[str, int]):
    """Numbers names in order of their first use."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _original(
    store: JobStore, hosts: _Places, number: int, sites: Mapping[str, int], is_shown: bool
) -> tuple[str, int, str, str, str, int | None]:
    page = store.report.page(number, with_text=is_shown)
    excerpt = page.text[:_EXCERPT_LENGTH]
    place = sites.get(page.host) if page.site_version else None
    return page.url or f"#{number}", hosts[page.host], page.title, page.language, excerpt, place


def _compared(
    store: JobStore, rows: Sequence[ListedDuplicate]
) -> Iterator[tuple[int, tuple[list[Part], int | None]]]:
    """Compare pairs: half of them those of lowest resemblance, half evenly from the others.

    Each is a number with the differences of the texts, and the distance of their fingerprints.
    Equal bodies are not compared.
    """
    candidates = [row for row in rows if row.stage != "body"]
    lowest, rest = candidates[: MAX_COMPARED // 2], candidates[MAX_COMPARED // 2 :]
    step = max(1, -(-len(rest) // (MAX_COMPARED - MAX_COMPARED // 2)))
    for row in [*lowest, *rest[::step]]:
        first, second = store.report.pair_texts(row.number)
        has_distance = row.distance is None and row.resemblance is not None and row.resemblance < 1
        distance = _distance(first, second) if has_distance else None
        yield row.number, (differences(first, second), distance)


def _distance(first: str, second: str) -> int:
    """The Hamming distance of 64-bit fingerprints as in the simhash stage, by frequency."""
    documents = (Document(id="", text=text) for text in (first, second))
    found = [simhash(*features(each.normal_text, unspaced=each.is_unspaced)) for each in documents]
    return (found[0] ^ found[1]).bit_count()
