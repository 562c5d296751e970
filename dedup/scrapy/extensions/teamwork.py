"""Extension: which hosts this process fetches from, where others share its job.

A host belongs to one process at a time. That process alone keeps its delay, its robots.txt, its
pauses, and what was learned from its pages. It gives the host back when nothing of it is left, or
when other processes have fewer hosts; the next process first waits for the delay.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured

from dedup.errors import StateError
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.internals.downloads import delay_left, max_delay
from dedup.scrapy.internals.engine import request_next, send_items, start_coroutine
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own
from dedup.store.interface import Workers

_LOOK_SECONDS = 1.0

_HOSTS_PER_REQUEST = 4
"""Hosts that a process has for each of CONCURRENT_REQUESTS. Most wait for their delay, and a host
that waits costs nothing."""


class Teamwork(Extension):
    """Takes hosts and gives them back, once a second, with a sign of life."""

    def __init__(self, crawler: Crawler) -> None:
        if not CrawlConfig.of(crawler).is_shared:
            raise NotConfigured
        super().__init__(crawler)
        self._is_asked = False

    def _spider_opened(self) -> None:
        self._call_every(_LOOK_SECONDS, self._ask)
        self._ask()

    def _ask(self) -> None:
        job = Job.of(self.crawler)
        is_over = job.failure is not None or job.pages.arrivals.is_closing or job.is_finished
        if not (is_over or self._is_asked):
            start_coroutine(self._look_in_turn(job))

    async def _look_in_turn(self, job: Job) -> None:
        self._is_asked = True
        with suppress(StateError):  # the job notes it, and stops
            await job.turns.run(self._look)
        self._is_asked = False

    def _spider_idle(self) -> None:
        """Keep the spider open while the job has work: a host may become free.

        Unless the refresh has spent its budget.
        """
        job, spider = Job.of(self.crawler), self.crawler.spider
        workers = job.store.workers
        if job.failure is not None or job.is_finished or not job.has_queue:
            return
        if is_own(spider) and not spider.may_visit(0):
            return
        team = job.config.team
        if team is not None and not team.may_end:
            raise DontCloseSpider
        with suppress(StateError):
            if job.turns.is_pending or workers.has_queued() or workers.has_waiting():
                raise DontCloseSpider

    def _look(self) -> None:
        """In a turn: give a sign of life, give hosts back, take others."""
        job = Job.of(self.crawler)
        workers, hosts = job.store.workers, job.urls.requests.hosts
        pause = max((max_delay(self.crawler, host) for host in hosts), default=0.0)
        pages = job.ledger.fetched - job.ledger.fetched_before
        left = {host: delay_left(self.crawler, host) for host in hosts}
        paused = {host: seconds for host, seconds in left.items() if seconds > pause}
        job.turns.n_processes = workers.beat(pages=pages, pause=pause, paused=paused)
        self._note_pages()
        if not job.has_queue or job.pages.arrivals.is_closing:
            return
        most = _HOSTS_PER_REQUEST * self.crawler.settings.getint("CONCURRENT_REQUESTS")
        share = min(workers.fair_share(), most)
        n_working = self._free(job, workers, hosts, share)
        if n_working < share:
            taken = workers.take_hosts(share - n_working)
            self._take_up(job, taken)
        if not job.urls.requests.frontier:
            request_next(self.crawler)  # or it would find out in five seconds

    def _free(self, job: Job, workers: Workers, hosts: Collection[str], share: int) -> int:
        """Give back what is drained, and what is more than this process's share.

        Returns:
            How many of the hosts that are left have anything to fetch. The others have pages that
            wait until more is known of their site; they are no part of the share, or no host could
            be taken until then.
        """
        frontier = job.urls.requests.frontier
        job.urls.requests.look_again(workers.queued_hosts())
        busy = frontier.busy_slots() | job.pages.arrivals.names_judged()
        waiting = job.pages.arrivals.names_waiting()
        working = {host for host in hosts if host in busy or frontier.has(host)}
        free = [host for host in hosts if host not in working and host not in waiting]
        n_surplus = len(working) - share
        if n_surplus > 0:
            surplus = sorted(working - busy)[:n_surplus]
            working.difference_update(surplus)
            free += surplus
        if free:
            workers.free_hosts({host: delay_left(self.crawler, host) for host in free})
            job.urls.requests.give_up(free)
            job.pages.arrivals.give_up(free)
        return len(working)

    def _take_up(self, job: Job, hosts: Collection[str]) -> None:
        if hosts:
            job.pages.arrivals.take_up(hosts)
            job.urls.budgets.take_up()
            job.urls.requests.take_up(hosts)
            if is_own(self.crawler.spider):
                start_coroutine(self._send_ready(job))
            request_next(self.crawler)

    async def _send_ready(self, job: Job) -> None:
        with suppress(StateError):  # the job notes it, and stops
            items = job.pages.arrivals.resume()
            await send_items(self.crawler, items, at_once=job.turns.items_at_once)

    def _note_pages(self) -> None:
        """Pass the number of pages of all processes to a spider with `max_pages`."""
        spider: Any = self.crawler.spider
        if getattr(spider, "max_pages", 0) and hasattr(spider, "note_pages"):
            spider.note_pages()
