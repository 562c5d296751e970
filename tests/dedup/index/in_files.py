"""Indexes whose runs are in files from the first entry on, cut into the smallest parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from dedup.index import arrays, entries, permuted_tables


@contextmanager
def small_parts() -> Iterator[None]:
    """While indexes are this small, they go through all that large ones go through."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_LEAST_BYTES", 1)
        patch.setattr(arrays, "_SPARE_BYTES", 0)
        more_and_more = count(step=1 << 40)  # pages are unmapped each time
        patch.setattr(arrays, "_mapped_bytes", lambda: next(more_and_more))
        patch.setattr(entries, "_PAGE", 8)
        patch.setattr(entries, "_ENTRIES_AT_ONCE", 16)
        patch.setattr(permuted_tables, "YOUNG_ROWS", 4_096)
        patch.setattr(permuted_tables, "_QUERIES_OF_FILES", 7)
        yield
