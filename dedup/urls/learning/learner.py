"""Learns URL rules while a crawl goes, and tells which URLs may wait.

For each page that was fetched, the page that another address of the same form has shown is looked
up. Two equal pages are a pair for the rule, two different ones end it. A rule with enough pairs is
on probation, then trusted: URLs whose form is known are *deferred* to the end of the queue, and a
random share of them is fetched at once, as probes and audits. See docs/url_rules.md.

What teaches: pages with equal text or equal bodies (for), pages that are kept beside each other
(against). Near duplicates, failures and errors teach nothing. A short text that is unequal teaches
nothing before a rule is proposed; after that it ends the rule, for the page would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

from dedup.urls.canonical import url_key
from dedup.urls.learning.book import RuleBook
from dedup.urls.learning.bounds import audit_rate, budget, n_probes
from dedup.urls.learning.evidence import (
    FetchedPage,
    Partner,
    candidates,
    partners,
    shown_forms,
)
from dedup.urls.learning.life import HostRule
from dedup.urls.learning.matching import RuleMatcher, host_and_port, split_spelt
from dedup.urls.learning.mirrors import note_mirrors
from dedup.urls.learning.records import NEAR, UrlKnowledge
from dedup.urls.learning.rewrites import (
    OPPOSITES,
    form_key,
    is_kept_by_form,
    renamed_host,
    rewriter,
    rewrites,
    under_prefix,
)
from dedup.urls.parts import UrlParts

Mode = Literal["defer", "skip"]
Turn = Literal["fetch", "skip"]


class Deferral(NamedTuple):
    """Why a URL is put off.

    Attributes:
        rule: for which.
        instead: a URL that is to be fetched first, as the site itself names it; "": none.
    """

    rule: HostRule
    instead: str


class UrlLearner:
    """The rules of a job's hosts, and what is to be done with a URL by them.

    The same pages in the same order give the same rules on every machine. What has been learned is
    written by `save`, with the pages that it was learned from.

    Args:
        knowledge: where rules and forms are kept.
        is_seen: is this URL key known to the queue, fetched or not?
        mode: `defer`: every URL is fetched in the end; `skip`: not those of trusted rules.
        loss: the share of a host's pages that `skip` may lose, 0 to 1.
        n_pages: how many pages of a host are stored.
        url_of: the URL of a stored page.
        is_ours: does this process learn of a host? No other may write the rules of one.
        seed: of what is drawn at random.
    """

    def __init__(
        self,
        knowledge: UrlKnowledge,
        *,
        is_seen: Callable[[bytes], bool],
        mode: Mode,
        loss: float,
        n_pages: Callable[[str], int],
        url_of: Callable[[int], str | None],
        is_ours: Callable[[str], bool] = lambda _: True,
        seed: int = 0,
    ) -> None:
        if not 0 < loss < 1:
            raise ValueError(f"loss must be above 0 and below 1, got {loss!r}")
        self._knowledge = knowledge
        self._mode = mode
        self._loss = loss
        self._n_pages = n_pages
        self._url_of = url_of
        self._is_ours = is_ours
        self._n_probes = n_probes(loss)
        self._book = RuleBook(knowledge)
        self._matcher = RuleMatcher(knowledge, self._book, is_seen=is_seen, seed=seed)

    # --- URLs ------------------------------------------------------------------------------------

    def deferral(self, url: str) -> Deferral | None:
        """Why a URL whose turn has come is to be put off; None: it is to be fetched.

        Then it stands for its form from now on. A URL is fetched where any rule has drawn it.

        Args:
            url: in canonical spelling.
        """
        matching = self._matcher.matching(url)
        if not matching:
            return None
        # One rule takes the URLs that several match, as what may be lost is divided by the rules.
        matching.sort(key=lambda each: -each[0].deferred)
        key = url_key(url)
        if not any(self._matcher.is_sampled(rule, form, key) for rule, form in matching):
            for rule, form in matching:
                if self._matcher.is_known(rule, form):
                    return self._put_off(rule)
            by_all = self._matcher.by_all(url, matching)
            if any(self._matcher.is_known(rule, by_all) for rule, _ in matching if matching[1:]):
                return self._put_off(matching[0][0])
            named = [each for each in matching if each[0].is_named]
            if named:
                return self._put_off(named[0][0], str(self._matcher.by_all(url, named)))
        self._knowledge.add_forms(
            [(form_key(each.name, form), None) for each, form in matching if _is_kept(each)]
        )
        return None

    def turn(self, url: str, number: int) -> tuple[Turn, HostRule | None]:
        """What becomes of a URL that was put off, now that nothing else is left; and its rule.

        Args:
            url: in canonical spelling.
            number: of the rule for which it was put off.
        """
        matching = self._matcher.matching(url)
        found = next((each for each in matching if each[0].number == number), None)
        if found is None:
            return "fetch", None
        rule, form = found
        if self._mode == "defer" or rule.stage != "trusted":
            return "fetch", rule
        matcher = self._matcher
        if matcher.page_of(rule, form) is None and not matcher.is_fetched_by_all(url, matching):
            return "fetch", rule
        if self._matcher.share(rule, form, url_key(url)) < self._sample_rate(rule):
            return "fetch", rule
        return "skip", rule

    # --- Pages -----------------------------------------------------------------------------------

    def note(self, page: FetchedPage) -> list[HostRule]:
        """Learn from a page; return the rules that it has ended, whose URLs are to be fetched."""
        parts = split_spelt(page.url)
        rules = self._book.rules(host_and_port(parts))
        found = candidates(parts, rules)
        for each in found:
            if is_kept_by_form(each.rule):  # from now on it is asked about other URLs, too
                self._book.rule(each.rule, host_and_port(parts))
        ended: list[HostRule] = []
        alone = partners(self._knowledge, found, parts, rules)
        names = {each.rule for each in alone}
        for partner in alone + self._matcher.partners_by_all(page.url, page.content, names):
            rule = self._rule(partner, parts)
            if rule is not None:
                ended += self._learn(rule, partner, page)
        note_mirrors(self._book, page, is_ours=self._is_ours, n_probes=self._n_probes)
        self._knowledge.add_forms(shown_forms(page.url, found, page.content))
        return ended

    def note_redirect(self, url: str, target: str) -> None:
        """Learn from a redirect, where it leads to the URL's form by one rule."""
        parts, aim = split_spelt(url), split_spelt(target)
        if not self._is_ours(host_and_port(parts)):
            return
        for each in rewrites(parts):
            if each.form == aim:
                found = self._book.rule(each.rule, host_and_port(parts))
                if found is not None and found.stage != "unlearned":
                    is_sampled = self._matcher.is_sampled(found, aim, url_key(url))
                    found.note_pair(
                        _number_of(target),
                        each.value,
                        (url, target),
                        is_sampled=is_sampled,
                        n_probes=self._n_probes,
                        is_named=True,
                    )
                    self._book.change(found)

    def save(self) -> None:
        """Write what has changed; within the unit that records the page it was learned from."""
        self._book.save()

    def forget(self, names: Collection[str]) -> None:
        """Write what has changed; read what is known of hosts of these names anew."""
        self._book.forget(names)

    # --- Private ---------------------------------------------------------------------------------

    def _put_off(self, rule: HostRule, instead: str = "") -> Deferral:
        rule.deferred += 1
        self._book.change(rule)
        return Deferral(rule, instead)

    def _sample_rate(self, rule: HostRule) -> float:
        """The share that is fetched in the end, determined once and kept."""
        if not rule.sample_rate:
            # One that has put off nothing loses nothing: another rule says the same.
            rules = self._book.rules(rule.host).values()
            n_rules = sum(each.stage == "trusted" and each.deferred > 0 for each in rules)
            n_lost = budget(self._loss, self._n_pages(rule.host), n_rules)
            rule.sample_rate = audit_rate(n_lost)
            self._book.change(rule)
        return rule.sample_rate

    def _rule(self, partner: Partner, parts: UrlParts) -> HostRule | None:
        """The host's rule of a partner; in place of one that has ended, the one under a prefix."""
        host = renamed_host(partner.rule) or host_and_port(parts)
        rule = self._book.rule(partner.rule, host) if self._is_ours(host) else None
        if rule is not None and rule.stage == "unlearned":
            name = under_prefix(partner.rule, parts)
            return self._book.rule(name, host) if name else None
        return rule

    def _learn(self, rule: HostRule, partner: Partner, page: FetchedPage) -> list[HostRule]:
        """Note a pair; return the rules that it has ended for which URLs were put off."""
        if rule.stage == "unlearned" or page.content == NEAR:
            return []
        urls = (page.url, self._url_of(partner.content) or str(partner.form))
        form = rewriter(rule.name)(split_spelt(page.url))
        if partner.content == page.content:
            rule.note_pair(
                page.content,
                partner.value
                or split_spelt(urls[1]).query,  # the partner's, where it has what is dropped
                urls,
                is_sampled=self._matcher.is_sampled(rule, form, url_key(page.url)),
                n_probes=self._n_probes,
                is_named=self._matcher.is_named(str(form), page.url, page.canonical),
            )
            self._book.change(rule)
            return []
        rules = self._contradicted(rule, partner, page, stored=urls[1])
        active = [each for each in rules if each.is_active]
        if not active and (page.is_short or not page.is_own):
            return []
        for each in rules:
            each.note_failure(urls)
            self._book.change(each)
        self._end_under_prefix(rule, urls)
        return active

    def _contradicted(
        self, rule: HostRule, partner: Partner, page: FetchedPage, *, stored: str
    ) -> list[HostRule]:
        """The rules that two unequal pages speak against: skipping one page would lose it.

        Of "/a" and "/a/", whichever was fetched last is judged, by its own rule. The pair speaks
        against the opposite rule, too, by which the partner is rewritten to the page. `stored` is
        the URL under which the partner's content is stored.
        """
        name, host = OPPOSITES.get(rule.name), host_and_port(partner.form)
        opposite = self._book.rule(name, host) if name and self._is_ours(host) else None
        opposites = [] if opposite is None or opposite.stage == "unlearned" else [opposite]
        if page.is_own:
            return [rule, *opposites]
        rewrite, parts = rewriter(rule.name), split_spelt(page.url)
        if rewrite(parts) == parts and stored != page.url and rewrite(split_spelt(stored)) == parts:
            return [rule]  # the form shows a known page, and what is rewritten to it one of its own
        return opposites if stored == str(partner.form) else []

    def _end_under_prefix(self, rule: HostRule, urls: tuple[str, str]) -> None:
        """Where a rule has failed, it is not tried under the prefix of the failure either."""
        name = under_prefix(rule.name, split_spelt(urls[0]))
        narrow = self._book.rule(name, rule.host) if name else None
        if narrow is not None and narrow.stage != "unlearned":
            narrow.note_failure(urls)
            self._book.change(narrow)


def _is_kept(rule: HostRule) -> bool:
    return is_kept_by_form(rule.name)


def _number_of(url: str) -> int:
    """A number that tells one redirect's target from others."""
    return int.from_bytes(url_key(url)[:6], "big")
