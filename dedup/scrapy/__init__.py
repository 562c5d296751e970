"""Deduplication for Scrapy projects: `ADDONS = {"dedup.scrapy.DedupAddon": 500}`.

The only part of `dedup` that knows Scrapy.
"""

__all__ = ["DedupAddon"]


def __getattr__(name: str) -> type[object]:
    """Import the add-on when it is used: a process that reads pages does not load Scrapy."""
    if name != "DedupAddon":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dedup.scrapy.addon import DedupAddon

    return DedupAddon
