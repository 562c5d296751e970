"""How many probes and audits a bound on the loss asks for.

Every URL that a rule matches is drawn with the same probability `rate`, by a hash of its key. Where
`n_lost + 1` of them are pages of their own, none of these is drawn with probability
`(1 - rate) ** (n_lost + 1)`. One that is drawn is fetched, and unlearns the rule. So if that
probability is at most 5%, a rule that was not unlearned loses at most `n_lost` pages, at 95%. This
is exact whatever the number of URLs.
"""

from math import ceil, expm1, floor, log, log1p

CONFIDENCE = 0.95
_LOG_DOUBT = log(1 - CONFIDENCE)

AUDIT_RATE = 0.05
"""Share of a trusted rule's URLs that are fetched at once: a rule that ceases to hold is found
while its host is crawled, after 20 pages of their own on average."""

PROBE_RATE = 0.2
"""Share of the URLs that are probes while a rule is on probation. A rule with fewer than some 150
URLs does not come to be trusted: there is little to save."""

_PROBED_PER_LOST = 100
"""Probes find a share of wrong URLs that is this many times `loss`; audits find the rest."""

_MIN_PROBES, _MAX_PROBES = 10, 299  # 26% and 1% of the URLs may be wrong, at 95%


def n_probes(loss: float) -> int:
    """How many probes without a failure make a rule trusted, by the share of pages to be lost.

    >>> n_probes(0.001), n_probes(0.01), n_probes(0.0001)
    (29, 10, 299)
    """
    wrong = min(_PROBED_PER_LOST * loss, 0.5)
    needed = ceil(_LOG_DOUBT / log1p(-wrong))
    return min(max(needed, _MIN_PROBES), _MAX_PROBES)


def budget(loss: float, n_pages: int, n_rules: int) -> int:
    """How many pages one rule of a host may lose: its part of the share, and one at least."""
    return max(1, floor(loss * n_pages / max(n_rules, 1)))


def audit_rate(n_lost: int) -> float:
    """The share of a rule's URLs to be fetched so that at most `n_lost` pages are lost, at 95%.

    >>> round(audit_rate(10), 3), round(audit_rate(1), 3)
    (0.238, 0.776)
    """
    return max(AUDIT_RATE, -expm1(_LOG_DOUBT / (n_lost + 1)))


def max_lost(rate: float) -> int:
    """The bound that a share of audits without a failure gives: pages lost at most, at 95%.

    >>> max_lost(audit_rate(10)), max_lost(1.0)
    (10, 0)
    """
    if rate >= 1:
        return 0
    # `n_lost + 1` is the least number of wrong URLs that is found with enough probability.
    return max(0, ceil(_LOG_DOUBT / log1p(-rate) - 1e-9) - 1)
