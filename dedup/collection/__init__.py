"""Collections that exist already, as streams of documents."""

from dedup.collection.columns import Columns
from dedup.collection.documents import read_documents
from dedup.collection.reading import read_rows
from dedup.collection.rows import Broken, Row
from dedup.collection.sites import learn_sites
from dedup.collection.sources import Source, find_sources

__all__ = [
    "Broken",
    "Columns",
    "Row",
    "Source",
    "find_sources",
    "learn_sites",
    "read_documents",
    "read_rows",
]
