"""Stores of pages, duplicates and URLs. `open_store` opens or creates a job's store."""

from dedup.store.interface import Store
from dedup.store.opening import (
    STORE_NAME,
    job_exists,
    job_file,
    job_place,
    open_store,
    rename_job,
    store_path,
)
from dedup.store.records import Page
from dedup.store.sql.store import JobStore, render_mode
from dedup.store.sqlite import SqliteStore
from dedup.store.summary import summarise

__all__ = [
    "STORE_NAME",
    "JobStore",
    "Page",
    "SqliteStore",
    "Store",
    "job_exists",
    "job_file",
    "job_place",
    "open_store",
    "rename_job",
    "render_mode",
    "store_path",
    "summarise",
]
