"""Boxes that are not part of the texts of a host, counted on a few stored pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dedup.explain.origin import site_of
from dedup.report.sample import Sample
from dedup.sites.left_out import LeftOut, TextPlace, text_place
from dedup.sites.site import Site
from dedup.store import JobStore

SAMPLED_PAGES = 5
"""Pages of a host whose boxes are counted."""

MAX_BOXES = 12
"""The maximum number of boxes listed for a host, those with the most words."""


def site_boxes(store: JobStore, sample: Sample) -> list[dict[str, Any]]:
    """Return the boxes that are not part of the texts, for each large host.

    The hosts with the most pages are first. Each has its `host`, the number of its `pages` that
    were read with knowledge of the site, the number of pages `counted` for that knowledge, the
    number of `sampled` pages, the path of the most common `box` with a text, and the boxes
    `left_out`. Each of these has the number of counted `pages` with such a box, its `words` on
    sampled pages, the share of these that is `repeated` on other pages, and `is_links`.
    """
    counts = store.report.pages_by_site()
    sites = ((host, site_of(store, host)) for host in sample.hosts if counts.get(host))
    found = (_described(host, site, sample, counts[host]) for host, site in sites if site)
    return [each for each in found if each is not None]


def _described(host: str, site: Site, sample: Sample, n_pages: int) -> dict[str, Any] | None:
    pages = sample.pages(host, at_most=SAMPLED_PAGES)
    read = (each for each in pages if each.page.source == "box")
    placed = (text_place(site, each.outline, each.page.title, each.page.url or "") for each in read)
    places = [place for place in placed if place is not None]
    if not places:
        return None
    return {
        "host": host,
        "pages": n_pages,
        "counted": site.n_names,
        "sampled": len(places),
        "box": Counter(place.box for place in places).most_common(1)[0][0],
        "left_out": _joined(places),
    }


def _joined(places: Sequence[TextPlace]) -> list[dict[str, Any]]:
    """The boxes left out of several pages, joined by name; those with the most words first."""
    named: dict[str, list[LeftOut]] = {}
    for place in places:
        for box in place.left_out:
            named.setdefault(box.box, []).append(box)
    words = {name: sum(each.words for each in boxes) for name, boxes in named.items()}
    order = sorted(named, key=lambda name: -words[name])
    return [_box(name, named[name], words[name]) for name in order[:MAX_BOXES]]


def _box(name: str, boxes: Sequence[LeftOut], words: int) -> dict[str, Any]:
    return {
        "box": name,
        "pages": max(each.n_pages for each in boxes),
        "words": words,
        "repeated": sum(each.words * each.repeated_share for each in boxes) / words,
        "is_links": 2 * sum(each.words for each in boxes if each.is_links) >= words,
    }
