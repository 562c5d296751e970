"""The account of a job: the content of `stats.json`."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from dedup.scrapy.job.job import Job
from dedup.store import summarise


def stats_json(job: Job, *, finished: float, reason: str) -> dict[str, object]:
    """The pages that the job has stored, dropped and skipped, its URLs, and its settings.

    Args:
        job: it has to be open.
        finished: seconds since 1970, UTC.
        reason: why the crawl ended, for example `finished`.
    """
    summary = summarise(job.store)
    seen, ledger = job.urls.seen, job.ledger
    summary["urls"]["bloom"] = {
        "capacity": seen.capacity,
        "count": seen.count,
        "error_rate_target": seen.error_rate_target,
        "error_rate_estimate": seen.error_rate_estimate,
        "size_bytes": seen.size_bytes,
    }
    documents, index_bytes = summary["pages"]["unique"], job.pages.content.size_bytes
    seconds = max(time.monotonic() - job.opened_at, 1e-9)
    pages = ledger.fetched - ledger.fetched_before + ledger.visited
    return {
        **summary,
        "index": {
            "documents": documents,
            "bytes": index_bytes,
            "bytes_per_document": round(index_bytes / documents, 1) if documents else 0.0,
        },
        "rates": {"seconds": round(seconds, 3), "pages_per_second": pages / seconds},
        "settings": job.dedup_settings,
        "started": _iso_time(job.started_at),
        "finished": _iso_time(finished),
        "reason": reason,
    }


def _iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
