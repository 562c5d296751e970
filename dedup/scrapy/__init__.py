"""Deduplication for Scrapy projects: `ADDONS = {"dedup.scrapy.DedupAddon": 500}`.

The only part of `dedup` that knows Scrapy.
"""

from typing import Any

__all__ = ["DedupAddon"]


def __getattr__(name: str) -> Any:
    """The add-on, imported when it is asked for: a reading process loads no Scrapy."""
    if name != "DedupAddon":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dedup.scrapy.addon import DedupAddon

    return DedupAddon
