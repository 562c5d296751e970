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


class Histories(NamedTuple):
    """The columns of many `PageHistory`, and numbers for what they have in common.

    Attributes:
        host, section, folder: of each page; see `_groups`.
        section_of: of each folder.
    """

    n_changed: NDArray[np.float64]
    changed_seconds: NDArray[np.float64]
    seen_seconds: NDArray[np.float64]
    asked_at: NDArray[np.float64]
    host: NDArray[np.int64]
    section: NDArray[np.int64]
    folder: NDArray[np.int64]
    section_of: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Iterable[PageHistory]) -> Histories:
        hosts: dict[str, int] = {}
        sections: dict[str, int] = {}
        folders: dict[str, int] = {}
        section_of: list[int] = []
        rows = []
        for page in pages:
            host, section, folder = _groups(page.url)
            at = sections.setdefault(section, len(sections))
            if folder not in folders:
                folders[folder] = len(folders)
                section_of.append(at)
            rows.append((*page[1:5], hosts.setdefault(host, len(hosts)), at, folders[folder]))
        known = np.array(rows, dtype=np.float64).reshape(-1, 7).T
        groups = known[4:].astype(np.int64)
        folder_sections = np.array(section_of, dtype=np.int64)
        return cls._make((*known[:4], *groups, folder_sections))


def _groups(url: str) -> tuple[str, str, str]:
    """The host of a URL, its section and its folder.

    Section: the host with the first folder of the path and the path's depth. Folder: the section
    with all folders.
    """
    parts = urlsplit(url)
    path = parts.path.removesuffix("index.html").rstrip("/").split("/")
    first = path[1] if len(path) > 2 else ""
    section = f"{parts.netloc}/{first}/{min(len(path), 4)}"
    return parts.netloc, section, "/".join((section, *path[1:-1]))
