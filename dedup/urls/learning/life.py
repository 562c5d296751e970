"""A learned rule of a host: its evidence, and its life from the first pair to the last audit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Literal

Stage = Literal["observed", "probation", "trusted", "unlearned"]

MIN_PAIRS = 10
"""Pairs with equal content, of as many originals, before a rule is proposed. Three are found on
pages that have nothing to do with each other; more cost fetches on every host."""

MIN_VALUES = 3
"""Different values of what is dropped: `page` may be 1 on all the lists that were found so far."""

MIN_PAIRS_OF_FLAG = 20
"""Pairs where what is dropped has fewer values than that, such as `print=1`."""

MAX_PROBES_OF_ORIGINAL = 3
"""Probes that count where they show the same page: one may have several other URLs, but a site that
is out of order shows one page for all."""

_MAX_EXAMPLES = 2


@dataclass(slots=True)
class HostRule:
    """What is known of a rule on a host.

    Attributes:
        number: by which the store and the queue know it; 0: it is not in the store yet.
        host: whose URLs it rewrites.
        name: see `dedup.urls.learning.rewrites`.
        stage: `observed`, `probation` (it was proposed: URLs that it matches are put off, and
            probed), `trusted`, or `unlearned`, for ever.
        pairs: two fetched URLs, equal by the rule, that show the same.
        named: of these, URLs whose form the site itself names, by a redirect or a canonical link.
        unnamed: those that show the page without naming another address for it.
        against: those that show two pages; the first ends the rule.
        probes, audits: fetched without a failure, chosen at random while on probation and since.
        deferred: URLs that were put off.
        sample_rate: share of the URLs that is fetched in the end; 0: not determined yet.
        originals, values: those of pairs and probes, which are to differ, as far as they count.
        examples: two pairs of a URL and what it is equal to.
        failure: the pair of URLs that ended the rule.
    """

    number: int
    host: str
    name: str
    stage: Stage = "observed"
    pairs: int = 0
    named: int = 0
    unnamed: int = 0
    against: int = 0
    probes: int = 0
    audits: int = 0
    deferred: int = 0
    sample_rate: float = 0.0
    originals: list[int] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    examples: list[tuple[str, str]] = field(default_factory=list)
    failure: tuple[str, str] | None = None

    @property
    def is_active(self) -> bool:
        """Are URLs put off for it?"""
        return self.stage in ("probation", "trusted")

    @property
    def is_named(self) -> bool:
        """Does the site itself name the form of each URL, so that it is to be fetched first?"""
        return self.named >= MIN_PAIRS and not self.unnamed

    def note_pair(
        self,
        original: int,
        value: str,
        urls: tuple[str, str],
        *,
        is_sampled: bool,
        n_probes: int,
        is_named: bool | None = None,
    ) -> None:
        """Note two URLs that the rule makes equal and that are.

        Args:
            original: the page that both show; of a redirect, anything that tells it from others.
            value: what the rule dropped.
            urls: the URL that the rule rewrites, and what it is equal to.
            is_sampled: was it chosen at random to be a probe or an audit?
            n_probes: how many probes make it trusted.
            is_named: has the site itself named the form of the URL? None: that cannot be told.
        """
        self.pairs += 1
        self.named += is_named is True
        self.unnamed += is_named is False
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(urls)
        if self.stage == "observed":
            self._collect(original, value)
        elif self.stage == "probation" and is_sampled:
            if self.originals.count(original) == MAX_PROBES_OF_ORIGINAL:
                return
            self.originals.append(original)
            self.probes += 1
            if self.probes >= n_probes:
                self.stage = "trusted"
                self.originals = []
        elif self.stage == "trusted" and is_sampled:
            self.audits += 1

    def note_failure(self, urls: tuple[str, str]) -> None:
        """Note two URLs that the rule makes equal and that show two pages: it is unlearned."""
        self.against += 1
        if self.failure is None:
            self.failure = urls
        self.stage = "unlearned"

    def _collect(self, original: int, value: str) -> None:
        if original not in self.originals and len(self.originals) < MIN_PAIRS_OF_FLAG:
            self.originals.append(original)
        value = value[:100]
        if value not in self.values and len(self.values) < MIN_VALUES:
            self.values.append(value)
        has_values = self.name.startswith("drop:") or self.name == "bare-query"
        is_flag = has_values and len(self.values) < MIN_VALUES
        if len(self.originals) >= (MIN_PAIRS_OF_FLAG if is_flag else MIN_PAIRS):
            self.stage = "probation"
            self.originals, self.values = [], []

    def to_json(self) -> str:
        """All but number, host and name, as the store keeps it."""
        return json.dumps({name: getattr(self, name) for name in _STORED})

    @classmethod
    def from_json(cls, number: int, host: str, name: str, text: str) -> HostRule:
        values = json.loads(text)
        values["examples"] = [(url, other) for url, other in values["examples"]]
        failure = values["failure"]
        values["failure"] = None if failure is None else (failure[0], failure[1])
        return cls(number, host, name, **values)


_STORED = tuple(
    each.name for each in fields(HostRule) if each.name not in ("number", "host", "name")
)
