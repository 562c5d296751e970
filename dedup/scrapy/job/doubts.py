"""Which new versions of pages are not believed, because of what else their host answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal

from xxhash import xxh3_128_digest

from dedup.document import Document
from dedup.store import Page
from dedup.store.sql.refresh import is_most
from dedup.urls.parts import host_of

Belief = Literal["store", "later", "fail", "cut"]

_KEPT_SHARE = 0.1
"""A text with a smaller share of the old one's shingles is another text."""

_SAME = 3
"""Pages of a host whose texts become equal."""

_REPLACED = 5
"""Pages of a host whose texts become others: believed if they are fewer, or not the most."""

_END_BYTES = 8_192
"""Of a body, in which its end is sought, with the comments that caches write behind it."""

_SAME_BYTES = 64
"""Last bytes of two answers that are equal only if both end where the page does."""


class Doubts:
    """Decides whether a new version of a stored page is what its URL has now.

    A page that keeps hardly anything of its text is fetched once more after all others, when more
    is known of its host. It is not believed if its new text is also that of two other pages (or of
    all visited pages of its host, two at least), or if most of the visited pages of the host have
    other texts: a log-in page, an error without its status, another site's pages. No two stored
    pages have equal texts, so it is their new texts that became equal.

    A page whose markup has lost its end is fetched once more likewise: its server may have died
    while it wrote. It is not believed if the second answer has no end either, and another text and
    other last bytes: a template without the end tag gives the same ones.

    What is known is that of this process and this run: a page is decided about only if it was put
    off in the same run.

    A duplicate is judged likewise: it counts as its original, as both may be rewritten at once. The
    target of a redirect is not believed if it is that of most visited pages of the host.
    """

    def __init__(self) -> None:
        self._visited: Counter[str] = Counter()
        self._later: set[str] = set()
        self._cut: dict[str, tuple[bytes, bytes]] = {}
        """Of pages that have lost their end: the digest of the text, and the last bytes."""
        self._same: defaultdict[str, defaultdict[bytes, set[int]]]
        self._same = defaultdict(lambda: defaultdict(set))
        self._moving: set[str] = set()
        self._moved: Counter[tuple[str, str]] = Counter()

    def note(self, url: str) -> None:
        """Count a visited page of a host, unless it was put off, and counted then."""
        if url not in self._later and url not in self._cut:
            self._visited[host_of(url)] += 1

    def belief(
        self, number: int, url: str, old: Sequence[Document], new: Page, *, is_cut: bool
    ) -> Belief:
        """What becomes of a new version: it is stored, fetched once more later, or has failed.

        `cut`: it has failed because it is a part of a page.

        Args:
            number: of the page; of a duplicate, that of its original.
            url: of the page.
            old: its stored text; of a duplicate, also its original's.
            new: what the visit gave.
            is_cut: has its body no end, and had the stored one?
        """
        digest = xxh3_128_digest(new.text.encode("utf-8", "surrogatepass"))
        found = self._belief_in_text(number, url, old, new, digest)
        if not is_cut or found == "fail":
            return found
        last = (new.body or b"")[-_SAME_BYTES:]
        if url not in self._cut:
            self._cut[url] = digest, last
            return "later"
        is_same = digest == self._cut[url][0] or last == self._cut[url][1]
        return found if is_same else "cut"

    def _belief_in_text(
        self, number: int, url: str, old: Sequence[Document], new: Document, digest: bytes
    ) -> Belief:
        self.note(url)
        is_later = url in self._later
        if not all(_is_other(each, new) for each in old):
            return "store"
        host = host_of(url)
        same = self._same[host][digest]
        if not is_later:
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
            self.note(url)
            self._moved[host, target] += 1
        return "later"


def has_end(body: bytes) -> bool:
    """Does a page's markup end with `</html>` or `</body>`? White space and comments do not count.

    >>> has_end(b"<p>Text</p></body></HTML> <!-- cached -->"), has_end(b"<p>Text</p><p>Mo")
    (True, False)
    """
    rest = body[-_END_BYTES:].rstrip()
    while rest.endswith(b"-->"):
        rest = rest[: max(0, rest.rfind(b"<!--"))].rstrip()
    return rest.lower().endswith((b"</html>", b"</body>"))


def _is_other(old: Document, new: Document) -> bool:
    before = set(old.shingles.tolist())
    kept = before.intersection(new.shingles.tolist())
    return bool(before) and len(kept) < _KEPT_SHARE * len(before)
