"""Extension: which hosts this process fetches from, where others share its job.

A host belongs to one process at a time, so its delay, its robots.txt, its pauses and what has been
learned of its pages are one process's affair. It is given back when nothing of it is left, or when
others have less; who takes it next waits for the delay first.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured

from dedup.errors import StateError
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.downloads import delay_of
from dedup.scrapy.internals.engine import request_next, send_item, start_coroutine
from dedup.scrapy.internals.reactor import call_every
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own
from dedup.store.interface import Workers

_LOOK_SECONDS = 1.0
_MOST_TIMES_DELAY = 1.5
"""Scrapy waits for up to so many times a slot's delay."""


class Teamwork:
    """Takes hosts and gives them back, once a second, with a sign of life."""

    def __init__(self, crawler: Crawler) -> None:
        if not CrawlConfig.of(crawler).store:
            raise NotConfigured
        self._crawler = crawler
        self._task: Any = None
        self._is_idle = False
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_idle, signals.spider_idle)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Teamwork:
        return cls(crawler)

    def _spider_opened(self) -> None:
        self._task = call_every(_LOOK_SECONDS, self._ask)
        self._ask()

    def _spider_closed(self) -> None:
        if self._task is not None:
            self._task.stop()

    def _ask(self) -> None:
        job = Job.of(self._crawler)
        if job.failure is None and not job.arrivals.is_closing and not job.is_finished:
            job.turns.call(self._look)

    def _spider_idle(self) -> None:
        """Stay while anything of the job is left: a host may come free, or a page link to ours."""
        job = Job.of(self._crawler)
        workers = job.store.workers
        if job.failure is not None or workers is None or job.is_finished or not job.has_queue:
            return
        with suppress(StateError):
            if job.turns.is_pending or workers.has_queued() or workers.has_waiting():
                raise DontCloseSpider

    def _look(self) -> None:
        """In a turn: give a sign of life, give hosts back, take others."""
        job = Job.of(self._crawler)
        workers, hosts = job.store.workers, job.requests.hosts
        if workers is None or hosts is None:
            return
        pause = max(map(self._delay, hosts), default=0.0)
        workers.beat(pages=job.ledger.fetched - job.ledger.fetched_before, pause=pause)
        self._note_fetched(job)
        if not job.has_queue or job.arrivals.is_closing:
            return
        share = min(workers.fair_share(), job.config.worker_hosts)
        self._free(job, workers, hosts, share)
        if len(hosts) < share:
            taken = workers.take_hosts(share - len(hosts))
            self._take_up(job, taken)
        if not job.requests.frontier:
            request_next(self._crawler)  # or it would find out in five seconds

    def _free(self, job: Job, workers: Workers, hosts: Collection[str], share: int) -> None:
        """Give back what is drained, and what is more than this process's share."""
        frontier = job.requests.frontier
        job.requests.look_again(workers.queued_hosts())
        busy = frontier.busy_slots() | job.arrivals.names_judged()
        waiting = job.arrivals.names_waiting()
        idle = sorted(host for host in hosts if host not in busy)
        free = [host for host in idle if not frontier.has(host) and host not in waiting]
        n_surplus = len(hosts) - len(free) - share
        if n_surplus > 0:
            free += [host for host in idle if host not in free][:n_surplus]
        if free:
            workers.free_hosts({host: self._pause(host) for host in free})
            job.requests.give_up(free)
            job.arrivals.give_up(free)

    def _take_up(self, job: Job, hosts: Collection[str]) -> None:
        if hosts:
            job.arrivals.take_up(hosts)
            job.budgets.take_up()
            job.requests.take_up(hosts)
            if is_own(self._crawler.spider):
                start_coroutine(self._send_ready(job))
            request_next(self._crawler)

    async def _send_ready(self, job: Job) -> None:
        for item in job.arrivals.resume():
            await send_item(self._crawler, item)

    def _delay(self, host: str) -> float:
        """The longest time between two requests to a host, seconds."""
        return _MOST_TIMES_DELAY * delay_of(self._crawler, host)[0]

    def _pause(self, host: str) -> float:
        """How long nobody may ask a host: as long as this process would have waited, at most."""
        _, last_sent = delay_of(self._crawler, host)
        return max(self._delay(host) - (time.time() - last_sent), 0.0)

    def _note_fetched(self, job: Job) -> None:
        """Tell a spider that stops after so many pages how many all processes have fetched."""
        spider: Any = self._crawler.spider
        if getattr(spider, "max_pages", 0) and hasattr(spider, "note_fetched"):
            spider.note_fetched(job.store.stats.fetched())
