"""Item pipelines, in their order. Each can be taken out or moved in `ITEM_PIPELINES`."""

from crawler.pipelines.content import (
    DuplicatePage,
    ExactDuplicate,
    NearDuplicatePage,
    stages_in_use,
)
from crawler.pipelines.exact_content import ExactContent
from crawler.pipelines.extract_text import ExtractText
from crawler.pipelines.near_duplicate import NearDuplicate
from crawler.pipelines.store_page import StorePage

__all__ = [
    "DuplicatePage",
    "ExactContent",
    "ExactDuplicate",
    "ExtractText",
    "NearDuplicate",
    "NearDuplicatePage",
    "StorePage",
    "stages_in_use",
]
