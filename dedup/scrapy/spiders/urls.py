"""`scrapy crawl urls -a file=…`: fetches the pages of a list, and no others."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.exceptions import CloseSpider

from dedup.scrapy.job.outcome import Outcome
from dedup.scrapy.spiders.page_spider import PageSpider
from dedup.urls import canonical_url

_MAX_FILE_NAME = 30
"""Characters of it in the name of the job, which may have 48 in PostgreSQL."""


class UrlsSpider(PageSpider):
    """Fetches each URL of a text file, one a line; skips blank lines and those that begin with #.

    Redirects are followed to any host. Other arguments: see `PageSpider`.
    """

    name = "urls"

    def __init__(self, file: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._path = Path(file)
        if not file:
            raise ValueError("file is missing: give -a file=PATH, a file with one URL per line")
        if not self._path.is_file():
            raise ValueError(f"file must be a readable file, got {file!r}")

    @property
    def job_name(self) -> str:
        """The name of the file, and a digest of its path."""
        file = re.sub(r"[^\w.-]+", "-", self._path.name, flags=re.ASCII)[:_MAX_FILE_NAME]
        digest = sha256(os.fsencode(self._path.resolve())).hexdigest()[:8]
        return f"{self.name}-{file.strip('.-') or 'list'}-{digest}"

    @property
    def former_job_name(self) -> str:
        return f"{self.name}-{self._path.resolve()}"

    @property
    def job_arguments(self) -> dict[str, str]:
        return {**super().job_arguments, "file": str(self._path.resolve())}

    def first_urls(self) -> list[str]:
        return [line for _, line in islice(self._lines(), 100)]

    def is_in_scope(self, url: str, request: Request | None = None) -> bool:  # noqa: ARG002 -- any URL
        return True

    async def start(self) -> AsyncIterator[Request]:
        for number, line in self._lines():
            if self.is_full():
                raise CloseSpider("max_pages")
            try:
                canonical_url(line)
            except ValueError as error:
                self._record_bad_line(number, line, error)
            else:
                yield self.page_request(line)

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self._path.open(encoding="utf-8-sig", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                if (line := line.strip()) and not line.startswith("#"):
                    yield number, line

    def _record_bad_line(self, number: int, line: str, error: ValueError) -> None:
        self.logger.warning("%s, line %d: %s", self._path, number, error)
        job = self.dedup_job
        if job is not None and job.is_first and not job.is_resumed:
            detail = f"line {number}: {error}"
            job.record(Outcome(kind="failed", url=line[:2000], reason="invalid_url", detail=detail))
