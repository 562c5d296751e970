"""`scrapy crawl urls -a file=…`: the package's spider, in this project."""

from dedup.scrapy.spiders import urls


class UrlsSpider(urls.UrlsSpider):
    __doc__ = urls.UrlsSpider.__doc__
