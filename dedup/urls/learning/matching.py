"""What the rules in use make of a URL, whether that is known, and what is drawn for the URL."""

from __future__ import annotations

from collections.abc import Callable

from dedup.urls.canonical import url_key
from dedup.urls.learning.book import RuleBook
from dedup.urls.learning.bounds import AUDIT_RATE, PROBE_RATE
from dedup.urls.learning.evidence import Partner
from dedup.urls.learning.life import HostRule
from dedup.urls.learning.records import NEAR, UrlKnowledge
from dedup.urls.learning.rewrites import (
    OPPOSITES,
    form_key,
    is_kept_by_form,
    rewriter,
    share_of,
)
from dedup.urls.parts import UrlParts, split_canonical, split_url

Matching = list[tuple[HostRule, UrlParts]]
"""Rules that match a URL, and what each makes of it."""


class RuleMatcher:
    """Matches URLs with the rules in use.

    Args:
        is_seen: is this URL key known to the queue, fetched or not?
        seed: of what is drawn at random.
    """

    def __init__(
        self,
        knowledge: UrlKnowledge,
        book: RuleBook,
        *,
        is_seen: Callable[[bytes], bool],
        seed: int,
    ) -> None:
        self._knowledge = knowledge
        self._book = book
        self._is_seen = is_seen
        self._seed = seed

    def matching(self, url: str) -> Matching:
        """The rules of a URL's host that rewrite it and are in use, and what they make of it."""
        host = url[url.find("//") + 2 :].partition("/")[0]
        rules = self._book.rules(host)
        active = [rule for rule in rules.values() if rule.is_active]
        if not active:
            return []
        parts = split_spelt(url)
        forms = [(rule, rewriter(rule.name)(parts)) for rule in active]
        return [
            (rule, form)
            for rule, form in forms
            if form != parts and not self._is_second(rule, form)
        ]

    def is_sampled(self, rule: HostRule, form: UrlParts, key: bytes) -> bool:
        """Is a URL that the rule matches a probe or an audit?"""
        rate = PROBE_RATE if rule.stage == "probation" else AUDIT_RATE
        return self.share(rule, form, key) < max(rate, rule.sample_rate)

    def share(self, rule: HostRule, form: UrlParts, key: bytes) -> float:
        """What is drawn for a URL: the same for all rules that make the same of it.

        So a URL that two of them match is not fetched for each of them. A rule under a prefix draws
        anew: what the rule before it has held back is drawn, too.
        """
        return share_of(f"{rule.name.partition('@')[2]} {form}", key, self._seed)

    def is_known(self, rule: HostRule, form: UrlParts) -> bool:
        """Is the form of a URL one that is queued or fetched, in whatever spelling?"""
        if self._is_seen(url_key(str(form))):
            return True
        keys = [form_key(rule.name, form)] if is_kept_by_form(rule.name) else []
        return bool(self._knowledge.forms(keys))

    def is_named(self, form: str, url: str, canonical: str | None) -> bool | None:
        """Does a page name its form as its canonical address, and was that fetched?

        Returns:
            None: it cannot be told, for the page names a third address, or is its form and names
            none.
        """
        if canonical != form:
            return False if form != url and canonical in (None, url) else None
        if form == url:
            return True
        is_page = any(page is not None for page in self._knowledge.forms([url_key(form)]).values())
        return is_page or None

    def page_of(self, rule: HostRule, form: UrlParts) -> int | None:
        """The page that a form shows; None: it was not fetched."""
        pages = self._knowledge.forms([url_key(str(form)), form_key(rule.name, form)]).values()
        return next((content for content in pages if content is not None), None)

    def by_all(self, url: str, matching: Matching) -> UrlParts:
        """What all rules together make of a URL."""
        parts = split_spelt(url)
        for rule, _ in matching:
            parts = rewriter(rule.name)(parts)
        return parts

    def is_fetched_by_all(self, url: str, matching: Matching) -> bool:
        """Are all rules trusted, and has what they make of a URL together been fetched?"""
        if len(matching) < 2 or any(rule.stage != "trusted" for rule, _ in matching):
            return False
        form = self.by_all(url, matching)
        return any(self.page_of(rule, form) is not None for rule, _ in matching)

    def partners_by_all(self, url: str, content: int, known: set[str]) -> list[Partner]:
        """The page that all rules in use together call the same, as a partner of each.

        One that is not equal ends them all, for it cannot be told which of them is wrong. One that
        is equal is no pair for a rule that has a partner of its own.

        Args:
            url: in canonical spelling.
            content: the page that it shows.
            known: the names of rules with partners of their own.
        """
        matching = self.matching(url)
        if len(matching) < 2:
            return []
        form = self.by_all(url, matching)
        found = [self.page_of(rule, form) for rule, _ in matching]
        other = next((each for each in found if each is not None), NEAR)
        return [
            Partner(rule.name, other, form, "")
            for rule, _ in matching
            if other != NEAR and (other != content or rule.name not in known)
        ]

    def _is_second(self, rule: HostRule, form: UrlParts) -> bool:
        """Is the opposite rule in use, and older? By both, two URLs would wait for each other."""
        opposite = OPPOSITES.get(rule.name)
        if opposite is None:
            return False
        other = self._book.rules(host_and_port(form)).get(opposite)
        return other is not None and other.is_active and other.number < rule.number


def host_and_port(parts: UrlParts) -> str:
    """Host and port, as rules are kept by."""
    return parts.host + parts.port


def split_spelt(url: str) -> UrlParts:
    """The parts of a URL in canonical spelling."""
    return split_canonical(url) or split_url(url)
