"""What a stranger's store says of sites and pages is refused, or is of no harm."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup import StateError
from dedup.sites.counts import Contribution, SiteCounts
from dedup.sites.learner import SiteLearner
from dedup.sites.outline import Box, Line, Outline
from dedup.sites.state import SiteState
from dedup.store import SqliteStore
from dedup.store.records import Page
from dedup.store.sql.learned import HostKnowledge


def a_state() -> SiteState:
    state = SiteState()
    state.begin(SiteCounts())
    for name in range(40):
        keys = np.unique(np.arange(name, name + 30, dtype=np.uint32) % 45)
        figures = np.full((len(keys), SiteCounts().kind_sums.shape[1]), 0.5, np.float32)
        state.add(Contribution(name, keys, keys, figures, (f"title {name}", "site")))
    return state


def a_page(number: int) -> Outline:
    lines = [
        Line(1, f"Line {number * line} of a page {line}", f"Line {line}", "p") for line in range(9)
    ]
    return Outline([Box(-1, "body", ()), Box(0, "div", ("main",))], lines)


BOMB = zstandard.compress(bytes(100_000_000))
DEEP = zstandard.compress(b"[" * 100_000)


def test_oversized_state_is_not_unpacked() -> None:
    with pytest.raises(ValueError, match="more than"):
        SiteState.from_bytes(BOMB)
    with pytest.raises(ValueError, match="damaged"):
        SiteState.from_bytes(DEEP)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_state_with_changed_bytes_is_refused_or_reads_pages(data: st.DataObject) -> None:
    packed = zstandard.ZstdDecompressor().decompress(a_state().to_bytes())
    raw = bytearray(packed)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    learned = Mock(
        spec=HostKnowledge,
        site=Mock(return_value=zstandard.compress(bytes(raw))),
        count_waiting=Mock(return_value={}),
        count_early=Mock(return_value={}),
    )
    learner = SiteLearner(learned, max_waiting=100)
    site = learner.site("a.example")
    for number in range(3):
        site.read(a_page(number), f"title {number}", f"http://a.example/{number}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[" * 100_000,
        "[[], [[0, 1, 2]]]",
        '[[[-1, "body", []]], [[1, "text", "p"]]]',
        '[[[-1, "body", []]], [[-1, "text", "p"]]]',
        '[[[-1, "body", []], [5, "p", []]], []]',
        '[[[0, "body", []]], []]',
        '[[[-1, "body", [{}]]], []]',
        '[[[-1, "body", []]], [[0, ["text"], "p"]]]',
        json.dumps([[[-1, "body", []]], [[0, "text", "p", None]]]),
    ],
    ids=range(11),
)
def test_invalid_outline_is_a_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="invalid page outline"):
        Outline.from_json(text)
    store = SqliteStore(tmp_path / "crawl.sqlite")
    page = Page(id="", text="a", url="http://a.example/")
    with store.unit():
        store.learned.add_waiting(page, a_page(0))
    packed = zstandard.compress(text.encode())
    store.database.connection.execute("UPDATE waiting SET outline = ?", [packed])
    with pytest.raises(StateError, match="the outline of page 1 is damaged"):
        store.learned.waiting("a.example")
    store.close()
