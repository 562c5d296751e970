"""What a site says of changes, and how far it is believed: `lastmod`, and search indexes.

A site's word is worth what visits found after it: how many of the pages that it named had changed,
and of the others. That makes a change since the last visit more likely, or less, which is expressed
as time: a page that has likely changed is one that seems to have waited for long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from dedup.revisits.histories import section_of
from dedup.revisits.rates import Floats, Rates
from dedup.urls.parts import host_of

_FIRST_VISITS = 2.0

_OTHER_VISITS = 5.0
"""As much counts what was said in other sections of a host."""

_MAX_EXPONENT = 50.0
"""Pages for which it is greater have changed, whatever is said."""


class Trust(NamedTuple):
    """How often visits found a change on a host, or in a section, by what was said before.

    Attributes:
        named_changed, silent_changed: pages that had changed, named or listed as before.
        named_same, silent_same: pages that had not.
    """

    named_changed: float = 0
    silent_changed: float = 0
    named_same: float = 0
    silent_same: float = 0

    def odds(self, *, is_named: bool, share: float) -> float:
        """The factor by which the odds of a change grow.

        Which pages are visited follows from what was said, so visits tell how many of the named
        pages have changed, and not how many of the changed ones were named; with the share of
        pages that are named now, one follows from the other. Where all pages are named, nothing is
        said. At first a host is believed a little: the odds are 5 times as high for pages that it
        names, and about half as high for others; both weigh as much as two visits.

        Args:
            is_named: of a page that is named, or of one that is listed as before?
            share: of the pages of the host that are listed, those that are named now; 0 to 1.
        """
        n_changed = self.named_changed + self.silent_changed
        usual = (n_changed + 0.1) / (n_changed + self.named_same + self.silent_same + 1)
        named = _chance(self.named_changed, self.named_same, usual, 5.0)
        silent = _chance(self.silent_changed, self.silent_same, usual, 0.55)
        said, either = named if is_named else silent, share * named + (1 - share) * silent
        return said / (1 - said) * (1 - either) / either


def trust_in_sections(counts: Mapping[str, Trust]) -> dict[str, Trust]:
    """How often what was said was true in each section, by what was said of pages, by their URL.

    Generators and people often date, or make anew, one part of a site alone. What was said in the
    other sections of a host counts as much as five visits.
    """
    sections: defaultdict[str, Trust] = defaultdict(Trust)
    hosts: defaultdict[str, Trust] = defaultdict(Trust)
    host_of_section: dict[str, str] = {}
    for url, each in counts.items():
        section, host = section_of(url), host_of(url)
        host_of_section[section] = host
        for found, place in ((sections, section), (hosts, host)):
            found[place] = Trust(*map(sum, zip(found[place], each, strict=True)))
    trust = {}
    for section, own in sections.items():
        others = [a - b for a, b in zip(hosts[host_of_section[section]], own, strict=True)]
        weight = min(1.0, _OTHER_VISITS / max(sum(others), 1))
        trust[section] = Trust(*(a + weight * b for a, b in zip(own, others, strict=True)))
    return trust


def _chance(n_changed: float, n_same: float, usual: float, odds: float) -> float:
    """The chance of a change, before visits `usual` with its odds times a factor."""
    first = usual * odds / (1 - usual + usual * odds)
    return (n_changed + _FIRST_VISITS * first) / (n_changed + n_same + _FIRST_VISITS)


def instant(lastmod: str) -> str:
    """When a page changed by its `lastmod`, in UTC to the second; what is no time stays as it is.

    A year, a month or a day is its first second, and a time without a zone is one of UTC.
    Fractions of seconds are left out: generators of sitemaps begin to write them, or cease to.

    Source: W3C, Date and Time Formats (https://www.w3.org/TR/NOTE-datetime). Other forms of
    ISO 8601 are read, too.

    >>> instant("2026-01-01T01:00:00.5+01:00"), instant("2026"), instant("today")
    ('2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00', 'today')
    """
    rest = {len("2026"): "-01-01", len("2026-01"): "-01"}.get(len(lastmod), "")
    try:
        found = datetime.fromisoformat(lastmod + rest)
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        return found.isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return lastmod


def odds_of(
    named: Mapping[str, bool], trust: Mapping[str, Trust], group: Callable[[str], str] = host_of
) -> dict[str, float]:
    """The factors by which what is said makes changes more likely, by URL.

    Args:
        named: the URLs of which something is said; is it something else than at the last visit?
        trust: by group.
        group: of a URL: what is said is equally true in all of it.
    """
    hosts = {url: host_of(url) for url in named}
    groups = hosts if group is host_of else {url: group(url) for url in named}
    of_host, of_group = _shares(named, hosts), _shares(named, groups)
    n_listed = Counter(groups.values())
    odds = {}
    for url, place in groups.items():
        n, beside = n_listed[place], of_host[hosts[url]]
        share = (of_group[place] * n + beside) / (n + 1)  # a page alone is all of its group
        odds[url] = trust.get(place, Trust()).odds(is_named=named[url], share=share)
    return odds


def _shares(named: Mapping[str, bool], groups: Mapping[str, str]) -> dict[str, float]:
    """The share of the pages of each group that is named; `groups`: by URL."""
    n_named = Counter(groups[url] for url, is_named in named.items() if is_named)
    return {group: n_named[group] / n for group, n in Counter(groups.values()).items()}


def as_time(rates: Rates, since: Floats, odds: Floats) -> Floats:
    """The time after which pages are as likely to have changed as by the odds, beside `since`."""
    said = odds != 1
    shape, seconds, before = rates.shape[said], rates.seconds[said], since[said]
    exponent = np.minimum(shape * np.log1p(before / seconds), _MAX_EXPONENT)
    changed = np.expm1(exponent) * odds[said]  # the odds of a change
    time = since.copy()
    time[said] = seconds * np.expm1(np.log1p(changed) / shape)
    return time
