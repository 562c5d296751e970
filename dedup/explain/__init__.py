"""Why a page was kept or dropped: what the store knows, and the detectors' decisions once more."""

from dedup.explain.comparison import Comparison, Decision, Look, compare, decide
from dedup.explain.failures import FailedUrl, failed_urls
from dedup.explain.fate import Fate, fate_values, find_fate
from dedup.explain.origin import TextOrigin, text_origin
from dedup.explain.replay import Candidate, Replay, StageReport

__all__ = [
    "Candidate",
    "Comparison",
    "Decision",
    "FailedUrl",
    "Fate",
    "Look",
    "Replay",
    "StageReport",
    "TextOrigin",
    "compare",
    "decide",
    "failed_urls",
    "fate_values",
    "find_fate",
    "text_origin",
]
