"""Pipeline 300: pages whose text resembles that of a stored page."""

from __future__ import annotations

from typing import ClassVar

from dedup.scrapy.pipelines.content import (
    ContentPipeline,
    DuplicatePage,
    NearDuplicatePage,
    stages_of,
)


class NearDuplicate(ContentPipeline):
    """Drops near duplicates: simhash and MinHash find candidates, their resemblance decides.

    A text that is too short for a fingerprint has to be equal to that of its original; if
    `ExactContent` comes before this pipeline, it has looked for equal texts already.
    """

    drops: ClassVar[type[DuplicatePage]] = NearDuplicatePage
    dedup_stages = stages_of("near")
