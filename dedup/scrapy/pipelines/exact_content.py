"""Pipeline 200: pages whose body, text or longest sentences are those of a stored page."""

from __future__ import annotations

from typing import ClassVar

from dedup.scrapy.pipelines.content import ContentPipeline, DuplicatePage, ExactDuplicate


class ExactContent(ContentPipeline):
    """Drops equal bodies, equal texts, and texts that resemble one with the same long sentences."""

    drops: ClassVar[type[DuplicatePage]] = ExactDuplicate
    switches: ClassVar[dict[str, str]] = {
        "body": "DEDUP_BODY_ENABLED",
        "text": "DEDUP_TEXT_ENABLED",
        "sentences": "DEDUP_SENTENCES_ENABLED",
    }
