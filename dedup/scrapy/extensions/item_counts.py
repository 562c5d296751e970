"""What became of the items of another project's spider, for the closing table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dedup.detectors import STAGES
from dedup.scrapy.job.drops import DropLog
from dedup.store.records import EARLIER

_DROPPED, _SKIPPED = "dedup/pages/duplicate/", "dedup/pages/skipped/"
_TOLD_APART = "dedup/items/kept_for_fields"


def item_counts(name: str, drops: DropLog, stats: Mapping[str, Any]) -> dict[str, Any]:
    """The items of this run: in = kept + dropped by stage + taken away by other pipelines.

    Args:
        name: of the spider.
        drops: those of this run.
        stats: Scrapy's.
    """

    def below(prefix: str) -> dict[str, int]:
        return {
            each.removeprefix(prefix): n for each, n in stats.items() if each.startswith(prefix)
        }

    found, skipped = below(_DROPPED), below(_SKIPPED)
    dropped = {stage: found[stage] for stage in STAGES if stage in found}
    if n_earlier := skipped.pop(EARLIER, 0):
        dropped["in an earlier crawl"] = n_earlier
    lost = sum(n for reason, n in skipped.items() if reason.startswith("pipeline_"))
    no_text = stats.get("dedup/items/no_page", 0)
    if n_before := drops.count - sum(dropped.values()):
        dropped["from an earlier run"] = n_before
    kept = no_text + sum(skipped.values()) - lost
    kept += stats.get("dedup/pages/unique", 0) + stats.get("dedup/pages/known", 0)
    return {
        "spider": name,
        "in": kept + sum(dropped.values()) + lost,
        "kept": kept,
        "dropped": dropped,
        "lost": lost,
        "no_text": no_text,
        "told_apart": stats.get(_TOLD_APART, 0),
        "told_by": below(f"{_TOLD_APART}/"),
        "first": list(map(str, drops.first)),
    }
