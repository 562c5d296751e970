"""A host that asks for a pause gets it, and loses no page."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response

from dedup.scrapy.middlewares.retry_after import RetryAfter, seconds_of

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("throttle", ["0", "1"])
def test_a_busy_host_is_left_alone_and_all_its_pages_come(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, throttle: str
) -> None:
    names = [f"/{number}" for number in range(6)]
    refused: list[float] = []
    asked_after: list[float] = []

    def busy_at_first(handler: Any) -> Any:
        now = time.monotonic()
        if not refused or now - refused[0] < 1:  # a burst
            refused.append(now)
            return make.Answer(b"", 429, headers={"Retry-After": "2"})
        asked_after.append(now)
        return make.page(handler.path)

    site.routes |= {"/": make.page("/", *names), **dict.fromkeys(names, busy_at_first)}
    options = ("-s", "RETRY_TIMES=1", "-s", f"AUTOTHROTTLE_ENABLED={throttle}")
    crawled = crawl("site", *options, url=site.url)
    assert crawled.status == 0
    assert crawled.stored(site) == {"/", *names}
    assert crawled.skipped(site) == {}
    assert min(asked_after) - max(refused) >= 1


def test_busy_host_does_not_delay_the_crawl(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{number}" for number in range(30)]
    busy = make.Answer(b"", 429, headers={"Retry-After": "1"})
    site.routes |= {"/": make.page("/", *names), **dict.fromkeys(names, busy)}
    crawled = crawl("site", "-s", "RETRY_TIMES=2", "-s", "LOG_LEVEL=INFO", url=site.url)
    assert crawled.output.count("asks for a pause") == 3
    assert crawled.skipped(site) == dict.fromkeys(names, "http_429")


def test_a_long_pause_is_not_waited_for(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    later = make.Answer(b"", 503, headers={"Retry-After": "3600"})
    site.routes |= {"/": make.page("/", "/later", "/now"), "/later": later, "/now": make.page("x")}
    crawled = crawl("site", url=site.url)
    assert crawled.stored(site) == {"/", "/now"}
    assert crawled.skipped(site) == {"/later": "http_503"}
    assert site.asked.count("/later") == 1


@pytest.fixture
def host() -> SimpleNamespace:
    """A host's slot in the downloader, and what a middleware of its own makes of an answer."""
    slot = SimpleNamespace(delay=0.0, lastseen=0.0)
    engine = SimpleNamespace(downloader=SimpleNamespace(slots={"a.example": slot}))
    middleware: Any = RetryAfter(cast("Any", SimpleNamespace(engine=engine)))

    def answer(status: int, **headers: str) -> None:
        request = Request("http://a.example/", meta={"download_slot": "a.example"})
        middleware.process_response(request, Response(request.url, status, headers))

    return SimpleNamespace(slot=slot, answer=answer)


def test_a_burst_of_refusals_is_one_pause(
    host: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        host.answer(429, **{"Retry-After": "30"})
    assert host.slot.lastseen == pytest.approx(30)
    assert caplog.text.count("asks for a pause") == 1


def test_pauses_that_help_are_given_again(
    host: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("dedup.scrapy.middlewares.retry_after.time.monotonic", lambda: now)
    for answers in range(1, 6):
        host.answer(429)
        assert host.slot.lastseen == pytest.approx(10 * answers)
        now += 20
        host.answer(200)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(b"0", 0), (b" 7 ", 7), (b"", None), (b"-1", None), (b"1.5", None), (b"\xff", None)],
)
def test_seconds_of(value: bytes, expected: float | None) -> None:
    assert seconds_of(value) == expected


@pytest.mark.parametrize("zone", ["GMT", "-0000", "+0200"])
def test_dates_are_counted_from_now(zone: str) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=60, hours=2 * (zone == "+0200"))
    date = format_datetime(moment).replace("+0000", zone)
    assert seconds_of(date.encode()) == pytest.approx(60, abs=5)


@given(st.binary(max_size=40))
def test_seconds_of_never_raises(value: bytes) -> None:
    seconds = seconds_of(value)
    assert seconds is None or seconds >= 0
