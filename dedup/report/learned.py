"""The URL rules that a job has learned, as the report and `dedup stats --by rule` show them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dedup.store import JobStore
from dedup.urls.learning import HostRule
from dedup.urls.learning.telling import (
    LEARNED_RULE,
    bound,
    setting,
    skip_detail,
    what_it_says,
)

_MIN_PAIRS = 2
_MAX_RULES = 200
_ORDER = ("trusted", "probation", "unlearned", "observed")


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A URL rule of a host.

    Attributes:
        name: the rule's name, as in `DEDUP_URL_RULES`, and the host.
        says: what it says, in words.
        stage: `observed`: too few pairs yet; `probation`: proposed; `trusted`; `unlearned`.
        pairs: equal pages that speak for it, redirects among them.
        against: pairs of different pages; the first ends the rule.
        probes, audits: pages fetched at random to test it, equal all of them.
        deferred: URLs that were put off to the end of the crawl.
        saved: fetches that were saved: URLs recorded as `learned_rule`.
        bound: on the pages that are lost by that.
        setting: what to add to `scrapy crawl …` to make the rule permanent, for all hosts; "": it
            does not hold.
        examples: up to two pairs of URLs that show the same page, or the pair that ended the rule.
    """

    name: str
    says: str
    stage: str
    pairs: int
    against: int
    probes: int
    audits: int
    deferred: int
    saved: int
    bound: str
    setting: str
    examples: tuple[tuple[str, str], ...]


def learned_rules(store: JobStore) -> list[LearnedRule]:
    """Return the rules that two pairs or more speak for: those in use first, most pairs first."""
    skipped = store.stats.failed_by_detail(LEARNED_RULE)
    rules = [rule for rule in store.url_knowledge.all_rules() if rule.pairs >= _MIN_PAIRS]
    rules.sort(key=lambda rule: (_ORDER.index(rule.stage), -rule.pairs, rule.host, rule.name))
    return [_shown(rule, skipped.get(skip_detail(rule), 0)) for rule in rules[:_MAX_RULES]]


def rule_rows(store: JobStore) -> list[dict[str, object]]:
    """The rules without examples and words."""
    rows = [asdict(rule) for rule in learned_rules(store)]
    return [{name: row[name] for name in row if name not in ("examples", "says")} for row in rows]


def _shown(rule: HostRule, n_skipped: int) -> LearnedRule:
    holds = rule.stage != "unlearned"
    examples = rule.examples if rule.failure is None else [rule.failure]
    return LearnedRule(
        name=f"{rule.name} on {rule.host}",
        says=what_it_says(rule),
        stage=rule.stage,
        pairs=rule.pairs,
        against=rule.against,
        probes=rule.probes,
        audits=rule.audits,
        deferred=rule.deferred,
        saved=n_skipped,
        bound=bound(rule, n_skipped=n_skipped) if holds else "",
        setting=setting(rule) if holds and rule.stage != "observed" else "",
        examples=tuple(examples),
    )
