"""Commands that replace Scrapy's of the same name."""
