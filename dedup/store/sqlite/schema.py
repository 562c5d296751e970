"""The tables of a job in SQLite, in this version and earlier ones."""

from dedup.store.sql.schema import tables

APPLICATION_ID = 0x44454455
"""Marks a file of this program (`PRAGMA application_id`): "DEDU"."""

SCHEMA_VERSION = 5

FORMER_TABLES = """
CREATE TABLE url_rules (
    number INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL             -- JSON
);
CREATE INDEX url_rules_host ON url_rules (host);
CREATE TABLE url_forms (
    key BLOB PRIMARY KEY,
    page INTEGER                    -- -1: it is no evidence; NULL: not fetched yet
) WITHOUT ROWID;
"""
"""Unused tables that earlier jobs of this version have, all of them."""

_TYPES = {
    "row": "INTEGER PRIMARY KEY",
    "place": "INTEGER PRIMARY KEY AUTOINCREMENT",
    **dict.fromkeys(("small", "int", "big", "bool"), "INTEGER"),
    "real": "REAL",
    "text": "TEXT",
    "bytes": "BLOB",
    "page": " REFERENCES pages (number)",
    "flat": " WITHOUT ROWID",
}

SCHEMA = f"""
BEGIN;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
{tables(_TYPES)}
COMMIT;
"""

_NEW_COLUMNS = "'' AS heading, NULL AS own_title, 'given' AS source, NULL AS site_version"

_NO_SITES = """
CREATE TEMP TABLE sites (host TEXT, value BLOB);
CREATE TEMP TABLE apart (page INTEGER, original INTEGER, lines TEXT);
"""

_OLD_PAGES = f"""
CREATE TEMP VIEW pages AS SELECT *, {_NEW_COLUMNS}, NULL AS rest FROM main.pages;
CREATE TEMP VIEW duplicates AS SELECT *, {_NEW_COLUMNS} FROM main.duplicates;
CREATE TEMP TABLE waiting (
    place INTEGER, host TEXT, url TEXT, size_bytes INTEGER, title TEXT, fetched_at REAL
);
"""  # noqa: S608 -- the columns above

_TEMPLATED_PAGES = """
CREATE TEMP VIEW pages AS SELECT *, NULL AS site_version, NULL AS rest FROM main.pages;
CREATE TEMP VIEW duplicates AS SELECT *, NULL AS site_version FROM main.duplicates;
"""

OLD_JOBS = {
    2: _OLD_PAGES + _NO_SITES,
    3: _TEMPLATED_PAGES + _NO_SITES,
    4: _TEMPLATED_PAGES + _NO_SITES,
}
"""By version: what makes a job of an earlier release look like one of this version to readers.
Earlier releases extracted other texts from pages, so their jobs cannot be resumed."""
