"""Which new versions of pages are not believed, because of what else their host answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Literal

from xxhash import xxh3_128_digest

from dedup.document import Document
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
    """

    def __init__(self) -> None:
        self._visited: Counter[str] = Counter()
        self._later: set[int] = set()
        self._same: defaultdict[str, Counter[bytes]] = defaultdict(Counter)

    def note(self, url: str) -> None:
        """Count a visited page of a host that is as before, or has changed in part."""
        self._visited[host_of(url)] += 1

    def belief(self, number: int, url: str, old: Document, new: Document) -> Belief:
        """What becomes of a new version: it is stored, fetched once more later, or has failed."""
        if not _is_other(old, new):
            if number not in self._later:
                self.note(url)
            return "store"
        host = host_of(url)
        same, digest = self._same[host], xxh3_128_digest(new.text.encode("utf-8", "surrogatepass"))
        if number not in self._later:
            self.note(url)
            self._later.add(number)
            same[digest] += 1
            return "fail" if same[digest] > _SAME else "later"
        n_same, n_visited = same[digest], self._visited[host]
        if n_same >= _SAME or (n_same > 1 and n_same == n_visited):
            return "fail"
        n_other = same.total()
        return "fail" if n_other >= _REPLACED and 2 * n_other > n_visited else "store"


def _is_other(old: Document, new: Document) -> bool:
    before = set(old.shingles.tolist())
    kept = before.intersection(new.shingles.tolist())
    return bool(before) and len(kept) < _KEPT_SHARE * len(before)
