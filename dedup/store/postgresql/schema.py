"""The tables of a job in PostgreSQL: those of `dedup.store.sqlite.schema`, in a schema of its own.

Texts are compared by their bytes, as SQLite does. There are no foreign keys: a check of each would
lock, and so rewrite, the row of an original for every duplicate of it.
"""

from dedup.store.records import QUEUED, TOO_DEEP

SCHEMA_VERSION = 3

_TEXT = 'text COLLATE "C"'

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

CREATE TABLE meta (name {_TEXT} PRIMARY KEY, value {_TEXT} NOT NULL);
CREATE TABLE counters (name {_TEXT} PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 50);

CREATE TABLE urls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key bytea NOT NULL UNIQUE,
    state smallint NOT NULL,
    rank integer NOT NULL,
    depth integer NOT NULL,
    slot {_TEXT} NOT NULL,
    url {_TEXT} NOT NULL,
    request bytea
) WITH (fillfactor = 90);
CREATE INDEX urls_queued ON urls (slot, rank, id) WHERE state = {QUEUED};
CREATE INDEX urls_too_deep ON urls (depth) WHERE state = {TOO_DEEP};
CREATE INDEX urls_not_linked ON urls (depth) WHERE depth = 0;

CREATE TABLE pages (
    number bigint PRIMARY KEY,
    name {_TEXT},
    url {_TEXT},
    host {_TEXT} NOT NULL,
    title {_TEXT} NOT NULL,
    language {_TEXT} NOT NULL,
    canonical_url {_TEXT},
    status integer,
    content_type {_TEXT} NOT NULL,
    encoding {_TEXT} NOT NULL,
    fetched_at double precision NOT NULL,
    size_bytes bigint NOT NULL,
    depth integer NOT NULL,
    etag {_TEXT},
    last_modified {_TEXT},
    heading {_TEXT} NOT NULL,
    own_title {_TEXT},
    source {_TEXT} NOT NULL,
    site_version integer,
    rest bytea,
    text bytea NOT NULL,
    body bytea
);

CREATE TABLE sites (host {_TEXT} PRIMARY KEY, value bytea NOT NULL) WITH (fillfactor = 50);
CREATE TABLE apart (page bigint PRIMARY KEY, original bigint NOT NULL, lines {_TEXT} NOT NULL);

CREATE TABLE encodings (
    host {_TEXT} NOT NULL,
    encoding {_TEXT} NOT NULL,
    pages bigint NOT NULL,
    PRIMARY KEY (host, encoding)
);

CREATE TABLE waiting (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url {_TEXT},
    host {_TEXT} NOT NULL,
    title {_TEXT} NOT NULL,
    language {_TEXT} NOT NULL,
    canonical_url {_TEXT},
    status integer,
    content_type {_TEXT} NOT NULL,
    encoding {_TEXT} NOT NULL,
    fetched_at double precision NOT NULL,
    size_bytes bigint NOT NULL,
    depth integer NOT NULL,
    etag {_TEXT},
    last_modified {_TEXT},
    heading {_TEXT} NOT NULL,
    source {_TEXT} NOT NULL,
    text bytea NOT NULL,
    outline bytea NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX waiting_host ON waiting (host);

CREATE TABLE early (page bigint PRIMARY KEY, host {_TEXT} NOT NULL, outline bytea NOT NULL);
CREATE INDEX early_host ON early (host);

CREATE TABLE versions (
    page bigint NOT NULL,
    fetched_at double precision NOT NULL,
    title {_TEXT} NOT NULL,
    text bytea NOT NULL,
    body bytea
);

CREATE TABLE visits (
    refresh integer NOT NULL,
    url {_TEXT} NOT NULL,
    outcome {_TEXT} NOT NULL,
    seen_at double precision NOT NULL,
    PRIMARY KEY (refresh, url)
);

CREATE TABLE duplicates (
    number bigint PRIMARY KEY,
    name {_TEXT},
    url {_TEXT},
    host {_TEXT} NOT NULL,
    original bigint NOT NULL,
    stage {_TEXT} NOT NULL,
    distance integer,
    resemblance double precision,
    fetched_at double precision NOT NULL,
    size_bytes bigint NOT NULL,
    title {_TEXT} NOT NULL,
    heading {_TEXT} NOT NULL,
    own_title {_TEXT},
    source {_TEXT} NOT NULL,
    site_version integer,
    text bytea
);
CREATE INDEX duplicates_original ON duplicates (original);

CREATE TABLE skipped (
    number bigint PRIMARY KEY,
    url {_TEXT} NOT NULL,
    host {_TEXT} NOT NULL,
    reason {_TEXT} NOT NULL,
    detail {_TEXT} NOT NULL,
    is_fetched boolean NOT NULL,
    seen_at double precision NOT NULL,
    size_bytes bigint NOT NULL
);

CREATE TABLE aliases (
    url {_TEXT} NOT NULL,
    page_url {_TEXT} NOT NULL,
    kind {_TEXT} NOT NULL,
    PRIMARY KEY (url, kind)
);

-- `changed` tells what other processes have not seen yet. It is drawn under the lock of `job`.
CREATE SEQUENCE changes;
CREATE TABLE signatures (
    stage {_TEXT} NOT NULL,
    page bigint NOT NULL,
    value bytea NOT NULL,
    changed bigint NOT NULL DEFAULT nextval('changes'),
    PRIMARY KEY (stage, page)
);
CREATE INDEX signatures_changed ON signatures (changed);

-- Texts and bodies are compressed already.
ALTER TABLE pages ALTER text SET STORAGE EXTERNAL, ALTER body SET STORAGE EXTERNAL;
ALTER TABLE duplicates ALTER text SET STORAGE EXTERNAL;
ALTER TABLE sites ALTER value SET STORAGE EXTERNAL;
ALTER TABLE waiting ALTER text SET STORAGE EXTERNAL, ALTER outline SET STORAGE EXTERNAL,
    ALTER body SET STORAGE EXTERNAL;
"""  # noqa: S608 -- constants
