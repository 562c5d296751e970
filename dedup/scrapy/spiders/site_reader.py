"""Reads the pages of a crawl by what its job knows of their sites."""

from __future__ import annotations

from collections import Counter

from scrapy.http import Response

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.content import Wanted
from dedup.scrapy.reading.page_reader import PageReader
from dedup.scrapy.reading.reading import Reading, reread
from dedup.scrapy.reading.sitemap_file import Sitemap
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.urls.parts import host_of


class SiteReader:
    """Reads pages by what the job has learned of their hosts, encodings included.

    Args:
        config: of the crawl.
        job: of the crawl; None: deduplication is off, and nothing is learned.
        follows_links: are the links of pages wanted?
    """

    def __init__(self, config: CrawlConfig, job: Job | None, *, follows_links: bool) -> None:
        self._job = job
        stages = [] if job is None else job.pages.content.stages
        wanted = Wanted(
            config.extractor,
            links=follows_links,
            is_nofollow_obeyed=config.is_robots_meta_obeyed,
            bodies=job is not None and job.needs_bodies,
            stages=frozenset(stages),
            detection=config.detection,
            templates=config.has_routes,
            routes=config.has_routes,
            cpu_seconds=config.read_cpu_seconds,
            memory_mb=config.read_memory_mb,
        )
        self._n_read: Counter[str] = Counter()
        """Pages of each host that are being read."""
        shares = None if job is None else job.urls.shares
        self._pages = PageReader(wanted, config.read_processes, shares, config.documents)
        if job is not None:
            job.reader = self._pages

    async def read(self, response: Response) -> Reading | None:
        """Read a page; None: the response is neither HTML nor a document.

        Raises:
            ReadingError: the page cannot be read.
            CloseSpider: the crawl stops.
        """
        if self._job is None:
            return await self._pages.read(response)
        arrivals = self._job.pages.arrivals
        host = host_of(response.url)
        site = arrivals.site(response.url, ahead=self._n_read[host] + 1)
        encoding = arrivals.encoding(response)
        self._n_read[host] += 1
        try:
            reading = await self._pages.read(response, site, encoding)
        finally:
            self._n_read[host] -= 1
            if not self._n_read[host]:
                del self._n_read[host]
        if reading is None:
            return None
        encoding = arrivals.encoding(response)
        if not reading.is_encoding_sure and encoding != reading.raw.host_encoding:
            # It was learned since: the result must not depend on how long reading takes.
            site = arrivals.site(response.url)
            reading = await self._pages.decode_again(reading, response, site, encoding)
        if reading.is_encoding_sure and not reading.raw.format:
            arrivals.note_encoding(response, reading.page.encoding)
        return reading

    async def read_sitemap(self, response: Response) -> Sitemap:
        """Read a sitemap.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        return await self._pages.read_sitemap(response)

    async def read_search_index(self, body: bytes, base: str) -> dict[str, str]:
        """Read a search index that names pages from `base`.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        return await self._pages.read_search_index(body, base)

    async def read_again(self, reading: Reading, response: Response) -> Reading:
        """Read a page again, by what is known of its site now.

        If it cannot be read again, the first reading counts.

        Raises:
            CloseSpider: the crawl stops.
        """
        site = None if self._job is None else self._job.pages.arrivals.site(response.url)
        if site is None:
            return reading
        if reading.outline is not None or reading.raw.format:
            return reread(reading, site)
        try:
            return await self._pages.read_again(reading, site)
        except ReadingError:
            return reading._replace(site_version=site.version)

    async def close(self) -> None:
        """End the processes that read pages."""
        await self._pages.close()
