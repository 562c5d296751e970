"""The spiders `site`, `sitemap`, `urls` and `demo`, and what they share.

`SPIDER_MODULES = ["dedup.scrapy.spiders"]` adds them to a Scrapy project.
"""
