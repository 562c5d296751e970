"""Names in the `meta` of requests, and ranks of requests."""

KEY = "dedup_key"
"""The key of the request; redirects and retries of the request keep it."""

DEFERRED_RANK = 10_000_000
"""Requests of this rank and above are deferred: fetched after all others, and within a budget."""

REVISIT = "dedup_revisit"
"""The number of the stored page that a refresh visits."""
