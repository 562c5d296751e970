"""The tables of a job, for either database.

Every page that was fetched is one record in `pages`, `duplicates` or `skipped`; the three share one
sequence of numbers, so a number names a record. Large columns stand last: SQLite then counts and
scans rows without reading them.

The comments are part of the text that a job is compared with when it is opened, so they never
change within a version: what was `dedup.sites.rest` is `dedup.sites.second_look` today.
"""

from dedup.store.records import QUEUED, TOO_DEEP

_TABLES = """
CREATE TABLE meta (name {text} PRIMARY KEY, value {text} NOT NULL){flat};

-- What is counted and leaves no row of its own, such as `links` in scope of recorded pages.
CREATE TABLE counters (name {text} PRIMARY KEY, value {big} NOT NULL){flat};

-- Every URL ever queued, by the 16-byte key of its canonical form, in order of discovery.
CREATE TABLE urls (
    id {row},
    key {bytes} NOT NULL UNIQUE,
    state {small} NOT NULL,
    rank {int} NOT NULL,          -- the lowest is fetched first; minus the request's priority
    depth {int} NOT NULL,         -- links from the start
    slot {text} NOT NULL,             -- whose turn it takes: the host
    url {text} NOT NULL,
    request {bytes}                    -- JSON, while queued; NULL: made anew from the URL
);
CREATE INDEX urls_queued ON urls (slot, rank, id) WHERE state = {QUEUED};
CREATE INDEX urls_too_deep ON urls (depth) WHERE state = {TOO_DEEP};
CREATE INDEX urls_not_linked ON urls (depth) WHERE depth = 0;

-- One copy of each page.
CREATE TABLE pages (
    number {big} PRIMARY KEY,
    name {text},                      -- the caller's id; NULL: the number
    url {text},
    host {text} NOT NULL,
    title {text} NOT NULL,
    language {text} NOT NULL,
    canonical_url {text},
    status {int},                 -- HTTP
    content_type {text} NOT NULL,
    encoding {text} NOT NULL,
    fetched_at {real} NOT NULL,       -- seconds since 1970, UTC
    size_bytes {big} NOT NULL,    -- of the body as received, after decompression
    depth {int} NOT NULL,         -- links from the start
    etag {text},                      -- what its server tells versions by
    last_modified {text},
    heading {text} NOT NULL,
    own_title {text},                 -- without what all titles of the site have
    source {text} NOT NULL,           -- of the text: given, box, landmark or page
    site_version {int},           -- of what was known of its host; NULL: nothing was
    rest {bytes},                      -- what is rare on the page: see `dedup.sites.rest`
    text {bytes} NOT NULL,             -- zstd, UTF-8
    body {bytes}                       -- zstd
);

-- What has been learned of each host's pages: see `dedup.sites`.
CREATE TABLE sites (host {text} PRIMARY KEY, value {bytes} NOT NULL);

-- Pages that resemble another one, and were kept for what else they say.
CREATE TABLE apart (
    page {big} PRIMARY KEY{page},
    original {big} NOT NULL{page},
    lines {text} NOT NULL             -- JSON: some that the original has not
);

-- How many pages of a host are in an encoding other than UTF-8, as far as that is sure.
CREATE TABLE encodings (
    host {text} NOT NULL,
    encoding {text} NOT NULL,         -- Python's name
    pages {big} NOT NULL,
    PRIMARY KEY (host, encoding)
){flat};

-- Pages that wait until enough is known of their host, in the order of their arrival. A page has
-- its number once it is judged.
CREATE TABLE waiting (
    place {place},
    url {text},
    host {text} NOT NULL,
    title {text} NOT NULL,
    language {text} NOT NULL,
    canonical_url {text},
    status {int},
    content_type {text} NOT NULL,
    encoding {text} NOT NULL,
    fetched_at {real} NOT NULL,
    size_bytes {big} NOT NULL,
    depth {int} NOT NULL,
    etag {text},
    last_modified {text},
    heading {text} NOT NULL,
    source {text} NOT NULL,
    text {bytes} NOT NULL,             -- zstd, UTF-8: what the page itself tells
    outline {bytes} NOT NULL,          -- zstd, JSON: what is learned from
    body {bytes} NOT NULL              -- zstd
);
CREATE INDEX waiting_host ON waiting (host);

-- Pages that were stored before enough was known of their host: read anew once it is.
CREATE TABLE early (
    page {big} PRIMARY KEY{page},
    host {text} NOT NULL,
    outline {bytes} NOT NULL           -- zstd, JSON
);
CREATE INDEX early_host ON early (host);

-- What pages were before they changed; `page` has the present version.
CREATE TABLE versions (
    page {big} NOT NULL{page},
    fetched_at {real} NOT NULL,
    title {text} NOT NULL,
    text {bytes} NOT NULL,             -- zstd, UTF-8
    body {bytes}                       -- zstd
);

-- What became of each page in each refresh: unchanged, changed, gone, moved or failed.
CREATE TABLE visits (
    refresh {int} NOT NULL,
    url {text} NOT NULL,
    outcome {text} NOT NULL,
    seen_at {real} NOT NULL,
    PRIMARY KEY (refresh, url)
){flat};

-- Every page dropped, and the stored page that it duplicates.
CREATE TABLE duplicates (
    number {big} PRIMARY KEY,
    name {text},
    url {text},
    host {text} NOT NULL,
    original {big} NOT NULL{page},
    stage {text} NOT NULL,
    distance {int},               -- bits
    resemblance {real},               -- 0 to 1
    fetched_at {real} NOT NULL,
    size_bytes {big} NOT NULL,
    title {text} NOT NULL,
    heading {text} NOT NULL,
    own_title {text},
    source {text} NOT NULL,
    site_version {int},
    text {bytes}                       -- zstd, UTF-8; NULL: the original's
);
CREATE INDEX duplicates_original ON duplicates (original);

-- Every URL that gave no page to compare. is_fetched: a response arrived, and counts as a page.
CREATE TABLE skipped (
    number {big} PRIMARY KEY,
    url {text} NOT NULL,
    host {text} NOT NULL,
    reason {text} NOT NULL,
    detail {text} NOT NULL,
    is_fetched {bool} NOT NULL,
    seen_at {real} NOT NULL,
    size_bytes {big} NOT NULL
);

-- Other URLs of a page, not fetched for themselves: kind is redirect or canonical.
CREATE TABLE aliases (
    url {text} NOT NULL,
    page_url {text} NOT NULL,
    kind {text} NOT NULL,
    PRIMARY KEY (url, kind)
){flat};

-- What the detectors' memory is rebuilt from.
CREATE TABLE signatures (
    stage {text} NOT NULL,
    page {big} NOT NULL{page},
    value {bytes} NOT NULL,
    PRIMARY KEY (stage, page)
){flat};
"""

_ADDED_TABLES = {
    # What pages declare of their use, see `dedup.preferences`; of waiting ones under minus their
    # place.
    "preferences": """
(
    page {big} PRIMARY KEY,
    value {text} NOT NULL             -- JSON
)""",
    # What hosts declare of the use of their pages, by the file in which they do.
    "host_preferences": """
(
    origin {text} NOT NULL,
    source {text} NOT NULL,
    seen_at {real} NOT NULL,          -- seconds since 1970, UTC
    value {text} NOT NULL,            -- JSON
    PRIMARY KEY (origin, source)
){flat}""",
    # Pages dropped for one of an earlier crawl, which have a record in `skipped`.
    "earlier": """
(
    number {big} PRIMARY KEY,         -- that of the record
    job {text} NOT NULL,              -- of the original, and what is known of that
    original {big} NOT NULL,
    original_name {text},
    original_url {text},
    original_title {text} NOT NULL,
    original_fetched_at {real} NOT NULL,
    stage {text} NOT NULL,
    distance {int},                   -- bits
    resemblance {real},               -- 0 to 1
    name {text},
    host {text} NOT NULL,
    url {text},
    title {text} NOT NULL,
    fetched_at {real} NOT NULL,
    size_bytes {big} NOT NULL,
    heading {text} NOT NULL,
    own_title {text},
    source {text} NOT NULL,
    site_version {int},
    text {bytes} NOT NULL             -- zstd, UTF-8
)""",
    # What sites told of pages at their last visits, see `dedup.revisits.hints`, and how often
    # they named pages that had changed or not, or kept silent.
    "lastmods": """
(
    url {text} PRIMARY KEY,
    value {text} NOT NULL,
    named_changed {int} NOT NULL,
    silent_changed {int} NOT NULL,
    named_same {int} NOT NULL,
    silent_same {int} NOT NULL
){flat}""",
    # What dropped pages say of where their text is from, see `dedup.groups`, if their originals are
    # on other hosts.
    "claims": """
(
    number {big} PRIMARY KEY,
    published {text},                 -- ISO 8601
    canonical_url {text},
    sources {text} NOT NULL           -- URLs, one a line
)""",
    # What the visits of each page found whose rows are deleted, see `retention`.
    "visited": """
(
    url {text} PRIMARY KEY,
    outcome {text},                   -- of the last that did not fail
    asked_at {real},                  -- the last one
    answered_at {real},               -- the last one that found the page, or where it has gone
    n_changed {int} NOT NULL,
    changed_seconds {real} NOT NULL,
    first_at {real}                   -- when the first version was fetched, if it is deleted
){flat}""",
    # How many pages of each host had each outcome, of the same visits.
    "visit_counts": """
(
    refresh {int} NOT NULL,
    host {text} NOT NULL,
    outcome {text} NOT NULL,
    pages {int} NOT NULL,
    PRIMARY KEY (refresh, host, outcome)
){flat}""",
    # How each page was read where some are rendered, see `dedup.rendering`.
    "rendering": """
(
    host {text} NOT NULL,
    url {text} NOT NULL,
    template {int},                   -- of the host; NULL: it was not asked for
    kind {text} NOT NULL,             -- of the raw page: full, thin or shell
    is_rendered {bool} NOT NULL,
    why {text} NOT NULL,
    seconds {real} NOT NULL,          -- that the browser took
    is_same {bool},                   -- did the raw page lack nothing? NULL: not compared
    sketch {bytes},                   -- of the first page of a template
    period {int} NOT NULL,            -- audits of the template until it was read
    PRIMARY KEY (host, url)
){flat}""",
    # What rendered pages were made from, see `dedup.rendering.inputs`.
    "inputs": """
(
    host {text} NOT NULL,
    url {text} NOT NULL,
    shell {text} NOT NULL,            -- a digest of the raw body
    answers {text} NOT NULL,          -- JSON: those that its scripts got, and the scripts
    fetched_at {real} NOT NULL,       -- of the version of the page that was made from these
    spared {int} NOT NULL,            -- the refresh in which it was not rendered for that; 0: none
    PRIMARY KEY (host, url)
){flat}""",
    # Whether the pages of a host can be told by what they were made from.
    "input_checks": """
(
    host {text} PRIMARY KEY,
    pages {int} NOT NULL,             -- that seemed to be the same
    has_failed {bool} NOT NULL        -- was one of these, when it was rendered, another one?
){flat}""",
}


def tables(types: dict[str, str]) -> str:
    """The statements that make the tables, with the database's names of types."""
    return _TABLES.format(**types, QUEUED=QUEUED, TOO_DEEP=TOO_DEEP)


def added_tables(types: dict[str, str]) -> dict[str, str]:
    """The definitions, by name, of those tables that earlier jobs of this version do not have."""
    return {name: text.format(**types).strip() for name, text in _ADDED_TABLES.items()}
