"""Settings of a crawl that many machines share: `SCRAPY_PROJECT=cluster uv run scrapy crawl …`.

Every worker uses the same ones. Where the database is comes from the environment, so that no
address, and no password, stands in a file: `DEDUP_STORE`, besides what libpq reads (`PGPASSWORD`,
`PGSERVICE`, `~/.pgpass`). See docs/cluster.md.
"""

from os import environ

from settings.base import *  # noqa: F403 -- all that base.py says holds here, too

DEDUP_STORE = environ.get("DEDUP_STORE", "")

# Hosts of a worker: four times as many, most of which wait for their delay.
CONCURRENT_REQUESTS = 64

# One line a minute: the output of a worker goes to the log of its service.
DEDUP_PROGRESS = "plain"
