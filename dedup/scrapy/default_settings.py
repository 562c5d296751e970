"""All deduplication settings with their defaults; `dedup.scrapy.config` reads and checks them.

They apply wherever the add-on is used. Override them in the project's settings, in a spider's
`custom_settings`, or with `-s NAME=VALUE`.
"""

from dedup import detectors

# --- The job -----------------------------------------------------------------------------------

DEDUP_ENABLED = True
"""Switch everything below on or off."""

DEDUP_KEEP_JOBS = False
"""Keep every crawl's job, so that the same command resumes it. Off, as Scrapy users expect: a job
is kept only if JOBDIR or DEDUP_JOB is set; otherwise it ends with the crawl and leaves no files. On
in this project's own settings."""

DEDUP_STORE = ""
"""Where jobs are kept. "": SQLite, in the job's folder. `postgresql://USER@HOST:PORT/DATABASE`:
PostgreSQL, for crawls too large for one machine. There a job is a schema with its name (lower case
letters, digits, _ and -), and its folder holds each process's reports. Needs the extra
`postgresql`. Put the password in PGPASSWORD or ~/.pgpass; it is never shown. See docs/cluster.md.
"""

DEDUP_PROCESSES = 1
"""Number of processes that crawl one job on this machine, 1 or more, or "auto": one for every two
cores. They divide the hosts between them, so a site of one host gains nothing. For `scrapy crawl`
with a job that is kept in its folder, and feeds in JSON Lines; other projects also need
COMMANDS_MODULE = "dedup.scrapy.commands". See docs/cluster.md."""

DEDUP_WORKER_LEASE_SECONDS = 60.0
"""In a shared job, a process that gives no sign of life for this long, seconds, 5 or more, loses
its hosts to others and can no longer write. A sign is given each second, but a complex page can
delay a process by DEDUP_READ_CPU_SECONDS, a busy machine by more."""

DEDUP_JOBS_DIR = "crawls"
"""Folder that holds the jobs' folders. If Scrapy's JOBDIR is set, that is the job's folder."""

DEDUP_JOB = ""
"""Name of the job, a folder below DEDUP_JOBS_DIR. "": for this project's own spiders, the argument
`job`; otherwise, if jobs are kept, a name derived from the spider's name and arguments, so that the
same command means the same job. A spider with another name or other arguments cannot use the job.
"""

DEDUP_BASELINE: list[str] = []
"""Jobs of earlier crawls: folders, files or `postgresql://USER@HOST:PORT/DATABASE#JOB`. A page that
one of them has is dropped, with that job's page as the original; it is recorded as `earlier_crawl`.
The jobs are only read, and several crawls can have the same ones. See docs/earlier_crawls.md."""

DEDUP_RESTART = False
"""Start a new job and rename the kept one to JOB.old-1 (`-s DEDUP_RESTART=1`). This project's own
spiders also take `-a restart=1`."""

DEDUP_STORE_BODIES = True
"""Keep the body of each unique page (zstd) with the headers of its response and request, for export
or a new extraction. Off: texts, and what `dedup export --fields` is computed from (what the page
declares, the markup of its text)."""

DEDUP_HOST_WAIT_SECONDS = 0.0
"""How long to wait for a host that has answered before but is now unreachable, seconds, 0 or more.
Its URLs stay queued while it is tried after 1, 2, 4 and up to 60 seconds; then they are recorded as
`host_unreachable`, for `dedup retry`. 0: no wait, only Scrapy's retries. This project's own crawls
wait 900: a server restarts within seconds, a provider's outage lasts some minutes."""

# --- URLs --------------------------------------------------------------------------------------

DEDUP_URL_ENABLED = True
"""Filter URLs by their canonical form. Off: Scrapy's own dupefilter.

REQUEST_FINGERPRINTER_CLASS is unchanged, so HTTP caches and other packages work as before. If it is
not Scrapy's own, as with scrapy-poet, it decides which requests are equal, instead of the canonical
form. Scrapy's own scheduler keeps a JOBDIR it started, and its dupefilter; so does any other
SCHEDULER set by the project."""

DEDUP_URL_RULES: list[str] = []
"""Names of riskier rules that also merge URLs: tracking, session, slash, index, www, https, and
drop:NAME, which ignores the parameter NAME. None by default: each merges different pages on some
site. After a crawl, the report and `dedup stats JOB --by pattern` suggest rules, with the fetches
each would have saved and the pages it would have lost. See dedup.urls.rules."""

DEDUP_URL_EXACT = True
"""Confirm in the store what the Bloom filter reports as seen. Off: one in a million new URLs is
never fetched."""

DEDUP_URL_CANONICAL = "rules"
"""When a page's canonical link counts as a seen URL of the same page: "rules" (if the two URLs are
equal under all URL rules: the page confirms what a rule would guess), "any", or "off". "any" loses
pages where old versions name the current one as canonical, as large documentation sites do; with
"rules" such a link is a separate URL, fetched if linked, and compared."""

DEDUP_DUPLICATE_LINKS = "follow"
"""What to do with links found only on duplicates: "follow" (fetch them like any other), "defer"
(fetch them last: nothing is lost, and a crawl stopped by `max_pages` has spent its pages on new
ones), or "skip" (do not fetch; record as `duplicate_link`). A link on a kept or waiting page is
followed at once. "follow" by default: of five sites two have duplicates, and there 2.6% and 3.3% of
the pages have no other links to them. Only for this project's own spiders; see
docs/duplicate_links.md."""

DEDUP_TRAP_PAGES = 0
"""Maximum number of pages per URL pattern that looks like a trap, 0 or more; the pattern's other
URLs are recorded as `trap`. Such URLs are fetched after all others of all hosts. These look like a
trap: URLs 200 links from the start, paths that repeat themselves, calendars of future years, and
patterns whose pages are nearly all duplicates. 0: fetch them like any other, and routes that show
nothing new (docs/rendering.md), too. This project's own crawls fetch 2,000: more than any chain of
"next" links we have seen. Pages fetched before an interruption count. Only for this project's own
spiders."""

DEDUP_HOST_PAGES = 0
"""Maximum number of pages per host, 0 or more, in all runs of the job. The host's other URLs are
recorded as `host_pages`; after raising the setting, `dedup retry --reason host_pages` requeues
them. Pages revisited by a refresh do not count. 0: no limit, as most sites are finite; 100,000 is
a useful limit for unattended crawls of many hosts."""

DEDUP_HISTORY_DAYS = 0.0
"""How long a job that is refreshed keeps what its pages were, days, 0 or more; 0: for ever. The end
of a refresh deletes versions of pages that were replaced before, and when pages went, moved and
came back; `dedup changes --since` reaches as far back. How often a page has changed stays known,
and the rows of visits that found no change are summed up after 64 refreshes in any case. By
default nothing is deleted that was a page's text; docs/refresh.md has what that takes. A crawl that
stays for years needs a limit: 365, or 30 for a site that changes each hour."""

DEDUP_ALLOW_PRIVATE = True
"""Whether links, redirects and sitemaps of public hosts may lead to private, loopback and
link-local addresses, and to schemes other than http and https. False in this project's own crawls,
which use the middleware `PublicWeb`: only start URLs and URLs linked from private hosts may be
private. Set True for an intranet."""

# --- Items -------------------------------------------------------------------------------------

DEDUP_ITEM_TEXT_FIELDS = ["text"]
"""Item fields that hold the text, one name or more; several texts are joined. If the text is
missing or empty, it is extracted from the item's `html` or `body`; an item without these is not a
page and passes. Not used for items of this project's own spiders."""

DEDUP_ITEM_URL_FIELD = "url"
"""The item field that holds the URL. The URL determines the page's host and is in all records."""

DEDUP_ITEM_IGNORE_FIELDS: list[str] = []
"""More fields that do not distinguish items. By default every field counts except those that differ
between copies by nature: URL, markup, fetch times, and ids generated per item; see
docs/own_project.md. An item with only text, title, URL and markup is a page."""

DEDUP_ITEM_KEY_FIELDS: list[str] = []
"""If set, only these fields and the text distinguish items: of 30 reviews with equal text for
different products, ["product"] keeps one per product, whoever wrote it. A field that no item had is
reported at the end."""

DEDUP_PAGE_FIELDS: list[str] = []
"""Fields to compute for the items of kept pages, such as ["markdown", "language", "published"]; see
docs/export.md for all of them. Items of this project's own spiders, and their feeds, get these
fields; other items get values in empty fields of these names. [] by default: most fields take some
ms a page, and `dedup export JOB --fields` computes them later."""

# --- Main text ---------------------------------------------------------------------------------

DEDUP_TEXT_EXTRACTOR = "content"
"""How to extract a page's text: "content" (by what its site repeats, learned during the crawl;
before that, by what the page declares, and by rules), "resiliparse" (by rules), "trafilatura"
(needs the extra of that name), or "all" (all visible text). See docs/detection.md for figures."""

DEDUP_DOCUMENTS: list[str] = []
"""Formats of documents to read besides HTML, "pdf", "docx", "odt"; links to them are followed.
Their texts are in the same index, so a report as PDF and as HTML meet if their texts do. [] by
default: none. "pdf" needs the extra `documents`. Only for this project's own spiders; see
docs/documents.md."""

DEDUP_WAITING_PAGES = 10_000
"""Maximum number of pages, over all hosts, that wait until more is known of their host, 0 or more.
A page waits in the job's store, about 20 kB each, until pages with ten different names of its host
have been fetched. A page beyond the maximum is judged without waiting: it is stored, and read again
later. 0: no page waits."""

DEDUP_READ_PROCESSES = "auto"
"""Maximum number of processes that read pages (decode, parse, extract, sign) in addition to the
crawl's own, 0 or more, about 90 MB each. The first starts with the first page, others when pages
wait and the crawl's own process is not busy. "auto": one per core, none on a single core; with
DEDUP_PROCESSES, each process has its part of the cores. While slow pages occupy all of them, one
more is started. Only for this project's own spiders; for the gain see docs/benchmarks.md."""

DEDUP_READ_CPU_SECONDS = 5.0
"""CPU time allowed for reading a page, seconds, 0.1 to 3,600. A page that exceeds it is recorded as
`too_complex`, and its reading process is replaced. Pages take milliseconds, the largest manuals of
10 MB a second or two; pages that take more are made to stall crawls."""

DEDUP_READ_MEMORY_MB = 1000
"""Memory allowed for a reading process, MB (MiB), 200 or more. A page that needs more is recorded
as `too_complex`. A page of 10 MB takes 200 to 400 MB; only pages made for it take over a gigabyte.
"""

DEDUP_ROBOTS_META_OBEY = True
"""Do not store noindex pages or follow nofollow links, whether marked by robots meta, X-Robots-Tag
or `rel=nofollow`. The closing table counts such links. If a site's theme puts rel=nofollow on its
own links, set 0 to follow them."""

DEDUP_TDM_FILES = False
"""Also fetch `/.well-known/tdmrep.json` of each host, one more request, and record what it reserves
(see docs/export.md). For crawls that obey robots.txt."""

# --- Rendering ---------------------------------------------------------------------------------

DEDUP_RENDER = "off"
"""Whether a browser renders pages that scripts make: "off"; "auto": those that need it, learned by
host and template; "always": every HTML page that is not a duplicate by its raw text. Needs the
extra `render` and Chromium. "off" by default: a page takes .8 s of CPU, as measured on two of the
sites in docs/rendering.md. Only for this project's own spiders."""

DEDUP_RENDER_SECONDS = 15.0
"""Seconds for which a page may keep the browser busy, 1 to 300. Most pages take one to three (an
estimate). One that takes longer comes again at the end of the crawl, when nothing else runs."""

DEDUP_RENDER_PAGES = 4
"""Pages that are rendered at the same time, 1 to 64. Estimated for two cores: a page computes for
.8 s and waits for half a second or longer. The estimate of its memory is 100 MB or more."""

DEDUP_RENDER_MEMORY_MB = 1024
"""Memory of each of the browser's processes, MB (MiB), 256 or more; one that takes more is ended,
and the page that it shows is not rendered. On Linux."""

DEDUP_RENDER_SCROLLS = 0
"""How often a page that is rendered is asked for more, 0 to 1000: it is scrolled to its end, or, if
that brings nothing, its button "load more" is pressed, until nothing new comes. Each time takes at
least half a second of `DEDUP_RENDER_SECONDS`. 0 by default: few pages need it, and all that are
rendered take that time. See docs/rendering.md."""

DEDUP_RENDER_THIRD_PARTIES = True
"""May pages that are rendered ask hosts out of the crawl's scope, for example for their scripts? If
not, pages whose scripts or data come from elsewhere remain incomplete."""

# --- Content -----------------------------------------------------------------------------------

globals().update({f"DEDUP_{stage.upper()}_ENABLED": True for stage in detectors.STAGES})
"""Switches of the stages. DEDUP_BODY_ENABLED finds identical bodies; DEDUP_TEXT_ENABLED, main texts
(and titles, if short) that are equal ignoring case and width; DEDUP_SENTENCES_ENABLED, the same
longest sentences, then compared; DEDUP_SIMHASH_ENABLED, close fingerprints; DEDUP_MINHASH_ENABLED,
near duplicates that simhash misses."""

DEDUP_NEAR_RESEMBLANCE = 0.8
"""Minimum resemblance (Jaccard coefficient of shingles) of near duplicates, above 0 to 1. At 0.8 a
reader sees the same page with small changes; at 0.5, a different page of the same form."""

DEDUP_NEAR_NAMES = "agree"
"""Pages of one host with different names (title without the site's part, first heading; versions do
not count) are distinct unless their texts are equal. "ignore": names do not count, and a page that
differs from another in little more than its name is dropped."""

DEDUP_SIMHASH_CHINESE = "characters"
"""Features of texts without spaces between words: "characters" (single, by frequency), "segments"
(words by jieba's dictionary), or "segments-idf" (weighted by jieba's IDF table). Of the near
duplicates among Chinese laws, characters find .908; segments .892 at ten times the cost; IDF .800.
"""

DEDUP_SIMHASH_DISTANCE = 3
"""Maximum number of differing bits between candidates' fingerprints, 0 to 7. 3 of 64 is Manku's
choice for the web; each further bit multiplies the candidates."""

DEDUP_INDEX_MEMORY_MB = 2000
"""Memory for the indexes of all stages, MB (MiB), 64 or more, in each process that crawls; beyond
it, parts of them are in files in the job's folder, which have no name and vanish with the process.
An index takes 180 bytes a page: 8 million pages fit the default. With files the same duplicates are
found, by look-ups that take two to three times as long while the system has the files in its cache.
See docs/scaling.md."""

# --- Output ------------------------------------------------------------------------------------

DEDUP_REPORT_ENABLED = True
"""Write `report.html`, which shows what was dropped and why, when the crawl ends. Takes a second or
two for 3,000 pages, five for 100,000. `dedup report JOB` writes it at any time."""

DEDUP_REPORT_FILE = ""
"""The report's path, ending in ".html". "": in the job's folder; no report if no job is kept."""

DEDUP_PROGRESS = "table"
"""What to show on standard error: "table" (only a table when the crawl ends; nothing with
LOG_ENABLED off), "live" (also a panel, updated twice a second; "plain" without a terminal), "plain"
(also a line per minute), "auto" (live on a terminal, else plain; used in this project's own
crawls), or "off"."""

DEDUP_PROMETHEUS_FILE = ""
"""Metrics file for Prometheus' node exporter, written every 15 seconds: a name in the job's folder,
or a path in the exporter's textfile folder, ending in ".prom". "": none. Needs the extra
`prometheus`."""
