"""Why a page was kept or dropped: what the store knows, and the detectors' decisions once more."""

from dedup.explain.comparison import Comparison, Decision, compare, decide
from dedup.explain.fate import Fate, find_fate
from dedup.explain.origin import TextOrigin, text_origin
from dedup.explain.replay import Candidate, Replay, StageReport

__all__ = [
    "Candidate",
    "Comparison",
    "Decision",
    "Fate",
    "Replay",
    "StageReport",
    "TextOrigin",
    "compare",
    "decide",
    "find_fate",
    "text_origin",
]
