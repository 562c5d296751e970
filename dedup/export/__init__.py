"""A job's pages and duplicates as files that other tools read."""

from dedup.collection.formats import ENDINGS
from dedup.export.tables import DUPLICATES, FAILED, PAGES, write_table
from dedup.export.warc import NEAR_DUPLICATE_PROFILE, write_warc

__all__ = [
    "DUPLICATES",
    "ENDINGS",
    "FAILED",
    "NEAR_DUPLICATE_PROFILE",
    "PAGES",
    "write_table",
    "write_warc",
]
