"""The failed URLs of a job, with their causes and the pages that link to them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dedup.explain.fate import canonicaliser_of, key_under
from dedup.explain.reasons import is_failure, reason_words, remedy, status_of
from dedup.html import decode, parse_page
from dedup.store import JobStore, Page
from dedup.urls import Canonicaliser

_ESCAPED = (
    re.compile(r"&#0*(?:4[89]|5[0-7]|6[5-9]|[78]\d|9[07-9]|1[012]\d)(?!\d)"),
    re.compile(r"&#[xX]0*[3-7][\da-fA-F](?![\da-fA-F])"),
    re.compile(r"&fjlig"),
    re.compile(r"%[3-7]"),
)
"""Letters and digits that are written as references or escapes."""

_LETTERS = re.compile(r"[A-Za-z0-9]+")
_MIN_LETTERS = 3


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
    links = _referrers(store, [each.url for each in failed], n_referrers, bounds) if failed else {}
    return [
        FailedUrl(
            url=each.url,
            status=status_of(each.reason),
            reason=each.reason,
            cause=reason_words(each.reason),
            remedy=remedy(each.reason),
            detail=each.detail,
            failed_at=each.seen_at,
            referrers=" ".join(links.get(each.url, [])),
        )
        for each in failed
    ]


def _referrers(
    store: JobStore, urls: Iterable[str], at_most: int, bounds: Bounds | None
) -> Mapping[str, list[str]]:
    canonical = canonicaliser_of(store)
    wanted = {key: url for url in urls if (key := key_under(canonical, url)) is not None}
    found: dict[str, list[str]] = {}
    n_bytes, began = 0, time.process_time()
    names = _names(canonical, wanted.values())
    for _, number, size_bytes in store.report.stored_bodies():
        if not wanted:
            break
        if bounds is not None:
            if size_bytes > bounds.page_bytes:
                continue
            n_bytes += size_bytes
            if n_bytes > bounds.all_bytes or time.process_time() - began > bounds.cpu_seconds:
                break
        page = store.page(number)
        for key in wanted.keys() & {
            key_under(canonical, link) for link in _links(page, names, canonical.has_routes)
        }:
            referrers = found.setdefault(wanted[key], [])
            referrers.append(page.url or "")
            if len(referrers) >= at_most:
                del wanted[key]
    return found


def _names(canonical: Canonicaliser, urls: Iterable[str]) -> frozenset[str] | None:
    """Letters of which a page has some if it links to one of the URLs; None: it need have none.

    A link to `/a/b-name.html`, however relative, ends in that name; one to `/a/` or to `/a?b` may
    consist of dots, or of a query. With URL rules, several names mean one address.
    """
    names = set()
    for url in urls:
        last = re.sub("%..", "/", canonical(url).rpartition("/")[2])
        longest = max(_LETTERS.findall(last), key=len, default="")
        if canonical.rules.names or "?" in last or len(longest) < _MIN_LETTERS:
            return None
        names.add(longest)
    return frozenset(names)


def _links(page: Page, names: frozenset[str] | None, has_routes: bool) -> Iterable[str]:
    decoded = decode(page.body or b"", page.content_type or None)
    if names is not None and not _may_have(decoded.text, names):
        return []
    parsed = parse_page(
        decoded.text, page.url or "", encoding=decoded.encoding, has_routes=has_routes
    )
    return parsed.links(with_nofollow=True)


def _may_have(html: str, names: frozenset[str]) -> bool:
    """May a link of the page have one of the names? It takes a tenth of the time of parsing."""
    if any(each.search(html) for each in _ESCAPED):
        return True
    plain = html.replace("\n", "").replace("\t", "").replace("\r", "")  # browsers drop them in URLs
    return any(name in plain for name in names)
