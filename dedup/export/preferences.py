"""What is declared of the use of a job's pages, and which pages a use leaves out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from dedup.errors import DamageError
from dedup.preferences.declarations import Declaration
from dedup.preferences.hosts import HOSTS_IN_MEMORY, DeclaredOfPages
from dedup.preferences.uses import is_readable, refusals
from dedup.store import JobStore
from dedup.store.selection import Selection


class Allowed(NamedTuple):
    """The pages that no declaration refuses for a use.

    Attributes:
        selection: of these pages.
        pages: how many pages were looked at.
        declaring: how many of them declare anything, or their hosts for them.
        unreadable: how many of them have declarations that cannot be read.
        refused: how many are left out, by declaration; a page may have several.
    """

    selection: Selection
    pages: int
    declaring: int
    unreadable: int
    refused: Counter[str]


class StoredPreferences:
    """What is stored of the declarations for a job's pages."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        of_host = lru_cache(HOSTS_IN_MEMORY)(store.learned.preferences.of_host)
        self._declared = DeclaredOfPages(of_host)

    def of(self, url: str | None, stored: str | None) -> list[Declaration]:
        """Those for the page with this URL, for which this is stored.

        Raises:
            DamageError: this is something else.
        """
        try:
            return self._declared.of(url, stored)
        except ValueError as error:
            raise DamageError(
                self._store.location, f"what {url} declares of its use is damaged ({error})"
            ) from error


def only_allowed(store: JobStore, use: str, selection: Selection) -> Allowed:
    """Leave out the pages of a selection that a declaration refuses for a use.

    What is not declared is not refused.

    Raises:
        DamageError: declarations are damaged.
    """
    preferences = StoredPreferences(store)
    n_pages = n_declaring = n_unreadable = 0
    left_out: set[int] = set()
    refused: Counter[str] = Counter()
    for number, url, stored in store.exports.declared(selection):
        declared = preferences.of(url, stored)
        n_pages += 1
        n_declaring += bool(declared)
        n_unreadable += not all(map(is_readable, declared))
        if found := set(refusals(use, declared)):
            left_out.add(number)
            refused.update(found)
    chosen = replace(selection, without=frozenset(left_out))
    return Allowed(chosen, n_pages, n_declaring, n_unreadable, refused)
