"""Pipeline 200: pages whose body, text or longest sentences are those of a stored page."""

from __future__ import annotations

from typing import ClassVar

from dedup.scrapy.pipelines.content import (
    ContentPipeline,
    DuplicatePage,
    ExactDuplicate,
    stages_of,
)


class ExactContent(ContentPipeline):
    """Drops equal bodies, equal texts, and texts that resemble one with the same long sentences."""

    drops: ClassVar[type[DuplicatePage]] = ExactDuplicate
    dedup_stages = stages_of("exact")
