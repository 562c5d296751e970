"""Every setting of deduplication, with its default; `dedup.scrapy.config` reads and checks them.

They apply wherever the add-on is used. Override any of them in a project's settings, in a spider's
`custom_settings`, or with `-s NAME=VALUE`.
"""

from dedup import detectors

# --- The job -----------------------------------------------------------------------------------

DEDUP_ENABLED = True
"""Switches everything below on or off."""

DEDUP_KEEP_JOBS = False
"""Keep every crawl's job, so that the same command resumes it. Off, as Scrapy's users expect: a job
is kept if JOBDIR or DEDUP_JOB is set; if not, it ends with the crawl and leaves no file. The
project's own settings switch it on."""

DEDUP_STORE = ""
"""Where jobs are kept: "": in SQLite, in the job's folder; `postgresql://USER@HOST:PORT/DATABASE`:
in PostgreSQL, for crawls that one machine is too small for; a job is a schema of its name there
(lower case letters, digits, _ and -), and its folder holds what each process reports. Install the
extra `postgresql`. A password is better kept in PGPASSWORD or ~/.pgpass; it is never shown. See
docs/cluster.md."""

DEDUP_WORKER_LEASE_SECONDS = 60.0
"""Where processes share a job: one that has given no sign of life for so long, seconds, 5 or more,
loses its hosts to others, and cannot write any more. A sign is given each second; a page that is
hard to read may hold a process up for DEDUP_READ_CPU_SECONDS, a busy machine for longer."""

DEDUP_JOBS_DIR = "crawls"
"""Folder of the folders of jobs. If Scrapy's JOBDIR is set, that is the job's folder."""

DEDUP_JOB = ""
"""Name of the job, a folder below DEDUP_JOBS_DIR. "": for the project's own spiders, the argument
`job`; otherwise, if jobs are kept, a name made from the spider's name and arguments, so that the
same command is the same job. A spider of another name or with other arguments cannot use the job.
"""

DEDUP_RESTART = False
"""Start a new job in place of a kept one (`-s DEDUP_RESTART=1`), which is renamed to JOB.old-1. The
project's own spiders also take `-a restart=1`."""

DEDUP_STORE_BODIES = True
"""Keep the body of each unique page (zstd), so that it can be exported or extracted anew. Off:
texts only, about a third of the disk space."""

DEDUP_HOST_WAIT_SECONDS = 0.0
"""How long a host is paused that has answered before and cannot be reached now, seconds, 0 or more.
Its URLs stay queued, and it is tried after 1, 2, 4 and up to 60 seconds; then its URLs are recorded
as `host_unreachable`, for `dedup retry`. 0: no pause, only Scrapy's retries. This project's own
crawls wait for 900: a server restarts within seconds, a provider's fault lasts some minutes."""

# --- URLs --------------------------------------------------------------------------------------

DEDUP_URL_ENABLED = True
"""Filter URLs by their canonical form. Off: Scrapy's own dupefilter.

REQUEST_FINGERPRINTER_CLASS stays as it is, and with it what HTTP caches and other packages know.
Where it is not Scrapy's own, as with scrapy-poet, it decides which requests are the same, in place
of the canonical form. Scrapy's own scheduler goes on with a JOBDIR that it has begun, and with its
dupefilter; so does another SCHEDULER of the project's."""

DEDUP_URL_RULES: list[str] = []
"""Rules that also merge URLs which may differ, by name: tracking, session, slash, index, www,
https, and drop:NAME, which ignores the parameter NAME. None by default: on some site each of them
merges different pages. The report and `dedup stats JOB --by pattern` suggest rules after a crawl,
each with the fetches that it would have saved and the pages that it would have lost. See
dedup.urls.rules."""

DEDUP_URL_EXACT = True
"""Look URLs up in the store that the Bloom filter reports as seen. Off: one in a million of the new
URLs is never fetched."""

DEDUP_URL_CANONICAL = "rules"
"""When a page's canonical link counts as a seen URL of the same page: "rules" (the two URLs are
equal if all URL rules are applied: the page confirms what a rule would guess), "any", or "off".
With "any" pages are lost where old versions name the current one as canonical, as large
documentation sites do; with "rules" such a link is another URL, fetched if linked, and compared."""

DEDUP_DUPLICATE_LINKS = "follow"
"""What is done with links that were found on duplicates alone: "follow" (they are fetched as any
other), "defer" (after all others: nothing is lost, and a crawl that `max_pages` stops has spent its
pages on new ones), or "skip" (not at all; recorded as `duplicate_link`). A link is followed at once
when a page has it that is kept, or that waits. "follow" by default: of five sites
two have duplicates, where 2.6% and 3.3% of the pages have no other links to them. For the project's
own spiders; see docs/duplicate_links.md."""

DEDUP_TRAP_PAGES = 0
"""Maximum number of pages of each pattern of URLs that looks like a trap, 0 or more; other URLs of
the pattern are recorded as `trap`. Such URLs are fetched after all others of all hosts. These look
like a trap: URLs 200 links from the start, paths that repeat themselves, calendars of future years,
and patterns of which nearly all pages are duplicates. 0: they are fetched like all others. This
project's own crawls fetch 2,000: more than any chain of "next" links that we have seen. Pages that
were fetched before an interruption count. For the project's own spiders."""

DEDUP_HOST_PAGES = 0
"""Maximum number of pages of a host, 0 or more, in all runs of the job; the host's other URLs are
recorded as `host_pages`, and `dedup retry --reason host_pages` queues them again when the setting
is raised. Pages that a refresh visits again do not count. 0: no limit, as most sites are finite;
100,000 is a useful limit for a crawl of many hosts without supervision."""

DEDUP_ALLOW_PRIVATE = True
"""May links, redirects and sitemaps of public hosts lead to private, loopback and link-local
addresses, and to other schemes than http and https? False in this project's own crawls, which use
the middleware `PublicWeb`: only start URLs, and URLs that private hosts link to, may be private.
True is for crawls of an intranet."""

# --- Items -------------------------------------------------------------------------------------

DEDUP_ITEM_TEXT_FIELDS = ["text"]
"""Fields of items that have their text, one name or more; the texts of several fields are joined.
For an item without such text, or with an empty one, the text is taken from its `html` or `body`;
an item without these is not a page, and is passed on. It does not apply to items of the project's
own spiders."""

DEDUP_ITEM_URL_FIELD = "url"
"""The field that has an item's URL. The URL gives the page's host, and is in all records."""

DEDUP_ITEM_IGNORE_FIELDS: list[str] = []
"""Further fields that tell no items apart. By default all that an item says counts, but for what
differs between copies by nature: its URL, markup, times of fetches, and ids made for each item; see
docs/own_project.md. An item that has only text, title, URL and markup is a page."""

DEDUP_ITEM_KEY_FIELDS: list[str] = []
"""If there are any, these fields alone tell items apart, besides the text: of 30 reviews with equal
text for different products, ["product"] keeps one for each product, whoever wrote it. A field that
no item had is told of at the end."""

# --- Main text ---------------------------------------------------------------------------------

DEDUP_TEXT_EXTRACTOR = "content"
"""How the text of a page is extracted: "content" (by what the pages of its site repeat, which is
learned during the crawl; before that, by what the page declares, and by rules), "resiliparse" (by
rules), "trafilatura" (needs the extra of that name), or "all" (all visible text). See
docs/detection.md for the figures."""

DEDUP_WAITING_PAGES = 10_000
"""Maximum number of pages, of all hosts, that wait until more is known of their host, 0 or more. A
page waits in the job's store, about 20 kB each, until pages of ten different names of its host have
been fetched. A page beyond the maximum is judged as it is: it is stored, and read again later. 0:
no page waits."""

DEDUP_READ_PROCESSES = "auto"
"""Maximum number of processes that read pages (decode, parse, extract, sign) beside the crawl's,
0 or more, about 90 MB each. The first starts with the first page, others when pages wait and the
crawl's own process is not busy. "auto": one for each core, none on a machine with one core. While
slow pages occupy all of them, one more is started. For the project's own spiders; the gain is in
docs/benchmarks.md."""

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

# --- Content -----------------------------------------------------------------------------------

globals().update({f"DEDUP_{stage.upper()}_ENABLED": True for stage in detectors.STAGES})
"""The switch of each stage: DEDUP_BODY_ENABLED finds pages whose bodies are the same bytes;
DEDUP_TEXT_ENABLED, equal main texts (where short, titles too) up to case and width;
DEDUP_SENTENCES_ENABLED, the same longest sentences, then compared; DEDUP_SIMHASH_ENABLED, close
fingerprints; DEDUP_MINHASH_ENABLED, near duplicates that simhash does not reach."""

DEDUP_NEAR_RESEMBLANCE = 0.8
"""Resemblance (Jaccard coefficient of shingles) from which two texts are near duplicates, above 0
to 1. At 0.8 a reader finds the same page with small changes; at 0.5, another page of the same
form."""

DEDUP_NEAR_NAMES = "agree"
"""Two pages of one host with different names of their own (title without the site's part, first
heading; versions do not count) are two pages unless their texts are equal. "ignore": names do not
count, and a page that differs from another in little more than its name is dropped."""

DEDUP_SIMHASH_CHINESE = "characters"
"""Features of texts without spaces between words: "characters" (single, by frequency), "segments"
(words cut by jieba's dictionary), or "segments-idf" (weighted by jieba's IDF table). Of the near
duplicates among Chinese laws, characters find .908; segments .892 at ten times the cost; IDF .800.
"""

DEDUP_SIMHASH_DISTANCE = 3
"""Bits in which the fingerprints of candidates may differ, 0 to 7. 3 of 64 is Manku's choice for
the web; each bit more multiplies the candidates."""

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
in the exporter's textfile folder; it ends in ".prom", and is written every 15 seconds. "": nowhere.
Needs the extra `prometheus`."""
