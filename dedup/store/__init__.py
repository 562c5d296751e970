"""Where pages, duplicates and URLs are kept."""

from dedup.store.interface import Store
from dedup.store.records import Page
from dedup.store.sqlite import SqliteStore
from dedup.store.summary import summarise

__all__ = ["Page", "SqliteStore", "Store", "summarise"]
