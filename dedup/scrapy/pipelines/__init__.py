"""The item pipelines. Each can be removed or moved in `ITEM_PIPELINES`."""

from dedup.scrapy.pipelines.content import DuplicatePage, ExactDuplicate, NearDuplicatePage
from dedup.scrapy.pipelines.exact_content import ExactContent
from dedup.scrapy.pipelines.extract_text import ExtractText
from dedup.scrapy.pipelines.follow import FollowItem
from dedup.scrapy.pipelines.near_duplicate import NearDuplicate
from dedup.scrapy.pipelines.page_fields import PageFields
from dedup.scrapy.pipelines.store_page import StorePage

__all__ = [
    "DuplicatePage",
    "ExactContent",
    "ExactDuplicate",
    "ExtractText",
    "FollowItem",
    "NearDuplicate",
    "NearDuplicatePage",
    "PageFields",
    "StorePage",
]
