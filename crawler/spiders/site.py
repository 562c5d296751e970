"""`scrapy crawl site -a url=…`: the package's spider, in this project."""

from dedup.scrapy.spiders import site


class SiteSpider(site.SiteSpider):
    __doc__ = site.SiteSpider.__doc__
