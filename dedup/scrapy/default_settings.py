"""Every setting of deduplication, with its default; `dedup.scrapy.config` reads and checks them.

They hold wherever the add-on does. Override any of them in a project's settings, in a spider's
`custom_settings`, or with `-s NAME=VALUE`.
"""

# --- The job -----------------------------------------------------------------------------------

DEDUP_ENABLED = True
"""Switch for everything below."""

DEDUP_KEEP_JOBS = False
"""Keep every crawl's job, so that the same command goes on where it stopped. Off, as Scrapy's users
expect: a job is kept where JOBDIR or DEDUP_JOB is set, and else ends with the crawl and leaves no
file. The project's own settings switch it on."""

DEDUP_JOBS_DIR = "crawls"
"""Folder that holds the folders of jobs. Scrapy's JOBDIR, where set, names the job's own folder."""

DEDUP_JOB = ""
"""Name of the job, a folder below DEDUP_JOBS_DIR. "": of the project's own spiders, the argument
`job`; where jobs are kept, else made from the spider's name and arguments, so that the same command
means the same job. A job is refused to a spider of another name, or with other arguments."""

DEDUP_RESTART = False
"""Begin a kept job anew (`-s DEDUP_RESTART=1`); the job that exists is kept beside it, under the
name JOB.old-1. The project's own spiders also take `-a restart=1`."""

DEDUP_STORE_BODIES = True
"""Keep the body of each unique page (zstd), so that it can be exported or extracted anew. Off:
texts only, about a third of the disk space."""

DEDUP_STORE_GROUP_PAGES = 100
"""Pages that are committed together, 1 or more. A killed crawl fetches at most these again; larger
groups gain little: commits are 1% of the time at 100."""

DEDUP_STORE_GROUP_SECONDS = 1.0
"""Longest wait of a finished page for its commit, seconds, more than 0: bounds what a kill costs on
a slow crawl."""

DEDUP_STOP_SECONDS = 5.0
"""How long a crawl that is asked to stop (Ctrl-C) waits for the responses under way, seconds, 0 or
more. What has not come by then stays queued. Most pages come within a second; a silent server would
keep the crawl for DOWNLOAD_TIMEOUT."""

DEDUP_HOST_WAIT_SECONDS = 0.0
"""How long a host is waited for that was there and cannot be reached any more, seconds, 0 or more.
Its URLs stay queued, and it is asked after 1, 2, 4 and up to 60 seconds; then they are recorded as
`host_unreachable`, for `dedup retry`. 0: not at all, Scrapy's retries are all. This project's own
crawls wait for 900: a server's restart takes seconds, a provider's fault some minutes."""

DEDUP_ROBOTS_WAIT_SECONDS = 300.0
"""How long a host is waited for whose robots.txt answers 5xx, 429 or not at all, seconds, 0 or
more; then its URLs are recorded as `robots_unavailable`. RFC 9309 has such a host taken for closed.
For the middleware `Robots`, which this project's own crawls have in place of Scrapy's."""

# --- URLs --------------------------------------------------------------------------------------

DEDUP_URL_ENABLED = True
"""Filter URLs by their canonical form. Off: Scrapy's own dupefilter."""

DEDUP_URL_RULES: list[str] = []
"""Rules that also merge URLs which may differ, by name: tracking, session, slash, index, www,
https, and drop:NAME, which ignores the parameter NAME. None by default: on some site each of them
merges different pages. `dedup report` tells which would help. See dedup.urls.rules."""

DEDUP_URL_CAPACITY = 100_000
"""URLs the Bloom filter is first made for, 1 or more; it grows by itself. 0.4 MB at the default
error rate."""

DEDUP_URL_ERROR_RATE = 1e-6
"""Chance that a new URL needs a look into the store, 0 to 1. Costs some 34 bits a URL at 1e-6 when
the filter is full; 1e-3 costs half, and one look-up in a thousand."""

DEDUP_URL_EXACT = True
"""Confirm in the store what the Bloom filter calls seen. Off: no look-ups, and a share of
DEDUP_URL_ERROR_RATE of the new URLs is never fetched."""

DEDUP_URL_CANONICAL = "rules"
"""When a page's canonical link counts as a seen URL of the same page: "rules" (the two URLs are
the same under all URL rules together: the page confirms what a rule would guess), "any", or "off".
"any" loses pages where old versions name the current one as canonical, as large documentation sites
do; at "rules" such a link is one more URL, fetched if linked, and compared."""

DEDUP_URL_LEARNING = "suggest"
"""What is done with URL rules that the crawl learns from equal pages, such as a parameter that
changes nothing: "suggest" (nothing while it goes; the report names them), "defer" (URLs that a rule
calls a known page are fetched after all others: nothing is lost, and a crawl that `max_pages`
stops has spent its pages on new ones), or "skip" (once a rule is trusted, a random share of those
is fetched and the others are recorded as `learned_rule`). "suggest" by default, for a crawl that
fetches everything gains nothing from another order. For the project's own spiders; see
docs/url_rules.md."""

DEDUP_URL_LEARNING_LOSS = 0.001
"""The share of a host's pages that "skip" may lose, 0.000001 to 0.1, at 95% for each rule; a host's
rules share it, and each may lose one page. Audits and probes follow from it: at 0.001 a host of
10,000 pages and one rule has 24% of the matching URLs fetched, at 0.01 5%. With fewer, the bound
would be a guess."""

DEDUP_TRAP_PAGES = 0
"""URLs that look like a trap (200 links from the start, paths that repeat themselves, calendars of
years to come, patterns of which nearly all pages are duplicates) are fetched after all others of
all hosts, at most so many of each pattern, 0 or more; the others are recorded as `trap`. 0: they
are fetched as any other. This project's own crawls fetch 2,000: more than any chain of "next" links
that we have seen. What was fetched before an interruption counts. For the project's own spiders."""

DEDUP_HOST_PAGES = 0
"""How many pages of a host are fetched, 0 or more, all runs of the job together; its other URLs are
recorded as `host_pages`, and are fetched by `dedup retry --reason host_pages` once the setting is
raised. Pages that are known and visited again by a refresh do not count. 0: no limit, as most sites
end by themselves; a crawl of many hosts that nobody watches is bounded by 100,000 or so."""

DEDUP_ALLOW_PRIVATE = True
"""May links, redirects and sitemaps of public hosts lead to private, loopback and link-local
addresses, and to other schemes than http and https? False in this project's own crawls, where the
middleware `PublicWeb` is on: what the user starts from may be private, and what private hosts link
to, and nothing else. True there opens it, for those who crawl an intranet."""

# --- Items -------------------------------------------------------------------------------------

DEDUP_ITEM_TEXT_FIELDS = ["text"]
"""Fields of items that hold their text, one name or more; several are compared together, one after
the other. An item without any is read from its `html` or `body`; one without those is no page, and
passes. The project's own spiders' items are not meant."""

DEDUP_ITEM_URL_FIELD = "url"
"""The field that holds an item's URL. It tells of which host a page is, and is in all records."""

DEDUP_ITEM_KEY_FIELDS: list[str] = []
"""Fields whose values have to be equal, too, for two items to be duplicates: of 30 reviews with
equal text for different products, ["product"] keeps all. None by default: texts decide."""

# --- Main text ---------------------------------------------------------------------------------

DEDUP_TEXT_EXTRACTOR = "content"
"""What takes the text out of a page: "content" (by the templates of its site, which are learned
while the crawl goes; where none is known, by what the page declares, and by rules), "resiliparse"
(rules alone), "trafilatura" (install the extra of that name), or "all" (all visible text). See
docs/detection.md for the figures."""

DEDUP_WAITING_PAGES = 10_000
"""Pages of all hosts that wait for their template at the same time, 0 or more. A page waits until
ten pages of its template have come, in the job's store, some 20 kB each. What would be one too many
goes on without its template: it is kept, and read anew later. 0: no page waits."""

DEDUP_READ_PROCESSES = "auto"
"""Processes that read pages (decode, parse, extract, sign) beside the crawl's own, 0 or more, some
90 MB each. This is how many there may be: the first starts with the first page, others while pages
wait and the crawl's own process has time to spare. "auto": one for each core, none where there is
a single one. Beside a slow page there is one more where none is left for the others. For the
project's own spiders; docs/benchmarks.md has what they gain."""

DEDUP_READ_CPU_SECONDS = 5.0
"""CPU time that the reading of a page may take, seconds, 0.1 to 3,600. A page that takes more is
recorded as `too_complex`, and the process that reads it is replaced. Pages take milliseconds, the
largest manuals of 10 MB a second or two; more is made to hold a crawl up."""

DEDUP_READ_MEMORY_MB = 1000
"""Memory that a reading process may take, MB (MiB), 200 or more. A page that needs more is recorded
as `too_complex`. A page of 10 MB takes 200 to 400 MB; more than a gigabyte, some made for that."""

DEDUP_ROBOTS_META_OBEY = True
"""Leave pages marked noindex out of the store and links marked nofollow unfollowed, be it by robots
meta, X-Robots-Tag or `rel=nofollow`. The closing table counts such links. Where a site's theme puts
rel=nofollow on its own links, 0 follows them."""

# --- Content: exact ----------------------------------------------------------------------------

DEDUP_BODY_ENABLED = True
"""Find pages whose bodies are the same bytes."""

DEDUP_TEXT_ENABLED = True
"""Find pages whose main texts (where short, titles too) are equal up to case and width."""

DEDUP_SENTENCES_ENABLED = True
"""Find pages whose longest sentences are the same, then compare the texts."""

DEDUP_SENTENCES_COUNT = 3
"""Longest sentences in the signature, 1 or more. 3 is what Baidu is said to use; fewer gives more
candidates to compare."""

# --- Content: near -----------------------------------------------------------------------------

DEDUP_NEAR_RESEMBLANCE = 0.8
"""Resemblance (Jaccard coefficient of shingles) from which two texts are near duplicates, above 0
to 1. At 0.8 a reader finds the same page with small changes; at 0.5, another page of the same
form."""

DEDUP_NEAR_NAMES = "agree"
"""Two pages of one host with different names of their own (title without the site's part, first
heading; versions do not count) are two pages unless their texts are equal. "ignore": names do not
count, and a page that differs from another in little more than its name is dropped."""

DEDUP_SHORT_SHINGLES = 50
"""Texts of fewer shingles are compared exactly, 1 or more: one other word changes 3 shingles, and a
fingerprint of so few is noise."""

DEDUP_SIMHASH_ENABLED = True
"""Find near duplicates by simhash."""

DEDUP_SIMHASH_BITS = 64
"""Width of the fingerprints, 64 or 128 bits. 64 is enough for billions of pages; 128 takes half as
much memory again."""

DEDUP_SIMHASH_CHINESE = "characters"
"""Features of texts without spaces between words: "characters" (single, by frequency), "segments"
(words cut by jieba's dictionary), or "segments-idf" (weighted by jieba's IDF table). Of the near
duplicates among Chinese laws, characters find .908; segments .892 at ten times the cost; IDF .800.
"""

DEDUP_SIMHASH_DISTANCE = 3
"""Bits in which the fingerprints of candidates may differ, 0 to 7. 3 of 64 is Manku's choice for
the web; each bit more multiplies the candidates."""

DEDUP_MINHASH_ENABLED = True
"""Find the near duplicates that simhash does not reach, by MinHash bands."""

# --- Output ------------------------------------------------------------------------------------

DEDUP_REPORT_ENABLED = True
"""Write `report.html`, which shows what was dropped and why, when the crawl ends. Takes a second or
two for 3,000 pages, five for 100,000; `dedup report JOB` writes it at any time."""

DEDUP_REPORT_FILE = ""
"""Where the report goes, a file's name that ends in ".html". "": into the job's folder, and nowhere
where no job is kept."""

DEDUP_PROGRESS = "table"
"""What is shown on standard error: "table" (one when the crawl ends, nothing before: the log is the
project's; nothing at all with LOG_ENABLED off), "live" (before it a panel that renews itself twice
a second; without a terminal it is "plain"), "plain" (a line a minute), "auto" (live on a terminal,
else plain; so in the project's own crawls), or "off"."""

DEDUP_PROMETHEUS_FILE = ""
"""Where the crawl's numbers go for Prometheus' node exporter: a name in the job's folder, or a path
in the exporter's textfile folder; it ends in ".prom". "": nowhere. Needs the extra `prometheus`."""

DEDUP_PROMETHEUS_SECONDS = 15.0
"""How often that file is written, seconds, 0.1 or more: as often as Prometheus usually asks."""
