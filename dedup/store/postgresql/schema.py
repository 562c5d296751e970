"""The tables of a job in PostgreSQL, in a schema of its own.

Texts are compared by their bytes, as in SQLite. There are no foreign keys: each check would lock,
and so rewrite, the row of an original for every duplicate.
"""

from dedup.store.sql.schema import added_tables, tables

SCHEMA_VERSION = 3

_TEXT = 'text COLLATE "C"'
_TYPES = {
    **dict.fromkeys(("row", "place"), "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    "small": "smallint",
    "int": "integer",
    "big": "bigint",
    "bool": "boolean",
    "real": "double precision",
    "text": _TEXT,
    "bytes": "bytea",
    "page": "",
    "flat": "",
}

SCHEMA = f"""
-- One row. Who writes holds its lock, so what is written becomes visible in the order of numbers.
CREATE TABLE job (
    version integer NOT NULL,
    last_number bigint NOT NULL,    -- of `pages`, `duplicates` and `skipped`
    mark text NOT NULL DEFAULT ''   -- another one with each commit
) WITH (fillfactor = 10);
INSERT INTO job VALUES ({SCHEMA_VERSION}, 0);

-- The processes that work on the job. Who is not heard of is deleted; ids are never used again.
CREATE TABLE workers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name {_TEXT} NOT NULL,
    pid integer NOT NULL DEFAULT pg_backend_pid(),
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    pages bigint NOT NULL DEFAULT 0,
    pause double precision NOT NULL DEFAULT 0,  -- seconds that its hosts rest when it dies
    change bigint NOT NULL          -- the last one of `signatures` that its memory has
) WITH (fillfactor = 50);

-- Whose turn it takes, see `urls`: each belongs to one process at most, which fetches from it.
CREATE TABLE hosts (
    slot {_TEXT} PRIMARY KEY,
    worker bigint,
    has_work boolean NOT NULL DEFAULT true,
    free_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX hosts_free ON hosts (free_at) WHERE worker IS NULL AND has_work;
CREATE INDEX hosts_worker ON hosts (worker) WHERE worker IS NOT NULL;

{tables(_TYPES)}
ALTER TABLE counters SET (fillfactor = 50);
ALTER TABLE urls SET (fillfactor = 90);
ALTER TABLE sites SET (fillfactor = 50);

-- `changed` tells what other processes have not seen yet. It is drawn under the lock of `job`.
CREATE SEQUENCE changes;
ALTER TABLE signatures ADD changed bigint NOT NULL DEFAULT nextval('changes');
CREATE INDEX signatures_changed ON signatures (changed);

-- Texts and bodies are compressed already.
ALTER TABLE pages ALTER text SET STORAGE EXTERNAL, ALTER body SET STORAGE EXTERNAL;
ALTER TABLE duplicates ALTER text SET STORAGE EXTERNAL;
ALTER TABLE sites ALTER value SET STORAGE EXTERNAL;
ALTER TABLE waiting ALTER text SET STORAGE EXTERNAL, ALTER outline SET STORAGE EXTERNAL,
    ALTER body SET STORAGE EXTERNAL;
"""  # noqa: S608 -- constants

ADDED_TABLES = added_tables(_TYPES)
"""The definitions, by name, of the tables that earlier jobs of this version do not have. They get
them when they are opened to go on."""
