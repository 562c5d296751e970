"""Which pages of a job to visit again first."""

from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.plan import planned
from dedup.revisits.rates import Rates, estimate
from dedup.revisits.value import in_turns, values

__all__ = [
    "Histories",
    "PageHistory",
    "Rates",
    "estimate",
    "in_turns",
    "planned",
    "values",
]
