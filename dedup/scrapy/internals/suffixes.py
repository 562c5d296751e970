"""The public suffix list by which Scrapy's `CookiesMiddleware` refuses cookies of suffixes."""

from __future__ import annotations

from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract


def use_shipped_suffixes() -> None:
    """Let Scrapy use the list that is installed with `tldextract`.

    By default the first cookie makes `tldextract` fetch the list from elsewhere, without a time
    limit, while the crawl stands still. The list then also comes from, and goes to, a folder that
    all programs of the user share. It applies to all crawls of the process.
    """
    cookies._split_domain = TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
