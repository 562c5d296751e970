"""The lines that came or went on many pages of a host at once: its template has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from dedup.changes.lines import differing_keys
from dedup.pieces.runs import SortedRows
from dedup.store.sql.changes import ChangedPage

_AT_LEAST, _SHARE, _AT_MOST = 5, 0.1, 50
"""A line that came or went on a tenth of a host's pages belongs to the template; 5 pages are needed
for that, and 50 are enough."""

_LINES_A_PAGE = 1_000
_MAX_LINES = 200_000
"""Of all templates, for a bounded memory: those after these are told as changes of pages."""


class Template(NamedTuple):
    """What many pages of a host have changed: the keys of lines, and on how many pages, at most."""

    keys: set[str]
    n_pages: int


def templates(
    pages: Iterable[ChangedPage], n_pages: Mapping[str, int], folder: Path
) -> dict[str, Template]:
    """Find what of the hosts' templates has changed, by host.

    Args:
        pages: those with a new version.
        n_pages: the number of pages of each host.
        folder: of temporary files.
    """
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    n_lines = 0
    with closing(SortedRows(folder)) as rows:
        for page in pages:
            for key in sorted(differing_keys(page))[:_LINES_A_PAGE]:
                rows.add((page.host, key, page.number))
        for (host, key), group in groupby(rows, key=lambda row: row[:2]):
            count = sum(1 for _ in group)
            if count >= _enough(n_pages.get(host, 0)) and n_lines < _MAX_LINES:
                found[host][key] = count
                n_lines += 1
    return {host: Template(set(keys), max(keys.values())) for host, keys in found.items()}


def _enough(n_pages: int) -> int:
    return max(_AT_LEAST, min(_AT_MOST, round(_SHARE * n_pages)))
