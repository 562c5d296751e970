"""URL rules that a crawl learns by itself: evidence, probes, audits, and when to unlearn."""

from dedup.urls.learning.evidence import FetchedPage
from dedup.urls.learning.late import LateUrlKnowledge
from dedup.urls.learning.learner import Deferral, UrlLearner
from dedup.urls.learning.life import HostRule
from dedup.urls.learning.records import NEAR, UrlKnowledge

__all__ = [
    "NEAR",
    "Deferral",
    "FetchedPage",
    "HostRule",
    "LateUrlKnowledge",
    "UrlKnowledge",
    "UrlLearner",
]
