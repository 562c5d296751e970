"""Which pages a browser has to make: learned by host and template, and audited; no Scrapy."""
