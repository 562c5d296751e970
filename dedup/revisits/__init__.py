"""Which pages of a job to visit again first, and how fresh they are."""

from dedup.revisits.clock import Visit
from dedup.revisits.freshness import Freshness, Interval, freshness
from dedup.revisits.hints import Trust, instant, odds_of, trust_in_sections
from dedup.revisits.histories import Histories, PageHistory, section_of
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
    "section_of",
    "shingles_of",
    "trust_in_sections",
    "values",
]
