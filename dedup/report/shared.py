"""The hosts that share pages, for a job's report."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

from dedup.groups.hosts import host_pairs
from dedup.groups.listing import groups
from dedup.report.sample import MAX_PAGE_BYTES
from dedup.store import JobStore
from dedup.store.query_results import CopyRow

MAX_GROUPS = 500
MAX_PAIRS = 50
MAX_CPU_SECONDS = 3.0
"""For what stored pages say. Each was read in bounded time before."""


def shared_pages(store: JobStore) -> dict[str, Any]:
    """The pairs of hosts with the most shared pages, of the first groups; empty: there are none."""
    began = time.process_time()

    def may_read(page: CopyRow) -> bool:
        # The crawl's own process makes the report: it opens no documents.
        is_small = page.size_bytes <= MAX_PAGE_BYTES and page.source != "document"
        return is_small and time.process_time() - began < MAX_CPU_SECONDS

    found = list(islice(groups(store, may_read=may_read), MAX_GROUPS + 1))
    pairs = host_pairs(found[:MAX_GROUPS])
    if not pairs:
        return {}
    return {
        "pairs": [each._asdict() for each in pairs[:MAX_PAIRS]],
        "n_groups": min(len(found), MAX_GROUPS),
        "has_more": len(found) > MAX_GROUPS or len(pairs) > MAX_PAIRS,
    }
