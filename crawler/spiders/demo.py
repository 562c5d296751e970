"""`scrapy crawl demo`: the package's spider, in this project."""

from dedup.scrapy.spiders import demo


class DemoSpider(demo.DemoSpider):
    __doc__ = demo.DemoSpider.__doc__
