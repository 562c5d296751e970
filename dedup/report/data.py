"""The data of a report: exact counts, and bounded lists (see `listing`)."""

from dataclasses import asdict
from typing import Any

from dedup.explain.failures import Bounds, failed_urls
from dedup.report.drops import kept_apart, short_drops
from dedup.report.left_out import site_boxes
from dedup.report.listing import listed_groups
from dedup.report.names import aliases, other_names
from dedup.report.repeated import repeated_passages
from dedup.report.sample import MAX_PAGE_BYTES, Sample
from dedup.report.shared import shared_pages
from dedup.report.signs import find_signs
from dedup.report.text_audit import audit
from dedup.report.visits import visits
from dedup.store import JobStore, summarise
from dedup.url_patterns.suggestions import MAX_RECORDS, duplicate_patterns, together

TIME_STEPS = 120
_PAUSE_SECONDS = 120.0
"""The chart leaves out longer pauses: nothing runs then. Hosts ask for a minute at most."""

_RESEMBLANCE_STEPS = 50

_REFERRERS_IN = Bounds(60_000_000, MAX_PAGE_BYTES, cpu_seconds=20.0)
"""The stored bodies in which the links to failed URLs are searched for; read if there are any."""


def report_data(store: JobStore) -> dict[str, Any]:
    """All data of the page, as JSON values.

    Texts, titles and URLs are untrusted: they come from the crawled pages.

    Raises:
        StateError: the store is damaged.
    """
    patterns = duplicate_patterns(store)
    joint = together(store, patterns)
    summary, names, apart = summarise(store), other_names(store), kept_apart(store)
    sample = Sample(store)
    audits, sites = audit(sample), site_boxes(store, sample)
    places = {each["host"]: place for place, each in enumerate(sites)}
    findings = find_signs(
        summary,
        names=names,
        audits=audits,
        sources=store.report.sources_by_host(),
        short=short_drops(store),
        apart=apart,
        has_bodies=bool(sample.hosts),
        has_second_look=store.report.has_rest(),
    )
    return {
        "summary": summary,
        "names": asdict(names),
        "verdict": findings.verdict,
        "findings": asdict(findings),
        "apart": [asdict(each) for each in apart.listed],
        "aliases": asdict(aliases(store)),
        "failed": failed_urls(store, n_referrers=3, bounds=_REFERRERS_IN),
        "sites": sites,
        "repeated": repeated_passages(store),
        "shared": shared_pages(store),
        "sources": store.report.sources(),
        "visits": visits(store),
        "meta": store.report.meta(),
        "times": _times(store),
        "resemblances": _resemblances(store),
        "distances": store.report.distances(),
        "lowest_resemblance": store.report.lowest_resemblance(),
        "group_sizes": store.report.group_sizes(),
        "patterns": [asdict(pattern) for pattern in patterns],
        "together": joint and asdict(joint),
        "pattern_records": MAX_RECORDS,
        "groups": listed_groups(store, places),
    }


def _times(store: JobStore) -> dict[str, Any]:
    """Pages by time, in steps of `step` seconds, without pauses."""
    seconds = store.report.active_seconds(_PAUSE_SECONDS)
    if seconds is None:
        return {"step": 1.0, "fetched": [], "unique": [], "duplicates": []}
    step = max(seconds / TIME_STEPS, 0.1)
    fetched, unique, duplicates = ([0] * (int(seconds / step) + 1) for _ in range(3))
    for place, *counts in store.report.times(step, _PAUSE_SECONDS):
        fetched[place], unique[place], duplicates[place] = counts
    return {"step": step, "fetched": fetched, "unique": unique, "duplicates": duplicates}


def _resemblances(store: JobStore) -> list[int]:
    """Duplicates by resemblance in steps of 0.02; the last place is for exactly 1."""
    counts = store.report.resemblances(_RESEMBLANCE_STEPS)
    return [counts.get(place, 0) for place in range(_RESEMBLANCE_STEPS + 1)]
