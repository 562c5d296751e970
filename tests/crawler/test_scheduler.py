"""Scrapy's own test cases for schedulers and dupefilters, applied to ours where they apply.

From scrapy/scrapy, release 2.19.

tests/test_scheduler.py
    Used: test_length, test_dequeue, test_dequeue_priorities (in memory and on disk: here both are
    the store), the same with a restart in between, test_logic and test_is_meta_set of the
    downloader-aware queue (hosts take turns, keys of hosts), test_unicode URLs,
    TestMigration's point (another queue's files): the store's version check, in test_database.
    Not: `CONCURRENT_REQUESTS_PER_IP` with the downloader-aware queue (refused there; here a slot is
    always a host), tests of `SCHEDULER_*_QUEUE` classes (not looked at), the integration test of
    `start_urls` on a mock server (tests/crawler/test_site.py crawls).
tests/test_scheduler_base.py
    Used: the interface (methods, from_crawler, subclass check), enqueue and dequeue.
    Not: tests of BaseScheduler's own NotImplementedError, and of a minimal scheduler of its own.
tests/test_dupefilters.py
    Used: filtered or not; open and close; the same across a restart; the count of what is filtered;
    request_scheduled once for each. Not: `DUPEFILTER_DEBUG` and log texts (we count, and log
    nothing), `requests.seen` files and their formats, `from_settings`.
"""

from types import SimpleNamespace

import pytest
from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.test import get_reactor_settings

from dedup.scrapy.dupefilter import DedupDupeFilter
from dedup.scrapy.job.job import Job
from dedup.scrapy.scheduler import DedupScheduler

_PRIORITIES = [("http://foo.com/a", -2), ("http://foo.com/d", 1), ("http://foo.com/b", -1)]
_PRIORITIES += [("http://foo.com/c", 0), ("http://foo.com/e", 2)]
_HOSTS = [f"http://{host}.com/{name}" for host, name in ("aa", "ab", "bc", "bd", "ce", "cf")]


class Shop(Spider):
    name = "shop"

    def parse(self, response):
        pass


@pytest.fixture
def opened(tmp_path):
    """Open a scheduler on the same job, again after `close`."""
    jobs = []

    def open_scheduler():
        settings = {
            "ADDONS": {"dedup.scrapy.DedupAddon": 500},
            "DEDUP_JOBS_DIR": str(tmp_path),
            "DEDUP_KEEP_JOBS": True,
            "DEDUP_PROGRESS": "off",
        }
        crawler = Crawler(Shop, {**get_reactor_settings(), **settings})
        crawler.spider = Shop.from_crawler(crawler)
        crawler._apply_settings()
        crawler.engine = SimpleNamespace(downloader=SimpleNamespace(slots={}))
        scheduler = DedupScheduler.from_crawler(crawler)
        scheduler.open(crawler.spider)
        jobs.append(Job.of(crawler))
        scheduler.crawler, scheduler.shut = crawler, jobs[-1].close
        return scheduler

    yield open_scheduler
    for job in jobs:
        job.close()


def drain(scheduler):
    found = []
    while (request := scheduler.next_request()) is not None:
        found.append(request.url)
    return found


def test_it_has_the_interface_of_schedulers(opened):
    assert issubclass(DedupScheduler, BaseScheduler)
    assert isinstance(opened(), BaseScheduler)


def test_length(opened):
    scheduler = opened()
    assert not scheduler.has_pending_requests()
    assert len(scheduler) == 0
    for url, priority in _PRIORITIES:
        assert scheduler.enqueue_request(Request(url, priority=priority))
    assert scheduler.has_pending_requests()
    assert len(scheduler) == len(_PRIORITIES)


@pytest.mark.parametrize("is_reopened", [False, True])
def test_the_highest_priority_comes_first(opened, is_reopened):
    scheduler = opened()
    for url, priority in _PRIORITIES:
        scheduler.enqueue_request(Request(url, priority=priority))
    if is_reopened:
        scheduler.close("finished")
        scheduler.shut()
        scheduler = opened()
        assert len(scheduler) == len(_PRIORITIES)
    by_priority = sorted(_PRIORITIES, key=lambda pair: -pair[1])
    assert drain(scheduler) == [url for url, _ in by_priority]
    assert not scheduler.has_pending_requests()
    assert scheduler.next_request() is None


def test_hosts_take_turns(opened):
    scheduler = opened()
    for url in _HOSTS:
        scheduler.enqueue_request(Request(url))
    hosts = [url[7] for url in drain(scheduler)]
    assert hosts == list("abcabc")


def test_a_request_keeps_its_download_slot(opened):
    scheduler = opened()
    scheduler.enqueue_request(Request("http://a.com/1", meta={"download_slot": "mine"}))
    scheduler.enqueue_request(Request("http://b.com/2", meta={"download_slot": "mine"}))
    scheduler.enqueue_request(Request("http://c.com/3"))
    assert [url[7] for url in drain(scheduler)] == list("acb")


@pytest.mark.parametrize("is_reopened", [False, True])
def test_what_has_been_queued_is_filtered(opened, is_reopened):
    scheduler = opened()
    assert scheduler.enqueue_request(Request("http://a.com/?b=1&a=2"))
    assert scheduler.next_request().url == "http://a.com/?b=1&a=2"
    if is_reopened:
        scheduler.shut()
        scheduler = opened()
    assert not scheduler.enqueue_request(Request("http://a.com/?a=2&b=1#there"))
    assert scheduler.crawler.stats.get_value("dedup/url/filtered") == 1
    assert scheduler.enqueue_request(Request("http://a.com/", method="POST"))


def test_what_is_not_to_be_filtered_is_fetched_each_time_also_after_a_restart(opened):
    scheduler = opened()
    for _ in range(3):
        assert scheduler.enqueue_request(Request("http://a.com/", dont_filter=True))
    assert scheduler.next_request().url == "http://a.com/"
    assert Job.of(scheduler.crawler).urls.seen.count == 0  # the filter has not been asked
    scheduler.shut()
    assert drain(opened()) == ["http://a.com/"] * 3  # the one in flight is queued again


def test_a_retry_takes_the_place_of_its_request(opened):
    scheduler = opened()
    scheduler.enqueue_request(Request("http://a.com/1"))
    scheduler.enqueue_request(Request("http://a.com/2"))
    first = scheduler.next_request()
    retry = first.replace(dont_filter=True, priority=-1, meta={**first.meta, "retry_times": 1})
    assert scheduler.enqueue_request(retry)
    assert len(scheduler) == 2
    assert scheduler.next_request().url == "http://a.com/2"
    again = scheduler.next_request()
    assert (again.url, again.meta["retry_times"]) == ("http://a.com/1", 1)
    assert scheduler.next_request() is None


def test_requests_that_cannot_be_stored_stay_in_memory_and_are_counted(opened, caplog):
    scheduler = opened()
    for number in range(2):
        request = Request(f"http://a.com/{number}", callback=lambda response: None)
        assert scheduler.enqueue_request(request)
    assert not scheduler.enqueue_request(Request("http://a.com/0"))  # known all the same
    assert len(scheduler) == 2
    assert scheduler.crawler.stats.get_value("scheduler/unserializable") == 2
    assert scheduler.crawler.stats.get_value("scheduler/enqueued/memory") == 2
    assert caplog.text.count("cannot be stored") == 1
    assert callable(scheduler.next_request().callback)
    scheduler.shut()
    again = opened()
    assert "2 queued requests could not be stored" in caplog.text
    assert drain(again) == []
    assert again.enqueue_request(Request("http://a.com/0"))  # new once more


def test_unreadable_request_is_recorded_and_skipped(opened):
    scheduler = opened()
    for name in "ab":
        scheduler.enqueue_request(
            Request(f"http://a.com/{name}", callback=scheduler.crawler.spider.parse)
        )
    with Job.of(scheduler.crawler).store.unit() as connection:
        changed = "CAST(replace(request, 'parse', 'gone') AS BLOB)"
        connection.execute(f"UPDATE urls SET request = {changed} WHERE id = 1")
    scheduler.shut()
    again = opened()
    assert drain(again) == ["http://a.com/b"]
    connection = Job.of(again.crawler).store.database.connection
    rows = connection.execute("SELECT url, reason FROM skipped").fetchall()
    assert rows == [("http://a.com/a", "unreadable_request")]


def test_another_scheduler_is_refused(tmp_path):
    settings = {
        "ADDONS": {"dedup.scrapy.DedupAddon": 500},
        "DEDUP_JOBS_DIR": str(tmp_path),
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    }
    crawler = Crawler(Shop, {**get_reactor_settings(), **settings})
    crawler.spider = Shop.from_crawler(crawler)
    crawler._apply_settings()
    with pytest.raises(ValueError, match=r"^SCHEDULER must be dedup\."):
        DedupDupeFilter(crawler)
