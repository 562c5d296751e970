"""What the visits of pages have found, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray


class PageHistory(NamedTuple):
    """What is known of a page, duplicate or not.

    Attributes:
        url: of the page.
        n_changed: visits that found it changed since the visit before.
        changed_seconds: what lay between these visits and those before them.
        seen_seconds: what lies between its first and its last visit that gave an answer.
        asked_at: when it was visited last, answered or not.
        first_at: when it was fetched first.
        is_due: is it to be visited in any case? It answered 404 once, or duplicated another text.
        is_duplicate: is it one?
        away_at: when it was first seen to be gone, or to have moved; None: it is there.
        size: of its text, in any unit.
    """

    url: str
    n_changed: int
    changed_seconds: float
    seen_seconds: float
    asked_at: float
    first_at: float = 0.0
    is_due: bool = False
    is_duplicate: bool = False
    away_at: float | None = None
    size: float = 0.0


class Histories(NamedTuple):
    """The columns of many `PageHistory`, and numbers for what they have in common.

    Attributes:
        size: 1 at least.
        host: of each page.
        together: the section of each page, its folder and its name (rows); see `_groups`.
    """

    n_changed: NDArray[np.float64]
    changed_seconds: NDArray[np.float64]
    seen_seconds: NDArray[np.float64]
    asked_at: NDArray[np.float64]
    size: NDArray[np.float64]
    host: NDArray[np.int64]
    together: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Iterable[PageHistory]) -> Histories:
        numbers: list[dict[str, int]] = [{}, {}, {}, {}]
        rows = []
        for page in pages:
            groups = zip(numbers, _groups(page.url), strict=True)
            each = (number.setdefault(group, len(number)) for number, group in groups)
            rows.append((*page[1:5], max(page.size, 1), *each))
        known = np.array(rows, dtype=np.float64).reshape(-1, 9).T
        host, *together = known[5:].astype(np.int64)
        return cls._make((*known[:5], host, np.array(together)))


def section_of(url: str) -> str:
    """The section of a URL, see `_groups`."""
    return _groups(url)[1]


def _groups(url: str) -> tuple[str, str, str, str]:
    """The host of a URL, its section, its folder and its name.

    Section: the host with the first folder of the path and the path's depth. Folder: the section
    with all folders. Name: the host with the end of the path, which versions and languages share.
    """
    parts = urlsplit(url)
    path = parts.path.removesuffix("index.html").rstrip("/").split("/")
    first = path[1] if len(path) > 2 else ""
    section = f"{parts.netloc}/{first}/{min(len(path), 4)}"
    return parts.netloc, section, "/".join((section, *path[1:-1])), f"{parts.netloc}/{path[-1]}"
