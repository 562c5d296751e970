"""What is said of a learned rule: in records, reports and on the terminal, in the same words."""

from __future__ import annotations

import shlex

from dedup.urls.canonical import url_key
from dedup.urls.learning.bounds import CONFIDENCE, max_lost
from dedup.urls.learning.life import HostRule
from dedup.urls.learning.matching import split_spelt
from dedup.urls.learning.records import UrlKnowledge
from dedup.urls.learning.rewrites import OPPOSITES, form_key, rewriter

LEARNED_RULE = "learned_rule"
"""Why a URL was not fetched: it is recorded under this reason, with `skip_detail`."""

_ADDING = {"add-slash", "add-www", "http"}


_WORDS = {
    "bare-query": "a query without = changes nothing",
    "session": "session identifiers change nothing",
    "tracking": "tracking parameters change nothing",
    "order": "the order of a parameter's values changes nothing",
    "index": "an index page is its directory",
    "slash": "a slash at the end changes nothing",
    "add-slash": "a slash at the end changes nothing",
    "www": "www. changes nothing",
    "add-www": "www. changes nothing",
    "https": "http and https show the same",
    "http": "http and https show the same",
}


def what_it_says(rule: HostRule) -> str:
    """What a rule says, in words.

    >>> what_it_says(HostRule(1, "a.example", "drop:ref@/news/"))
    'the parameter ref changes nothing below /news/'
    """
    if rule.name in _WORDS:
        return _WORDS[rule.name]
    kind, _, rest = rule.name.partition(":")
    if kind == "drop":
        name, _, prefix = rest.partition("@")
        return f"the parameter {name} changes nothing" + (f" below {prefix}" if prefix else "")
    first, _, second = rest.partition("=")
    return f"{'folder' if kind == 'folder' else 'host'} {first} shows the same as {second}"


def skip_detail(rule: HostRule) -> str:
    """The rule and the bound on what it loses. It names the rule, and does not change."""
    return f"{rule.name} on {rule.host}: {bound(rule)}"


def known_page(knowledge: UrlKnowledge, detail: str, url: str) -> int | None:
    """The page that a skipped URL was called, by the detail of its record; None: by several rules.

    Args:
        knowledge: of the job.
        detail: see `skip_detail`.
        url: in canonical spelling.
    """
    name = detail.partition(" on ")[0]
    form = rewriter(name)(split_spelt(url))
    pages = knowledge.forms([url_key(str(form)), form_key(name, form)]).values()
    return next((page for page in pages if page is not None), None)


def bound(rule: HostRule, *, n_skipped: int = 0) -> str:
    """How many pages are lost at most, of the URLs that were skipped, and how sure that is.

    >>> bound(HostRule(1, "a.example", "slash", "trusted", sample_rate=0.24))
    'at most 10 pages lost, 95%'
    >>> bound(HostRule(1, "a.example", "slash", "trusted", sample_rate=0.24), n_skipped=4812)
    'at most 10 pages of 4,812 lost, 95%'
    """
    if not rule.sample_rate:
        return "nothing skipped"
    n_lost = max_lost(rule.sample_rate)
    of = ""
    if n_skipped:
        n_lost = min(n_lost, n_skipped)
        of = f" of {n_skipped:,}"
    return f"at most {n_lost:,} page{'s' if n_lost != 1 else ''}{of} lost, {CONFIDENCE:.0%}"


def setting(rule: HostRule) -> str:
    """What to add to `scrapy crawl …` to make a rule permanent, quoted for a shell.

    It holds for all hosts of a crawl.

    >>> setting(HostRule(1, "a.example", "drop:ref"))
    '-s DEDUP_URL_RULES=drop:ref'
    """
    name = OPPOSITES[rule.name] if rule.name in _ADDING else rule.name
    return f"-s {shlex.quote('DEDUP_URL_RULES=' + name)}"
