import json

import pytest

from benchmarks import urls
from benchmarks.__main__ import main
from benchmarks.index import WrongAnswerError
from benchmarks.urls import Filter, chunks, measure, with_store
from tests.benchmarks.collecting import little_to_collect

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch):
    """Everything in this process, and little of it."""
    for place in ("benchmarks.urls.in_child", "benchmarks.__main__.in_child"):
        monkeypatch.setattr(place, lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(urls, "_LOOKUPS", 300)
    with little_to_collect():
        yield


def test_keys_are_the_same_each_time_and_none_comes_twice():
    keys = [key for chunk in chunks(25_000, 1) for key in chunk]
    assert len(set(keys)) == 25_000
    assert keys[:500] == next(chunks(500, 1))
    assert not set(keys) & set(next(chunks(10_000, 2)))


def test_every_filter_has_a_row_and_ours_state_their_memory(small):
    rows = list(urls.compare(1_000, 1))
    assert len(rows) == 5
    assert all(row["missed"] == 0 and row["single_known"]["median"] > 0 for row in rows)
    assert [4 < (row["stated"] or 0) < 5 for row in rows] == [True, True, False, False, False]


@pytest.mark.parametrize("answer", [True, False])
def test_wrong_answer_has_no_time(answer, small, monkeypatch):
    wrong = Filter(add=len, has=lambda key: answer)
    monkeypatch.setattr(urls, "_contenders", lambda count: {"wrong": lambda: wrong})
    with pytest.raises(WrongAnswerError, match="wrong missed"):
        measure("wrong", 1_000, 1)


def test_answers_with_the_store_must_be_exact(small, tmp_path, monkeypatch):
    assert with_store(1_000, 1, tmp_path)["known, 100 at once"]["median"] > 0
    monkeypatch.setattr(urls.UrlTable, "known", lambda *_: set())
    (tmp_path / "other").mkdir()
    with pytest.raises(WrongAnswerError, match="must tell new and known keys apart"):
        with_store(1_000, 1, tmp_path / "other")


def test_the_command_as_json(small, capsys):
    assert main(["urls", "--urls", "1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["environment"]["versions"]["pybloom-live"]
    (confirmed,) = found["confirmed by a job's store"]
    assert confirmed["urls"] == 1_000
