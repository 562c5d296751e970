"""Names in a request's meta."""

KEY = "dedup_key"
"""The request's key: it follows the request through redirects and retries."""

LEARNED_RANK = 5_000_000
"""From this rank on requests are put off; up to `DEFERRED_RANK` for the learned URL rule whose
number is added."""

DEFERRED_RANK = 10_000_000
"""From this rank on requests are put off that look like a trap."""

REVISIT = "dedup_revisit"
"""The number of the stored page that is visited again."""
