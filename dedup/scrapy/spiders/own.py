"""Which spiders are the project's own.

They read pages in processes of their own, queue links without `Request` objects, and let pages wait
for their template. The items of all other spiders are taken as they come.
"""


def is_own(spider: object) -> bool:
    """Is it a spider, or a class of spiders, of the project's own?

    Those have `page_request`, which makes a request anew from a queued URL; see `PageSpider`.
    """
    return hasattr(spider, "page_request")
