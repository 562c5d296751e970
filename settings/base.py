"""The Scrapy settings of the project: those of `dedup crawl`, and the project's own.

Override any setting here, in a spider's `custom_settings`, or with `-s NAME=VALUE`.
"""

from dedup.scrapy.crawl_settings import *  # noqa: F403 -- one list of settings for both

SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
