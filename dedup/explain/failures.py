"""The failed URLs of a job, with their causes and the pages that link to them."""

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
        status: the HTTP status; None: there was no response.
        reason: one word, as in `dedup stats`.
        cause: the reason in words.
        remedy: what users can do.
        detail: the message of the error.
        failed_at: seconds since 1970, UTC.
        referrers: the first stored pages that link to it, separated by spaces.
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
    """Bounds on bodies to read: their total size, the size of each, and CPU time."""

    all_bytes: int
    page_bytes: int
    cpu_seconds: float


def failed_urls(
    store: JobStore, *, n_referrers: int = 10, bounds: Bounds | None = None
) -> list[FailedUrl]:
    """The failed URLs, in the order of their failures.

    Links are read from the bodies of stored pages, so there are no referrers if bodies are not kept
    (`DEDUP_STORE_BODIES`), or among dropped pages. Takes a few ms a page.

    Args:
        store: the store of the job.
        n_referrers: the maximum number for each URL.
        bounds: for the bodies to read; None: all are read.
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
