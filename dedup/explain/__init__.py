"""Why a page was kept or dropped: what the store knows, and the detectors' decisions once more."""

from dedup.explain.comparison import Comparison, Verdict, compare, decide
from dedup.explain.fate import Fate, find_fate
from dedup.explain.origin import TextOrigin, text_origin
from dedup.explain.replay import Candidate, Replay, StageReport

__all__ = [
    "Candidate",
    "Comparison",
    "Fate",
    "Replay",
    "StageReport",
    "TextOrigin",
    "Verdict",
    "compare",
    "decide",
    "find_fate",
    "text_origin",
]
