"""The tables of a job's store.

Every page that was fetched is one record in `pages`, `duplicates` or `skipped`; the three share one
sequence of numbers, so a number names a record. Large columns stand last: SQLite then counts and
scans rows without reading them.
"""

from dedup.store.records import QUEUED, TOO_DEEP

APPLICATION_ID = 0x44454455
"""Marks the file as ours (`PRAGMA application_id`): "DEDU"."""

SCHEMA_VERSION = 5

READABLE_VERSIONS = (2, 3, 4, 5)
"""Those of earlier releases can be read. They read other texts from pages: they cannot go on."""

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
"""Tables that jobs of this version may have from before, all of them. Nothing reads them."""

SCHEMA = f"""
BEGIN;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- What is counted and leaves no row of its own, such as `links` in scope of recorded pages.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- Every URL ever queued, by the 16-byte key of its canonical form, in order of discovery.
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    state INTEGER NOT NULL,
    rank INTEGER NOT NULL,          -- the lowest is fetched first; minus the request's priority
    depth INTEGER NOT NULL,         -- links from the start
    slot TEXT NOT NULL,             -- whose turn it takes: the host
    url TEXT NOT NULL,
    request BLOB                    -- JSON, while queued; NULL: made anew from the URL
);
CREATE INDEX urls_queued ON urls (slot, rank, id) WHERE state = {QUEUED};
CREATE INDEX urls_too_deep ON urls (depth) WHERE state = {TOO_DEEP};
CREATE INDEX urls_not_linked ON urls (depth) WHERE depth = 0;

-- One copy of each page.
CREATE TABLE pages (
    number INTEGER PRIMARY KEY,
    name TEXT,                      -- the caller's id; NULL: the number
    url TEXT,
    host TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    canonical_url TEXT,
    status INTEGER,                 -- HTTP
    content_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    fetched_at REAL NOT NULL,       -- seconds since 1970, UTC
    size_bytes INTEGER NOT NULL,    -- of the body as received, after decompression
    depth INTEGER NOT NULL,         -- links from the start
    etag TEXT,                      -- what its server tells versions by
    last_modified TEXT,
    heading TEXT NOT NULL,
    own_title TEXT,                 -- without what all titles of the site have
    source TEXT NOT NULL,           -- of the text: given, box, landmark or page
    site_version INTEGER,           -- of what was known of its host; NULL: nothing was
    rest BLOB,                      -- what is rare on the page: see `dedup.sites.rest`
    text BLOB NOT NULL,             -- zstd, UTF-8
    body BLOB                       -- zstd
);

-- What has been learned of each host's pages: see `dedup.sites`.
CREATE TABLE sites (host TEXT PRIMARY KEY, value BLOB NOT NULL);

-- Pages that resemble another one, and were kept for what else they say.
CREATE TABLE apart (
    page INTEGER PRIMARY KEY REFERENCES pages (number),
    original INTEGER NOT NULL REFERENCES pages (number),
    lines TEXT NOT NULL             -- JSON: some that the original has not
);

-- How many pages of a host are in an encoding other than UTF-8, as far as that is sure.
CREATE TABLE encodings (
    host TEXT NOT NULL,
    encoding TEXT NOT NULL,         -- Python's name
    pages INTEGER NOT NULL,
    PRIMARY KEY (host, encoding)
) WITHOUT ROWID;

-- Pages that wait until enough is known of their host, in the order of their arrival. A page has
-- its number once it is judged.
CREATE TABLE waiting (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT,
    host TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    canonical_url TEXT,
    status INTEGER,
    content_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    fetched_at REAL NOT NULL,
    size_bytes INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    heading TEXT NOT NULL,
    source TEXT NOT NULL,
    text BLOB NOT NULL,             -- zstd, UTF-8: what the page itself tells
    outline BLOB NOT NULL,          -- zstd, JSON: what is learned from
    body BLOB NOT NULL              -- zstd
);
CREATE INDEX waiting_host ON waiting (host);

-- Pages that were stored before enough was known of their host: read anew once it is.
CREATE TABLE early (
    page INTEGER PRIMARY KEY REFERENCES pages (number),
    host TEXT NOT NULL,
    outline BLOB NOT NULL           -- zstd, JSON
);
CREATE INDEX early_host ON early (host);

-- What pages were before they changed; `page` has the present version.
CREATE TABLE versions (
    page INTEGER NOT NULL REFERENCES pages (number),
    fetched_at REAL NOT NULL,
    title TEXT NOT NULL,
    text BLOB NOT NULL,             -- zstd, UTF-8
    body BLOB                       -- zstd
);

-- What became of each page in each refresh: unchanged, changed, gone, moved or failed.
CREATE TABLE visits (
    refresh INTEGER NOT NULL,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    seen_at REAL NOT NULL,
    PRIMARY KEY (refresh, url)
) WITHOUT ROWID;

-- Every page dropped, and the stored page that it duplicates.
CREATE TABLE duplicates (
    number INTEGER PRIMARY KEY,
    name TEXT,
    url TEXT,
    host TEXT NOT NULL,
    original INTEGER NOT NULL REFERENCES pages (number),
    stage TEXT NOT NULL,
    distance INTEGER,               -- bits
    resemblance REAL,               -- 0 to 1
    fetched_at REAL NOT NULL,
    size_bytes INTEGER NOT NULL,
    title TEXT NOT NULL,
    heading TEXT NOT NULL,
    own_title TEXT,
    source TEXT NOT NULL,
    site_version INTEGER,
    text BLOB                       -- zstd, UTF-8; NULL: the original's
);
CREATE INDEX duplicates_original ON duplicates (original);

-- Every URL that gave no page to compare. is_fetched: a response arrived, and counts as a page.
CREATE TABLE skipped (
    number INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    is_fetched INTEGER NOT NULL,
    seen_at REAL NOT NULL,
    size_bytes INTEGER NOT NULL
);

-- Other URLs of a page, not fetched for themselves: kind is redirect or canonical.
CREATE TABLE aliases (
    url TEXT NOT NULL,
    page_url TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (url, kind)
) WITHOUT ROWID;

-- What the detectors' memory is rebuilt from.
CREATE TABLE signatures (
    stage TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES pages (number),
    value BLOB NOT NULL,
    PRIMARY KEY (stage, page)
) WITHOUT ROWID;
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
"""What has a job of an earlier version look like one of this version to those who read it."""
