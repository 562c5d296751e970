"""Which pages of a job to visit again first, and how fresh they are."""

from dedup.revisits.clock import Visit
from dedup.revisits.freshness import Freshness, Interval, freshness
from dedup.revisits.hints import Trust, instant, odds_of
from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.passages import PageText, SharedPassages, shingles_of
from dedup.revisits.plan import Schedule
from dedup.revisits.rates import Rates, estimate
from dedup.revisits.value import in_turns, values

__all__ = [
    "Freshness",
    "Histories",
    "Interval",
    "PageHistory",
    "PageText",
    "Rates",
    "Schedule",
    "SharedPassages",
    "Trust",
    "Visit",
    "estimate",
    "freshness",
    "in_turns",
    "instant",
    "odds_of",
    "shingles_of",
    "values",
]
