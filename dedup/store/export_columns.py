"""The columns of exports and feeds where no others are asked for."""

STORED_FIELDS = (
    *("id", "url", "title", "language", "text", "canonical_url", "status", "content_type"),
    *("fetched_at", "depth", "etag", "last_modified"),
)
EXPORTED_FIELDS = (*STORED_FIELDS, "gone_at", "moved_to")
"""The columns of an exported page, in every format. Feeds may have these fields, too."""

DUPLICATE_FIELDS = (
    *("id", "url", "duplicate_of", "duplicate_of_url", "stage", "distance", "resemblance"),
    *("first_seen", "duplicate_of_job"),
)
"""The columns of an exported duplicate. Ids are those of the caller, or else numbers. The job is
that of an original in an earlier crawl."""
