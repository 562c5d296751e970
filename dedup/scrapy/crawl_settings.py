"""The Scrapy settings of `dedup crawl`, and of the Scrapy project `crawler`.

`default_settings` has the settings `DEDUP_*`, with their defaults. Override any setting with
`-s NAME=VALUE`, or, in a clone of the repository, in `settings/base.py`.
"""

BOT_NAME = "scrapy-dedup"
SPIDER_MODULES = ["dedup.scrapy.spiders"]
COMMANDS_MODULE = "dedup.scrapy.commands"
ADDONS = {"dedup.scrapy.DedupAddon": 500}

# The same command resumes an interrupted crawl; the progress is shown.
DEDUP_KEEP_JOBS = True
"""Each crawl is a job in a folder; the same command resumes it."""

DEDUP_PROGRESS = "auto"
"""A panel on a terminal, a line a minute elsewhere."""

# Polite by default. The user agent is honest; add your address to it before a large crawl.
USER_AGENT = "scrapy-dedup/0.1 (a web crawler; it obeys robots.txt)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "scrapy-dedup"
# The delay depends on the server's speed. Hosts on loopback are not throttled (PageSpider).
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
AUTOTHROTTLE_MAX_DELAY = 30.0
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 8
# Scrapy starts this number of tasks for each response, 25 µs each; a page is one item. The links of
# a page are queued in their order, before the page is recorded.
CONCURRENT_ITEMS = 1

DOWNLOADER_MIDDLEWARES = {
    # robots.txt by RFC 9309: a host whose robots.txt fails is paused, and not crawled in full.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "dedup.scrapy.middlewares.robots.Robots": 100,
    # Between RetryMiddleware (550) and the downloader: pauses a busy host for as long as it asks.
    "dedup.scrapy.middlewares.retry_after.RetryAfter": 555,
    # After RetryMiddleware, which is for single URLs; this is for hosts.
    "dedup.scrapy.middlewares.outages.Outages": 557,
    # After CookiesMiddleware (700), whose cookies it bounds.
    "dedup.scrapy.middlewares.cookies.BoundedCookies": 701,
    # Next to the downloader: every request passes it.
    "dedup.scrapy.middlewares.public_web.PublicWeb": 980,
    # Next to the downloader, so that no other middleware gets the password.
    "dedup.scrapy.middlewares.log_in.LogIn": 990,
}

DEDUP_ALLOW_PRIVATE = False
"""No links from public hosts into private networks; below, no files and no data: URLs."""
DOWNLOAD_HANDLERS = {"data": None, "file": None, "ftp": None, "s3": None}

DEDUP_TRAP_PAGES = 2_000
"""URLs that look like a trap are fetched last, at most this number of each pattern."""

DEDUP_HOST_WAIT_SECONDS = 900.0
"""A host that cannot be reached any more is paused for up to a quarter of an hour."""

# 16 MiB is more than the text of any page, and bounds a compression bomb; 30 s bounds slow servers.
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_TIMEOUT = 30
# Bytes of all pages that wait to be read; with Scrapy's 5 MB one large page would block the others.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 64 * 1024 * 1024
REDIRECT_MAX_TIMES = 10
# The spiders read meta refresh from the page's one parse.
METAREFRESH_ENABLED = False
# Breadth first: the shortest URL of a page tends to be fetched first, and so to be kept.
DEPTH_PRIORITY = 1
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

# As search engines' crawlers: a page does not depend on the page that links to it. With a header of
# its own each request would be stored in full, with three times the space and time.
REFERRER_POLICY = "no-referrer"

TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"  # dedup.scrapy.extensions.progress prints progress and the closing table
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORT_FIELDS = [
    "id",
    "url",
    "title",
    "language",
    "text",
    "canonical_url",
    "status",
    "content_type",
    "fetched_at",
    "depth",
]
