"""Changed pages read once more: both versions by the same knowledge, or each by that of its time.

The stored text of a version was read with what was known of its host at that moment. More may be
known since, or the host may have another template: then the two texts differ in menus. Only the
bodies tell which lines are links, and how often the whole page has a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress

import numpy as np

from dedup.changes.article import article_keys
from dedup.changes.lines import line_key
from dedup.changes.navigation import (
    are_most,
    beside,
    link_lists,
    own_lines,
)
from dedup.changes.whole_page import beside_counts, both_whole, small_outline
from dedup.sites.learner import MAX_OUTLINE_BYTES
from dedup.sites.lines import Keys, PageLines, Words, words_of
from dedup.sites.outline import Outline
from dedup.sites.own_text import Mask
from dedup.sites.site import FEW_NAMES, Site, learn, name_key
from dedup.store.records import Page
from dedup.store.sql.changes import ChangedPage, ChangeQueries

AreOwn = Callable[[PageLines], Mask]

_SAMPLE = 128
"""The pages of a host from which each of its templates is learned."""

_NO_LINK = np.uint32(0xFFFFFFFE)
"""The bits of a line's key without the one that tells whether it is mostly links."""


class Rereading:
    """Reads both versions of a host's changed pages once more.

    Args:
        since: the old versions are those of this time.
        site: what is known of the host today.
        n_pages: the number of pages of the host.
        is_new: may its template have changed, as many pages have? Then each version is also read
            with what pages of its time repeat.
        are_own: which lines of a page count, see `Rotating.are_own`? Those that do not rotate.
    """

    def __init__(
        self,
        queries: ChangeQueries,
        host: str,
        site: Site,
        since: float,
        n_pages: int,
        is_new: bool,
        are_own: Callable[[Collection[str], PageLines], Mask],
    ) -> None:
        self._queries, self._since, self._are_own = queries, since, are_own
        self._pairs = [(site, site)]
        if is_new:
            step = max(1, n_pages // _SAMPLE)
            sample = queries.bodies_of_host(host, since, step, _SAMPLE)
            then, now = zip(*map(_both_sampled, sample), strict=True)
            self._pairs.append((_learned(then), _learned(now)))

    def __call__(self, page: ChangedPage, labels: Collection[str]) -> Reread | None:
        """The page's two versions; None: their bodies were not kept.

        `labels`: the keys of lines that came or went, and are its own if they stand in its article.
        """
        bodies = self._queries.bodies(page.number, self._since)
        old, new = map(small_outline, bodies)
        if old is None or new is None:
            return None
        are_own = partial(self._are_own, beside_counts(old, new))
        then, now = (
            _Body.of(body, outline, own.text, are_own)
            for body, outline, own in zip(bodies, (old, new), (page.then, page.now), strict=True)
        )
        return Reread(page, then, now, self._pairs, labels)


@dataclass
class Reread:
    """Both versions of a changed page, from their bodies."""

    page: ChangedPage
    then: _Body
    now: _Body
    pairs: list[tuple[Site, Site]]
    given: Collection[str]

    def texts(self) -> Iterator[ChangedPage]:
        """The page as it is read in each way, without lists of links unless it is one."""
        page, both = self.page, (self.then, self.now)
        is_list = any(map(_Body.is_list, both, self.pairs[-1]))
        then, now = (each.own_lines(is_list=is_list) for each in both)
        for old_site, new_site in self.pairs:
            old, new = self.then.text(then, old_site), self.now.text(now, new_site)
            if old is not None and new is not None:
                yield page._replace(
                    then=page.then._replace(text=old), now=page.now._replace(text=new)
                )

    def whole(self) -> ChangedPage:
        """The page with all of its lines as its text, menus aside."""
        page, both = self.page, (self.then, self.now)
        lines = both_whole(*((each.outline, each.title) for each in both))
        then, now = (
            version.text_of(each.are_own(version))
            for each, version in zip(both, lines, strict=True)
        )
        return page._replace(then=page.then._replace(text=then), now=page.now._replace(text=now))

    @cached_property
    def stored(self) -> frozenset[str]:
        """The lines of both stored texts."""
        both = self.page.then, self.page.now
        return frozenset(line.strip() for each in both for line in each.text.split("\n"))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Which of the given labels have come to the page's article, or left it."""
        if not self.given:
            return frozenset()
        site = self.pairs[0][0]
        then, now = (
            article_keys(each.outline, each.words, site, self.given)
            for each in (self.then, self.now)
        )
        return frozenset(key for key in self.given if then[key] != now[key])

    @cached_property
    def beside(self) -> frozenset[str]:
        """The keys of lines that lead elsewhere, or stand beside the text, in either version."""
        both = self.then.outline, self.now.outline
        return frozenset(line_key(line.text) for each in both for line in beside(each))

    @cached_property
    def moved(self) -> Keys:
        """The keys of lines that both versions have, one of them more often, without a last bit."""
        then, now = (each.line_counts() for each in (self.then, self.now))
        found = [key for key in then.keys() & now.keys() if then[key] != now[key]]
        return np.array(found, np.uint32)


@dataclass
class _Body:
    """A version of a page whose body can be read.

    Attributes:
        name: see `name_key`.
        stored: its stored text.
    """

    outline: Outline
    name: int
    title: str
    stored: str
    are_own: AreOwn

    @classmethod
    def of(cls, page: Page, outline: Outline, stored: str, are_own: AreOwn) -> _Body:
        name = name_key(outline, page.title, page.url or "")
        return cls(outline, name, page.title, stored, are_own)

    def is_list(self, site: Site) -> bool:
        """Are lists of links most of it, also of what it has without its site's menus?"""
        lists = [*link_lists(self.outline)]
        if not are_most(lists, self.outline, self.stored):
            return False
        own = self.text(self.own_lines(is_list=True), site)
        return own is None or are_most(lists, self.outline, own)

    def own_lines(self, *, is_list: bool) -> PageLines:
        return PageLines(own_lines(self.outline, self.title, is_list=is_list))

    def text(self, lines: PageLines, site: Site) -> str | None:
        """The text of some lines, without what rotates."""
        found = site.read_again(lines, self.name, self.title)
        if found is None:
            return None
        out = {line.text for line in compress(lines.lines, ~self.are_own(lines))}
        return "\n".join(
            line for line in found.text.split("\n") if not out.issuperset(line.split("\t"))
        )

    @cached_property
    def words(self) -> Words:
        return words_of([line.text for line in self.outline.lines])

    def line_counts(self) -> Counter[int]:
        return Counter((self.words.line_hashes().astype(np.uint32) & _NO_LINK).tolist())


_Sampled = tuple[PageLines, str, str]


def _both_sampled(pages: tuple[Page, Page]) -> tuple[_Sampled | None, _Sampled | None]:
    """Both versions of a page to learn from; one that has not changed is parsed once."""
    then, now = pages
    found = _sampled(now)
    return (found if then is now else _sampled(then)), found


def _sampled(page: Page) -> _Sampled | None:
    outline = small_outline(page)
    if outline is None or outline.size.n_characters >= MAX_OUTLINE_BYTES:
        return None
    return PageLines(outline), page.title, page.url or ""


def _learned(pages: Iterable[_Sampled | None]) -> Site:
    """What pages repeat."""
    counts = learn(page for page in pages if page is not None)
    return Site(counts, version=1) if counts.n_names >= FEW_NAMES else Site()
