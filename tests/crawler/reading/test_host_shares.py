"""What hosts take of the crawl's time."""

from __future__ import annotations

import pytest

from dedup.scrapy.reading.host_shares import MAX_CUT, HostShares


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_host_beyond_its_share_is_put_off_until_time_has_paid(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    shares = HostShares(2, clock)  # a quarter of a second each second
    for _ in range(1_000):
        shares.charge("ordinary", 0.01)
    for _ in range(3):
        shares.charge("heavy", 2.0)
    assert not shares.is_put_off("ordinary")
    assert shares.is_put_off("heavy")
    assert caplog.text.count("heavy exceeds its share") == 1
    clock.now = 19.0
    assert shares.is_put_off("heavy")
    clock.now = 20.0  # 5.94 s were too much, of which 1 s is no matter
    assert not shares.is_put_off("heavy")


def test_hosts_that_have_paid_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedup.scrapy.reading.host_shares._MANY_HOSTS", 3)
    clock = Clock()
    shares = HostShares(1, clock)
    for number in range(10):
        clock.now += 100.0
        shares.charge(str(number), 1.0)
    assert len(shares._debts) <= 3


def test_a_host_is_slow_while_it_has_slow_pages() -> None:
    shares = HostShares(1)
    shares.note_page("quick", 0.01)
    for seconds in (0.01, 1.5, 0.01, 5.0, 1.0, 1.0):
        assert not shares.is_slow("a")
        shares.note_page("a", seconds)
    assert shares.is_slow("a")
    for _ in range(100):
        shares.note_page("a", 0.01)
    assert not shares.is_slow("a")
    assert not shares.is_slow("quick")
    for _ in range(200):
        shares.note_page("a", 0.01)
    assert not shares._slow


def test_a_host_is_given_up_for_pages_beyond_their_budgets_alone() -> None:
    shares = HostShares(1)
    for _ in range(2 * MAX_CUT):  # half of its pages are read
        shares.note_end("half", is_cut=True)
        shares.note_end("half", is_cut=False)
        shares.charge("slow", 4.9)
        shares.note_end("slow", is_cut=False)
    assert not shares.is_given_up("half")
    assert not shares.is_given_up("slow")
    for _ in range(MAX_CUT):
        assert not shares.is_given_up("bad")
        shares.note_end("bad", is_cut=True)
    assert shares.is_given_up("bad")
