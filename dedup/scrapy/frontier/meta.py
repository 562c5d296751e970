"""Names in a request's meta."""

KEY = "dedup_key"
"""The request's key: it follows the request through redirects and retries."""

DEFERRED_RANK = 10_000_000
"""From this rank on requests are put off, and each is asked for anew whether it is fetched."""

REVISIT = "dedup_revisit"
"""The number of the stored page that is visited again."""
