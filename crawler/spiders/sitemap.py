"""`scrapy crawl sitemap -a url=…`: the package's spider, in this project."""

from dedup.scrapy.spiders import sitemap


class SitemapSpider(sitemap.SitemapSpider):
    __doc__ = sitemap.SitemapSpider.__doc__
