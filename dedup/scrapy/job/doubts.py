"""Which new versions of pages are not believed, because of what else their host answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal

from xxhash import xxh3_128_digest

from dedup.document import Document
from dedup.store.sql.refresh import is_most
from dedup.urls.parts import host_of

Belief = Literal["store", "later", "fail"]

_KEPT_SHARE = 0.1
"""A text with a smaller share of the old one's shingles is another text."""

_SAME = 3
"""Pages of a host whose texts become equal."""

_REPLACED = 5
"""Pages of a host whose texts become others: believed if they are fewer, or not the most."""


class Doubts:
    """Decides whether a new version of a stored page is what its URL has now.

    A page that keeps hardly anything of its text is fetched once more after all others, when more
    is known of its host. It is not believed if its new text is also that of two other pages (or of
    all visited pages of its host, two at least), or if most of the visited pages of the host have
    other texts: a log-in page, an error without its status, another site's pages. No two stored
    pages have equal texts, so it is their new texts that became equal.

    What is known is that of this process and this run: a page is decided about only if it was put
    off in the same run.

    A duplicate is judged likewise: it counts as its original, as both may be rewritten at once. The
    target of a redirect is not believed if it is that of most visited pages of the host.
    """

    def __init__(self) -> None:
        self._visited: Counter[str] = Counter()
        self._later: set[str] = set()
        self._same: defaultdict[str, defaultdict[bytes, set[int]]]
        self._same = defaultdict(lambda: defaultdict(set))
        self._moving: set[str] = set()
        self._moved: Counter[tuple[str, str]] = Counter()

    def note(self, url: str) -> None:
        """Count a visited page of a host that is as before, or has changed in part."""
        self._visited[host_of(url)] += 1

    def belief(self, number: int, url: str, old: Sequence[Document], new: Document) -> Belief:
        """What becomes of a new version: it is stored, fetched once more later, or has failed.

        Args:
            number: of the page; of a duplicate, that of its original.
            url: of the page.
            old: its stored text; of a duplicate, also its original's.
            new: what the visit gave.
        """
        is_later = url in self._later
        if not all(_is_other(each, new) for each in old):
            if not is_later:
                self.note(url)
            return "store"
        host = host_of(url)
        digest = xxh3_128_digest(new.text.encode("utf-8", "surrogatepass"))
        same = self._same[host][digest]
        if not is_later:
            self.note(url)
            self._later.add(url)
            same.add(number)
            return "fail" if len(same) > _SAME else "later"
        n_same, n_visited = len(same), self._visited[host]
        if n_same >= _SAME or (n_same > 1 and n_same == n_visited):
            return "fail"
        n_other = sum(map(len, self._same[host].values()))
        return "fail" if n_other >= _REPLACED and 2 * n_other > n_visited else "store"

    def belief_in_move(self, url: str, target: str, *, is_page: bool) -> Belief:
        """What becomes of the new page to which a URL redirects; `is_page`: one that is stored."""
        host = host_of(url)
        if url in self._moving:
            is_doubted = is_most(self._moved[host, target], self._visited[host])
            return "fail" if is_doubted else "store"
        self._moving.add(url)
        if is_page:
            if url not in self._later:
                self.note(url)
            self._moved[host, target] += 1
        return "later"


def _is_other(old: Document, new: Document) -> bool:
    before = set(old.shingles.tolist())
    kept = before.intersection(new.shingles.tolist())
    return bool(before) and len(kept) < _KEPT_SHARE * len(before)
