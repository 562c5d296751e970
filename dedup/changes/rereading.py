"""Changed pages read once more: both versions by the same knowledge, or each by that of its time.

The stored text of a version was read with what was known of its host at that moment. More may be
known since, or the host may have another template: then the two texts differ in menus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dedup.sites.learner import MAX_OUTLINE_BYTES
from dedup.sites.lines import PageLines
from dedup.sites.outline import Line, Outline
from dedup.sites.site import FEW_NAMES, Site, learn, name_key
from dedup.sites.stored import outline_of
from dedup.store.records import Page
from dedup.store.sql.changes import ChangedPage, ChangeQueries

_MAX_BYTES = 500_000
"""Larger pages are not parsed again."""

_SAMPLE = 128
"""The pages of a host from which each of its templates is learned."""

_PAGER = re.compile(r"(?i)pager|pagina|(?<![a-z])(?:prev|previous|next|older|newer)(?![a-z])")
_MAX_PAGER_WORDS = 40
_WORD = re.compile(r"\w+")


class Rereading:
    """Reads both versions of a host's changed pages once more.

    Args:
        since: the old versions are those of this time.
        site: what is known of the host today.
        n_pages: the number of pages of the host.
        is_new: may its template have changed, as many pages have? Then each version is also read
            with what pages of its time repeat.
    """

    def __init__(
        self,
        queries: ChangeQueries,
        host: str,
        site: Site,
        since: float,
        n_pages: int,
        is_new: bool,
    ) -> None:
        self._queries, self._since = queries, since
        self._pairs = [(site, site)]
        if is_new:
            step = max(1, n_pages // _SAMPLE)
            sample = list(queries.bodies_of_host(host, since, step, _SAMPLE))
            then, now = (_learned(each) for each in zip(*sample, strict=True))
            self._pairs.append((then, now))

    def __call__(self, page: ChangedPage) -> Iterator[ChangedPage]:
        """The page as it is read in each way; nothing: its bodies were not kept."""
        bodies = self._queries.bodies(page.number, self._since)
        then, now = (_Reader.of(body) for body in bodies)
        if then is None or now is None:
            return
        for old_site, new_site in self._pairs:
            old, new = then.text(old_site), now.text(new_site)
            if old is not None and new is not None:
                yield page._replace(
                    then=page.then._replace(text=old), now=page.now._replace(text=new)
                )


class _Reader(NamedTuple):
    """A page whose text can be read; `name`: see `name_key`."""

    lines: PageLines
    name: int
    title: str

    @classmethod
    def of(cls, page: Page) -> _Reader | None:
        """None: its body was not kept, is too large, or has no outline."""
        if len(page.body or b"") > _MAX_BYTES or (outline := outline_of(page)) is None:
            return None
        name = name_key(outline, page.title, page.url or "")
        return cls(PageLines(without_pagers(outline)), name, page.title)

    def text(self, site: Site) -> str | None:
        found = site.read_again(self.lines, self.name, self.title)
        return None if found is None else found.text


def _learned(pages: Iterable[Page]) -> Site:
    """What pages repeat."""
    found = []
    for page in pages:
        outline = None if len(page.body or b"") > _MAX_BYTES else outline_of(page)
        if outline is not None and outline.size.n_characters < MAX_OUTLINE_BYTES:
            found.append((outline, page.title, page.url or ""))
    counts = learn(found)
    return Site(counts, version=1) if counts.n_names >= FEW_NAMES else Site()


def without_pagers(page: Outline) -> Outline:
    """The page without links to the previous and next pages, which change with those."""
    outer = _pagers(page)
    lines: dict[int, list[Line]] = {}
    for line in page.lines:
        lines.setdefault(outer[line.box], []).append(line)
    found = {box for box, own in lines.items() if box >= 0 and _is_pager(own)}
    kept = [line for line in page.lines if outer[line.box] not in found]
    return Outline(page.boxes, kept) if found and kept else page


def _pagers(page: Outline) -> list[int]:
    """For each box, the outermost one around it that is named as a pager; -1: none is."""
    found: list[int] = []
    for number, box in enumerate(page.boxes):
        around = found[box.parent] if box.parent >= 0 else -1
        if around < 0 and any(map(_PAGER.search, box.names)):
            around = number
        found.append(around)
    return found


def _is_pager(lines: Sequence[Line]) -> bool:
    """Are these few words, most of them in links?"""
    n_words, n_plain = (
        sum(len(_WORD.findall(text)) for text in texts)
        for texts in ([line.text for line in lines], [line.plain for line in lines])
    )
    return n_words <= _MAX_PAGER_WORDS and 2 * n_plain <= n_words
