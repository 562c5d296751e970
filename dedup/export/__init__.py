"""A job's pages and duplicates as files that other tools read."""

from dedup.collection.formats import ENDINGS
from dedup.export.repeated import WithoutRepeated
from dedup.export.rows import duplicate_rows, failed_rows, page_rows
from dedup.export.tables import DUPLICATES, FAILED, page_columns, write_table
from dedup.export.wacz import write_wacz
from dedup.export.warc import NEAR_DUPLICATE_PROFILE, write_warc

__all__ = [
    "DUPLICATES",
    "ENDINGS",
    "FAILED",
    "NEAR_DUPLICATE_PROFILE",
    "WithoutRepeated",
    "duplicate_rows",
    "failed_rows",
    "page_columns",
    "page_rows",
    "write_table",
    "write_wacz",
    "write_warc",
]
