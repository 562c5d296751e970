"""The tables of a job in SQLite, in this version and earlier ones."""

from dedup.store.sql.schema import added_tables, tables

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

SHARED_TABLES = """
-- The processes that work on the job. Who is not heard of is deleted; ids are never used again.
CREATE TABLE workers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process TEXT NOT NULL,          -- when it was started, by the system's count
    started_at REAL NOT NULL,       -- by the monotonic clock, like all times here
    seen_at REAL NOT NULL,
    pages INTEGER NOT NULL DEFAULT 0,
    pause REAL NOT NULL DEFAULT 0,  -- seconds that its hosts rest when it dies
    change INTEGER NOT NULL         -- the last one of `signatures` that its memory has
);
-- Whose turn it takes, see `urls`: each belongs to one process at most, which fetches from it.
CREATE TABLE hosts (
    slot TEXT PRIMARY KEY,
    worker INTEGER,
    has_work INTEGER NOT NULL DEFAULT 1,
    free_at REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX hosts_free ON hosts (free_at) WHERE worker IS NULL AND has_work;
CREATE INDEX hosts_worker ON hosts (worker) WHERE worker IS NOT NULL;
-- The signatures that some process has not loaded yet.
CREATE TABLE changes (
    change INTEGER PRIMARY KEY AUTOINCREMENT,
    stage TEXT NOT NULL,
    page INTEGER NOT NULL
);
"""
"""The tables of a job that processes share, all of them."""

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

ADDED_TABLES = added_tables(_TYPES)
"""The definitions, by name, of the tables that earlier jobs of this version do not have. They get
them when they are opened to go on."""

WHOLE_SCHEMA = SCHEMA + "".join(
    f"CREATE TABLE {name} {definition};" for name, definition in ADDED_TABLES.items()
)

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
