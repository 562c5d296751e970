"""Collections that exist already, as streams of documents."""

from dedup.collection.documents import read_documents
from dedup.collection.reading import Broken, Row
from dedup.collection.sites import learn_sites

__all__ = ["Broken", "Row", "learn_sites", "read_documents"]
