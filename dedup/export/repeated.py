"""Pages without the passages that stand on many pages of their hosts, for exports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dedup.fields.page_source import PageSource
from dedup.repetition import Layout, count_lines, find_passages
from dedup.store import JobStore
from dedup.urls.parts import host_of

_LEVELS = {**{f"h{level}": level for level in range(1, 7)}, "caption": 7, "dt": 7, "legend": 7}
"""Blocks that say what the next lines are."""


def layout_of(source: PageSource) -> Layout:
    """What stays of a page in any case: its name, and programs as far as its markup is known."""
    page, outline = source.page, source.outline
    lines = [] if outline is None else outline.lines
    names = {page.heading, page.title, page.own_title or page.title}
    return Layout(
        names | {line.text for line in lines if line.block == "pre"},
        {line.text: _LEVELS[line.block] for line in lines if line.block in _LEVELS},
    )


class WithoutRepeated:
    """Leaves repeated passages out of pages. All pages of their hosts are counted first.

    Args:
        store: of the job.
        share: of the host's stored pages on which a repeated passage stands, more than 0 and up
            to 1.
        folder: for temporary files.
        hosts: only pages of these are asked for; none: of all.

    Attributes:
        pages: the number of pages so far of which something was left out.
        words: the number of words left out, or characters in scripts without spaces.

    Raises:
        OSError: the disk is full.
    """

    def __init__(
        self, store: JobStore, share: float, folder: Path, hosts: Sequence[str] = ()
    ) -> None:
        self._counts = count_lines(store.exports.texts(hosts), share, folder)
        self.pages = self.words = 0

    def __call__(self, source: PageSource) -> PageSource:
        host = host_of(source.url)
        found = find_passages(self._counts, host, source.text, lambda: layout_of(source))
        if found is None:
            return source
        self.pages += 1
        self.words += sum(words for _, words in found.passages())
        return source.with_text(found.rest)
