"""Names in a request's meta."""

KEY = "dedup_key"
"""The request's key: it follows the request through redirects and retries."""

REVISIT = "dedup_revisit"
"""The number of the stored page that is visited again."""
