"""Names in the `meta` of requests, which no project uses for its own."""

KEY = "_dedup_key"
"""The key of the request; redirects and retries of the request keep it."""

REVISIT = "_dedup_revisit"
"""The number of the stored page that a refresh visits."""

EACH_REFRESH = "_dedup_each_refresh"
"""Is it a file that each refresh reads again, such as a sitemap?"""
