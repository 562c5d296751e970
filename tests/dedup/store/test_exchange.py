"""Headers are stored with the body, come back with it, and are never taken for a part of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.sites.outline import Outline
from dedup.store import Page, SqliteStore
from dedup.store.exchange import Exchange, split_body, with_exchange

EXCHANGE = Exchange(
    "HTTP/1.1",
    "192.0.2.1",
    (("Content-Type", "text/html"), ("Link", "</a>"), ("Link", "</é>")),
    "GET",
    (("User-Agent", "a crawler"),),
)
STORED = bytes.fromhex(
    "28b52ffd245c750100c03139322e302e322e312f613ec3a93e6120637261776c6572070040e3806a"
    "8de152e69624c0973ab8a4e55c1420b0d53960"
)
"""`EXCHANGE` as the first release with headers stored it."""

TOKENS = st.text("abcXYZ-09", min_size=1)
VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]))
HEADERS = st.lists(st.tuples(TOKENS, VALUES)).map(tuple)


@given(st.builds(Exchange, TOKENS, TOKENS, HEADERS, st.just("POST"), HEADERS))
def test_headers_come_back(exchange: Exchange) -> None:
    packed = exchange.pack()
    assert packed is not None
    assert Exchange.unpack(packed) == _known(exchange)


def _known(exchange: Exchange) -> Exchange:
    """A dash stands for what is not known."""
    known = {"protocol": exchange.protocol, "ip_address": exchange.ip_address}
    return exchange._replace(**{name: "" for name, value in known.items() if value == "-"})


def test_headers_of_earlier_jobs_are_read() -> None:
    assert Exchange.unpack(STORED) == EXCHANGE


def test_a_line_break_ends_no_header() -> None:
    packed = EXCHANGE._replace(response=(("A", "1\r\n\r\nB: 2"),)).pack()
    assert packed is not None
    assert Exchange.unpack(packed).response == (("A", "1 B: 2"),)


def test_more_headers_than_any_server_sends_are_not_kept() -> None:
    assert EXCHANGE._replace(response=(("A", "x" * 70_000),)).pack() is None


@pytest.mark.parametrize("damaged", [b"", b"x", STORED[:-9], STORED[:-1] + b"?"])
def test_damage_is_found(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|hecksum|block"):
        Exchange.unpack(damaged)


@given(st.binary(), st.binary())
def test_a_column_is_split_as_it_was_joined(exchange: bytes, body: bytes) -> None:
    assert split_body(with_exchange(body, exchange)) == (exchange, body)


def test_a_body_without_headers_is_as_before() -> None:
    page = Page(id="", text="", body=b"A body.")
    assert page.body_column == page.packed_body


@pytest.fixture
def page() -> Page:
    return Page(
        id="", text="A text.", url="http://a.example/", body=b"A body.", exchange=EXCHANGE.pack()
    )


def test_pages_versions_and_waiting_pages_keep_them(tmp_path: Path, page: Page) -> None:
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        number = store.add(page, {})
        found = store.page(number)
        assert (found.body, found.exchange) == (page.body, page.exchange)
        assert store.body(number) == page.body
        waiting = store.learned.waiting_page(
            store.learned.add_waiting(page, Outline.from_json("[[],[]]"))
        )
        assert (waiting.body, waiting.exchange) == (page.body, page.exchange)
        store.refreshes.replace_page(number, replace(page, body=b"Now.", fetched_at=9.0), {})
        assert store.page(number).body == b"Now."
        ((_, _, body, _),) = store.exports.versions(1.0)
        assert body == page.body


def test_they_are_not_kept_without_bodies(tmp_path: Path, page: Page) -> None:
    with SqliteStore(tmp_path / "crawl.sqlite", keep_bodies=False) as store:
        found = store.page(store.add(page, {}))
    assert (found.body, found.exchange) == (None, None)
