"""What the scripts of a page may reach: stricter than what the crawl may fetch."""

from __future__ import annotations

import pytest

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.rendering.reach import Reach, is_tracker

START = "http://127.0.0.1:8000/"
SCOPE = "http://127.0.0.1:9000/"

CASES = [
    # page, what it asks for, address, may it?
    ("http://a.example/", ("b.example", 80), "93.184.216.34", True),
    ("http://a.example/", ("b.example", 80), "10.0.0.1", False),
    ("http://a.example/", ("127.0.0.1", 8000), "127.0.0.1", False),
    (START, ("127.0.0.1", 8000), "127.0.0.1", True),
    (START, ("127.0.0.1", 9000), "127.0.0.1", True),  # in scope
    (START, ("127.0.0.1", 22), "127.0.0.1", False),
    (START, ("169.254.169.254", 80), "169.254.169.254", False),
    (START, ("b.example", 80), "93.184.216.34", True),
]


@pytest.mark.parametrize(("page", "place", "address", "expected"), CASES)
def test_addresses(page: str, place: tuple[str, int], address: str, expected: bool) -> None:
    policy = AddressPolicy()
    policy.start(START)
    in_scope = {SCOPE, START} if page == START else set()
    reach = Reach(policy, in_scope.__contains__, max_bytes=1)
    reach.begin(page)
    may = reach.may_ask("http", *place) and reach.may_use("http", *place, address)
    assert may is expected
    assert bool(reach.refused) is not expected


def test_third_parties_can_be_forbidden() -> None:
    reach = Reach(AddressPolicy(), lambda url: False, max_bytes=1, has_third_parties=False)
    reach.begin("https://a.example/")
    assert reach.may_ask("https", "a.example", 443)
    assert not reach.may_ask("https", "b.example", 443)
    assert reach.refused == ("b.example:443",)


def test_what_the_user_allows_is_open() -> None:
    reach = Reach(AddressPolicy(is_open=True), lambda url: False, max_bytes=1)
    assert reach.may_ask("http", "10.0.0.1", 80)
    assert reach.may_use("http", "10.0.0.1", 80, "10.0.0.1")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("www.hotjar.com", True), ("hotjar.com", True), ("nothotjar.com", False), ("com", False)],
)
def test_trackers_are_known_with_their_subdomains(host: str, expected: bool) -> None:
    assert is_tracker(host) is expected
