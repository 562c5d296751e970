"""Names in the `meta` of requests."""

KEY = "dedup_key"
"""The key of the request; redirects and retries of the request keep it."""

REVISIT = "dedup_revisit"
"""The number of the stored page that a refresh visits."""
