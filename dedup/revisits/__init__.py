"""Which pages of a job to visit again first."""

from dedup.revisits.clock import Visit
from dedup.revisits.hints import Trust
from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.plan import Schedule
from dedup.revisits.rates import Rates, estimate
from dedup.revisits.value import in_turns, values

__all__ = [
    "Histories",
    "PageHistory",
    "Rates",
    "Schedule",
    "Trust",
    "Visit",
    "estimate",
    "in_turns",
    "values",
]
