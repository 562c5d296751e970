"""The groups of a job's pages that are on several hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from dedup.export.rows import page_source
from dedup.groups.claims import claims_of
from dedup.groups.guess import Copy, Guess, guess
from dedup.store import JobStore
from dedup.store.query_results import CopyRow
from dedup.store.records import Claims

MAX_COPIES = 1_000
"""Pages of a group that are read, on other hosts first."""


class Group(NamedTuple):
    """A stored page and its copies, of which one at least is on another host.

    Attributes:
        pages: the stored one first; of a large group some.
        n_pages: of the whole group.
    """

    pages: list[Copy]
    n_pages: int
    guess: Guess


def groups(
    store: JobStore, *, may_read: Callable[[CopyRow], bool] = lambda _: True
) -> Iterator[Group]:
    """The groups, by the number of the stored page.

    Args:
        store: of the job.
        may_read: may this stored page be read for what it declares?
    """
    for original, n_pages in store.exports.copies.groups():
        kept, *rows = store.exports.copies.of(original, MAX_COPIES)
        claims = _kept_claims(store, original) if may_read(kept) else None
        pages = [_copy(kept, claims), *(_copy(row, row.claims) for row in rows)]
        if len({each.site for each in pages}) > 1:
            yield Group(pages, n_pages, guess(pages))


def _kept_claims(store: JobStore, number: int) -> Claims:
    return claims_of(page_source(store, number))


def _copy(row: CopyRow, claims: Claims | None) -> Copy:
    return Copy(row.url, row.host, row.first_seen, claims)
