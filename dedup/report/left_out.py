"""What was left out of the texts of a job's hosts, for the report."""

from __future__ import annotations

from typing import Any

from dedup.store import JobStore


def site_templates(store: JobStore) -> list[dict[str, Any]]:
    return []
