"""Pipeline 300: pages whose text resembles that of a stored page."""

from __future__ import annotations

from typing import ClassVar

from dedup.scrapy.pipelines.content import ContentPipeline, DuplicatePage, NearDuplicatePage


class NearDuplicate(ContentPipeline):
    """Drops near duplicates: found by simhash or MinHash, decided by their resemblance.

    Texts too short for a fingerprint have to be equal; where `ExactContent` stands before this
    pipeline, it has looked for those already.
    """

    drops: ClassVar[type[DuplicatePage]] = NearDuplicatePage
    stages: ClassVar[tuple[str, ...]] = ("text", "simhash", "minhash")
