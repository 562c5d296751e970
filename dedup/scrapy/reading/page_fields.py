"""Fields of pages while they are crawled: of small ones here, of others in another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import Wanted
from dedup.scrapy.reading.page_reader import is_small
from dedup.scrapy.reading.worker_protocol import FoundFields, RawFields, read_fields
from dedup.store import Page
from dedup.store.records import Claims


class PageFieldReader:
    """Computes fields of pages, within the bounds for reading a page.

    Raises:
        ReadingError: from what computes something: the page takes longer than a page may.
    """

    def __init__(self, config: CrawlConfig) -> None:
        self._worker = BlockingWorker(
            Wanted(
                config.extractor,
                links=False,
                is_nofollow_obeyed=False,
                bodies=False,
                stages=frozenset(),
                detection=config.detection,
                cpu_seconds=config.read_cpu_seconds,
                memory_mb=config.read_memory_mb,
            )
        )

    def values(self, page: Page, names: Sequence[str]) -> Mapping[str, Any]:
        """The values of some fields."""
        return self._read(page, tuple(names)).values

    def reduced(self, page: Page, *, is_final: bool) -> bytes | None:
        """What to store in place of the body; None: there is none."""
        if not page.body:
            return None
        return self._read(page, (), is_reduced=True, is_final=is_final).reduced

    def claims(self, page: Page) -> Claims | None:
        """What the page says of where it is from."""
        return self._read(page, (), is_claimed=True).claims

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _read(
        self,
        page: Page,
        names: tuple[str, ...],
        *,
        is_reduced: bool = False,
        is_final: bool = True,
        is_claimed: bool = False,
    ) -> FoundFields:
        body = page.body or b""
        whole = replace(page, rest=None)
        raw = RawFields(body, whole, names, is_reduced, is_final, is_claimed)
        is_here = page.source != "document" and is_small(body)
        return read_fields(raw) if is_here else cast("FoundFields", self._worker.read(raw))
