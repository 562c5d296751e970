"""The URLs of a job that failed, each with its cause and the pages that link to it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dedup.explain.fate import key_under, url_rules
from dedup.explain.reasons import is_failure, reason_words, remedy, status_of
from dedup.html import decode, parse_page
from dedup.store import JobStore, Page
from dedup.urls import Canonicaliser


class FailedUrl(NamedTuple):
    """A URL that failed.

    Attributes:
        status: HTTP; None: there was no response.
        reason: one word, as `dedup stats` counts it.
        cause: the reason in words.
        remedy: what can be done.
        detail: what the failure itself said.
        failed_at: seconds since 1970, UTC.
        referrers: stored pages that link to it, the first of them, separated by blanks.
    """

    url: str
    status: int | None
    reason: str
    cause: str
    remedy: str
    detail: str
    failed_at: float
    referrers: str


class Bounds(NamedTuple):
    """Of bodies that are read: together, of one, and the CPU time that it takes."""

    all_bytes: int
    page_bytes: int
    cpu_seconds: float


def failed_urls(
    store: JobStore, *, n_referrers: int = 10, bounds: Bounds | None = None
) -> list[FailedUrl]:
    """The URLs that failed, in the order of their failures.

    Links are read from the bodies of the stored pages, so there are none where bodies are not kept
    (`DEDUP_STORE_BODIES`), and none on pages that were dropped. It takes some ms a page.

    Args:
        store: the job's.
        n_referrers: of a URL, at most.
        bounds: of bodies that are read; None: all are read.
    """
    failed = [each for each in store.report.skipped() if is_failure(each.reason)]
    links = _referrers(store, [each.url for each in failed], bounds) if failed else {}
    return [
        FailedUrl(
            url=each.url,
            status=status_of(each.reason),
            reason=each.reason,
            cause=reason_words(each.reason),
            remedy=remedy(each.reason),
            detail=each.detail,
            failed_at=each.seen_at,
            referrers=" ".join(links.get(each.url, [])[:n_referrers]),
        )
        for each in failed
    ]


def _referrers(
    store: JobStore, urls: Iterable[str], bounds: Bounds | None
) -> Mapping[str, list[str]]:
    canonical = Canonicaliser(url_rules(store))
    wanted = {key: url for url in urls if (key := key_under(canonical, url)) is not None}
    found: dict[str, list[str]] = {}
    n_bytes, began = 0, time.process_time()
    for _, number, size_bytes in store.report.stored_bodies():
        if bounds is not None:
            if size_bytes > bounds.page_bytes:
                continue
            n_bytes += size_bytes
            if n_bytes > bounds.all_bytes or time.process_time() - began > bounds.cpu_seconds:
                break
        page = store.page(number)
        for key in wanted.keys() & {key_under(canonical, link) for link in _links(page)}:
            found.setdefault(wanted[key], []).append(page.url or "")
    return found


def _links(page: Page) -> Iterable[str]:
    decoded = decode(page.body or b"", page.content_type or None)
    parsed = parse_page(decoded.text, page.url or "", encoding=decoded.encoding)
    return parsed.links(with_nofollow=True)
