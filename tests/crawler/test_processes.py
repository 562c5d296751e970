"""`DEDUP_PROCESSES`: what is refused, what the settings mean, and when a process is replaced."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from dedup.scrapy import config as config_module
from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.feeds import check_feeds, write_feeds
from dedup.scrapy.processes import supervisor
from dedup.scrapy.processes.team import Team, last_sign, told
from dedup.store import Page, open_store

FIELDS = ["id", "url", "text"]


def config(n_cores: int, monkeypatch: pytest.MonkeyPatch, **changed: object) -> CrawlConfig:
    monkeypatch.setattr(config_module, "_cores", lambda: n_cores)
    settings = BaseSettings()
    settings.setmodule(default_settings)
    settings.update(changed)
    return CrawlConfig.from_settings(settings)


@pytest.mark.parametrize(
    ("n_cores", "processes", "n_crawling", "n_reading"),
    [(1, "auto", 1, 0), (2, "auto", 1, 2), (16, "auto", 8, 2), (16, 4, 4, 4), (2, "2", 2, 0)],
)
def test_cores_are_divided(
    monkeypatch: pytest.MonkeyPatch,
    n_cores: int,
    processes: object,
    n_crawling: int,
    n_reading: int,
) -> None:
    found = config(n_cores, monkeypatch, DEDUP_PROCESSES=processes)
    assert (found.processes, found.read_processes) == (n_crawling, n_reading)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"DEDUP_PROCESSES": 0}, 'DEDUP_PROCESSES must be "auto" or .*, got 0'),
        ({"DEDUP_STORE": "postgresql://a@b/c"}, "DEDUP_PROCESSES must be 1 if .*, got 2"),
        ({"DEDUP_DUPLICATE_LINKS": "skip"}, 'DEDUP_DUPLICATE_LINKS must be "follow" if'),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        config(2, monkeypatch, **{"DEDUP_PROCESSES": 2, **changed})


@pytest.mark.parametrize(
    ("uri", "options", "is_ours", "says"),
    [
        ("a.jsonl", {}, False, "has items of this spider, which are not in the job's store"),
        ("ftp://a/b.jsonl", {}, True, "is not JSON Lines in a local file"),
        ("a.jsonl", {"fields": ["html"]}, True, "with fields of a page"),
        ("a.jsonl", {}, True, ""),
    ],
)
def test_feeds_that_the_store_cannot_give_are_refused(
    uri: str, options: dict[str, object], is_ours: bool, says: str
) -> None:
    feeds = {uri: {"format": "jsonlines", "fields": FIELDS, **options}}
    settings = BaseSettings({"FEEDS": feeds})
    if says:
        with pytest.raises(ValueError, match=says):
            check_feeds(settings, is_ours=is_ours)
    else:
        check_feeds(settings, is_ours=is_ours)


@pytest.mark.parametrize(
    ("overwrite", "is_new", "n_before"), [(True, True, 0), (False, True, 2), (False, False, 1)]
)
def test_feed_gets_each_stored_page_once(
    tmp_path: Path, overwrite: bool, is_new: bool, n_before: int
) -> None:
    feed = tmp_path / "pages.jsonl"
    feed.write_text('{"id": 9, "url": "http://b/"}\n{"id": 1, "url": "http://a/1"}\n')
    options = {"format": "jsonlines", "fields": FIELDS, "overwrite": overwrite}
    with open_store(tmp_path / "job") as store:
        for n in (1, 2):
            store.add(Page(id="", text=f"Text {n}.", url=f"http://a/{n}"), {})
        write_feeds(BaseSettings({"FEEDS": {str(feed): options}}), store, is_new=is_new)
    lines = feed.read_text().splitlines()
    assert len(lines) == 2 + n_before - (not is_new)
    assert sum('"http://a/2"' in line for line in lines) == 1
    assert ('"http://b/"' in "".join(lines)) == (is_new and not overwrite)


def test_process_tells_the_one_that_started_it() -> None:
    with tempfile.TemporaryFile() as file:
        team = Team(2, 3, "job", file.fileno(), is_new=True)
        assert (last_sign(file.fileno()), told(file.fileno())) == (0.0, {})
        team.give_sign()
        assert 0 < last_sign(file.fileno()) <= time.monotonic()
        team.tell({"reason": "finished", "stats": {"dedup/pages/unique": 7}})
        team.give_sign()
        assert told(file.fileno())["stats"] == {"dedup/pages/unique": 7}
    assert (team.is_first, team.may_end) == (False, False)


class FakeChild:
    """A child that ends at once with a status."""

    statuses: dict[int, list[int]]
    sent: list[tuple[int, object]]
    started: list[tuple[int, bool]]

    def __init__(self, number: int, size: int, folder: str, *, is_new: bool) -> None:
        self.started.append((number, is_new))
        self.number, self.pid, self.result = number, os.getpid(), {"number": number}
        self._status = self.statuses[number].pop(0)

    @property
    def status(self) -> int | None:
        return self._status

    def is_silent(self, seconds: float) -> bool:
        return False

    def send(self, message: bytes) -> None:
        self.sent.append((self.number, message))

    def stop(self, n_times: int) -> None: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("statuses", "left", "n_warnings"),
    [
        ({1: [0], 2: [-9, 0]}, [0, 0], 1),
        ({1: [1], 2: [0]}, [1, 0], 0),  # an error is told, and not tried again
        ({1: [-9] * 7, 2: [0]}, [-9, 0], 6),
    ],
)
def test_killed_processes_are_replaced_some_times(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    statuses: dict[int, list[int]],
    left: list[int],
    n_warnings: int,
) -> None:
    fake: Any = type("Fake", (FakeChild,), {"statuses": statuses, "sent": [], "started": []})
    monkeypatch.setattr(supervisor, "Child", fake)
    monkeypatch.setattr(supervisor, "_LOOK_SECONDS", 0)
    team = supervisor.Supervisor(2, "job", 60.0, lambda: None, is_new=True)
    team.run()
    assert fake.started[:2] == [(1, True), (2, True)]
    assert not any(is_new for _, is_new in fake.started[2:])
    assert sorted(team.statuses) == sorted(left)
    levels = [record.levelname for record in caplog.records]
    assert levels.count("WARNING") == n_warnings
    assert levels.count("ERROR") == (left[0] == -9)


@pytest.mark.slow
@pytest.mark.parametrize("refresh", [0, 1], ids=["first crawl", "refresh"])
def test_pages_that_another_process_redirects_to_are_stored_once(
    crawl: Any, make: Any, refresh: int
) -> None:
    """In a first crawl each answer is another text, in a refresh each is the same."""
    n_pages, versions = 12, count()

    def page(url: str) -> Any:
        def answer(_: Any) -> bytes:
            time.sleep(0.5)  # so that both requests are in flight
            return bytes(make.page(url if refresh else f"{url} {next(versions)}"))

        return answer

    with ExitStack() as stack:
        sites = [stack.enter_context(make.WebSite({}, f"127.0.0.{n + 2}")) for n in range(2)]
        redirects = {}
        for site, other in zip(sites, reversed(sites), strict=True):
            for n in range(n_pages):
                site.routes[f"/{n}"] = page(f"{site.url}{n}")
                site.routes[f"/to/{n}"] = make.page(f"{site.url}to/{n}")
                redirects[site, f"/to/{n}"] = make.redirect(f"{other.url}{n}")
            site.routes["/"] = make.page(site.url, *site.routes)
        arguments = {"url": ",".join(site.url for site in sites)}
        options = ("-s", "DEDUP_PROCESSES=2")
        if refresh:
            crawl("site", *options, **arguments)
            arguments["refresh"] = "1"
        for (site, target), answer in redirects.items():
            site.routes[target] = answer
        crawled = crawl("site", *options, **arguments)
        assert crawled.status == 0, crawled.output
    assert max(Counter(crawled.rows("SELECT url FROM pages")).values()) == 1
    assert crawled.rows("SELECT url FROM duplicates") == []
