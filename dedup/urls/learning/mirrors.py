"""Which folders and hosts are observed to be mirrors: those that duplicates and originals show."""

from __future__ import annotations

from collections.abc import Callable

from dedup.urls.learning.book import RuleBook
from dedup.urls.learning.evidence import FetchedPage
from dedup.urls.learning.matching import host_and_port, split_spelt
from dedup.urls.learning.records import NEAR
from dedup.urls.learning.rewrites import is_mirror, mirrors, renamed_host

_MAX_MIRRORS = 20
"""Of a host: its folders, and other hosts that show the same. They may be made up without end."""


def note_mirrors(
    book: RuleBook, page: FetchedPage, *, is_ours: Callable[[str], bool], n_probes: int
) -> None:
    """Note the first pair of a rule by which a duplicate is a mirror's page; see `UrlLearner`."""
    if page.is_own or page.content == NEAR or page.original_url is None:
        return
    parts, original = split_spelt(page.url), split_spelt(page.original_url)
    host, other = host_and_port(parts), host_and_port(original)
    for name in mirrors(parts, original):
        if renamed_host(name) not in ("", host):
            continue  # it rewrites the other host's URLs
        if name in book.rules(host) or not (_has_room(book, host) and _has_room(book, other)):
            continue
        rule = book.rule(name, host)
        if other != host and is_ours(other):
            book.rule(name, other)  # by which pages there that come last are compared
        if rule is not None:
            urls = (page.url, page.original_url)
            rule.note_pair(page.content, "", urls, is_sampled=False, n_probes=n_probes)
            book.change(rule)


def _has_room(book: RuleBook, host: str) -> bool:
    """Has a host less than the most mirrors? Each is a look-up for each of its pages."""
    return sum(map(is_mirror, book.rules(host))) < _MAX_MIRRORS
