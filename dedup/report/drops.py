"""Drops with short texts, and pages kept by the second look, for the report."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from dedup.report.listing import MAX_DUPLICATES
from dedup.sites.lines import words_of
from dedup.store import JobStore
from dedup.store.query_results import ApartPage

SHORT_WORDS = 20
"""A text with fewer words is little more than a name."""

MAX_LOOKED_AT = 2_000
"""Dropped texts whose words are counted, sampled evenly from the listed ones: at most 1 s."""

MAX_APART = 200
"""The maximum number of listed pages that the second look kept."""

_EXAMPLES = 3
_BEGINNING = 500  # characters


@dataclass(frozen=True, slots=True)
class ShortDrops:
    """Drops with short texts, except those with equal bodies.

    Attributes:
        short: the number of short texts in the sample.
        estimate: the estimated number among all drops.
        examples: URL of a drop, URL of its original, and the text.
    """

    short: int
    estimate: int
    examples: tuple[tuple[str, str, str], ...]


def short_drops(store: JobStore) -> ShortDrops:
    """Count the words of dropped texts."""
    drops = sum(count.pages for stage, count in store.stats.duplicates().items() if stage != "body")
    rows = [row for row in store.report.listed_duplicates(MAX_DUPLICATES) if row.stage != "body"]
    step = max(1, -(-len(rows) // MAX_LOOKED_AT))
    found = []
    for row in rows[::step]:
        _, text = store.report.pair_texts(row.number)
        text = " ".join(text.split())
        if _is_short(text):
            found.append((row, text))
    looked_at = len(rows[::step])
    examples = tuple(
        (row.url or "", store.label(row.original)[1] or "", text) for row, text in found[:_EXAMPLES]
    )
    estimate = round(drops * len(found) / looked_at) if looked_at else 0
    return ShortDrops(len(found), estimate, examples)


def _is_short(text: str) -> bool:
    # The beginning of most texts has enough words.
    parts = (text[:_BEGINNING], text) if len(text) > _BEGINNING else (text,)
    return all(len(words_of([part]).hashes) < SHORT_WORDS for part in parts)


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Pages that resemble another one but were kept for their own lines; at most 200 are listed."""

    pages: int
    listed: tuple[ApartPage, ...]


def kept_apart(store: JobStore) -> KeptApart:
    """The pages that the second look kept."""
    return KeptApart(store.stats.kept_apart(), tuple(islice(store.explain.all_apart(), MAX_APART)))
