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
        is_due: is it to be visited in any case? It answered 404 once, or duplicated another text.
        is_duplicate: is it one?
    """

    url: str
    n_changed: int
    changed_seconds: float
    seen_seconds: float
    asked_at: float
    is_due: bool = False
    is_duplicate: bool = False


class Histories(NamedTuple):
    """The columns of many `PageHistory`, and for each page the numbers of its host and folder."""

    n_changed: NDArray[np.float64]
    changed_seconds: NDArray[np.float64]
    seen_seconds: NDArray[np.float64]
    asked_at: NDArray[np.float64]
    host: NDArray[np.int64]
    folder: NDArray[np.int64]

    @classmethod
    def of(cls, pages: Iterable[PageHistory]) -> Histories:
        hosts: dict[str, int] = {}
        folders: dict[str, int] = {}
        rows = []
        for page in pages:
            host, folder = _groups(page.url)
            groups = hosts.setdefault(host, len(hosts)), folders.setdefault(folder, len(folders))
            rows.append((*page[1:5], *groups))
        columns = np.array(rows, dtype=np.float64).reshape(-1, 6).T
        return cls(*columns[:4], *columns[4:].astype(np.int64))


def _groups(url: str) -> tuple[str, str]:
    """The host of a URL, and the host with the first folder of the path and the path's depth."""
    parts = urlsplit(url)
    path = parts.path.split("/")
    first = path[1] if len(path) > 2 else ""
    return parts.netloc, f"{parts.netloc}/{first}/{min(len(path), 4)}"
