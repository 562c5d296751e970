"""The Scrapy settings that the project's own crawls change.

`dedup.scrapy.default_settings` has the project's own settings, `DEDUP_*`, with their defaults.
Override any setting here, in a spider's `custom_settings`, or with `-s NAME=VALUE`.
"""

BOT_NAME = "scrapy-dedup"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"
ADDONS = {"dedup.scrapy.DedupAddon": 500}

# The same command goes on where it stopped, and shows how it goes.
DEDUP_KEEP_JOBS = True
"""A crawl is a job in a folder, which the same command goes on with."""

DEDUP_PROGRESS = "auto"
"""A panel on a terminal, a line a minute elsewhere."""

# Polite by default. An honest user agent; add a way to reach you before a large crawl.
USER_AGENT = "scrapy-dedup/0.1 (a web crawler; it obeys robots.txt)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "scrapy-dedup"
# The delay follows the server's own speed. Hosts on loopback are not throttled (crawler.spiders).
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
AUTOTHROTTLE_MAX_DELAY = 30.0
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 8
# Scrapy starts so many tasks for each response, 25 µs each; a page is one item. Links of a page are
# queued in their order, before the page is recorded.
CONCURRENT_ITEMS = 1

DOWNLOADER_MIDDLEWARES = {
    # robots.txt by RFC 9309: a host whose robots.txt fails is waited for, not crawled in full.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "dedup.scrapy.middlewares.robots.Robots": 100,
    # Between RetryMiddleware (550) and the downloader: a busy host gets the pause that it asks for.
    "dedup.scrapy.middlewares.retry_after.RetryAfter": 555,
    # Behind RetryMiddleware, which is for single URLs; this is for hosts.
    "dedup.scrapy.middlewares.outages.Outages": 557,
    # Behind CookiesMiddleware (700), whose cookies it bounds.
    "dedup.scrapy.middlewares.cookies.BoundedCookies": 701,
    # Next to the downloader: whatever is sent passes through.
    "dedup.scrapy.middlewares.public_web.PublicWeb": 980,
    # Next to the downloader, so that no other sees the password.
    "dedup.scrapy.middlewares.log_in.LogIn": 990,
}

DEDUP_ALLOW_PRIVATE = False
"""Nothing but the web: no links into private networks, no files, no data: URLs."""
DOWNLOAD_HANDLERS = {"data": None, "file": None, "ftp": None, "s3": None}

DEDUP_TRAP_PAGES = 2_000
"""Of URLs that look like a trap so many are fetched for each host and pattern, and last."""

DEDUP_HOST_WAIT_SECONDS = 900.0
"""A host that goes away is waited for, up to a quarter of an hour."""

# A page is text: 16 MiB is more than any, and bounds a compression bomb; 30 s bounds a slow server.
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_TIMEOUT = 30
# Of pages that wait for being read, together; with Scrapy's 5 MB a single large one holds up all.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 64 * 1024 * 1024
REDIRECT_MAX_TIMES = 10
# The spiders read meta refresh from the page's one parse.
METAREFRESH_ENABLED = False
# Breadth first: the shortest URL of a page tends to be the one that is met, and kept, first.
DEPTH_PRIORITY = 1
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

# As search engines' crawlers: a page is what it is, wherever the link to it stood. With a header of
# its own, each request in the queue would be stored whole, in three times the room and time.
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
