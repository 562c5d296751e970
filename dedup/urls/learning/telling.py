"""What is said of a learned rule: in records, reports and on the terminal, in the same words."""

from __future__ import annotations

import shlex

from dedup.urls.learning.bounds import CONFIDENCE, max_lost
from dedup.urls.learning.life import HostRule
from dedup.urls.learning.rewrites import OPPOSITES

LEARNED_RULE = "learned_rule"
"""Why a URL was not fetched: it is recorded under this reason, with `skip_detail`."""

_ADDING = {"add-slash", "add-www", "http"}


def skip_detail(rule: HostRule) -> str:
    """The rule and the bound on what it loses. It names the rule, and does not change."""
    return f"{rule.name} on {rule.host}: {bound(rule)}"


def bound(rule: HostRule) -> str:
    """How many pages are lost at most, and how sure that is.

    >>> bound(HostRule(1, "a.example", "slash", "trusted", sample_rate=0.24))
    'at most 10 pages lost, 95%'
    """
    if not rule.sample_rate:
        return "nothing skipped"
    n_lost = max_lost(rule.sample_rate)
    return f"at most {n_lost:,} page{'s' if n_lost != 1 else ''} lost, {CONFIDENCE:.0%}"


def setting(rule: HostRule) -> str:
    """What to add to `scrapy crawl …` to make a rule permanent, quoted for a shell.

    It holds for all hosts of a crawl.

    >>> setting(HostRule(1, "a.example", "drop:ref"))
    '-s DEDUP_URL_RULES=drop:ref'
    """
    name = OPPOSITES[rule.name] if rule.name in _ADDING else rule.name
    return f"-s {shlex.quote('DEDUP_URL_RULES=' + name)}"
