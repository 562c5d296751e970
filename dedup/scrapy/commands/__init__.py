"""Commands that replace Scrapy's; an entry point adds `genspider` to all projects."""
