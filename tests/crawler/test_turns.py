"""Pages that are judged together: the records are those of one page after the other."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dedup.errors import StateError
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.turns import Turns
from dedup.sites.second_look import Rest
from dedup.sites.site import PageText
from dedup.store import Page
from dedup.store.interface import Workers
from tests.crawler.test_links import make_crawler

EXACT, NEAR = ("body", "text", "sentences"), ("simhash", "minhash")
WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[list[Job]]:
    found = [Job.of(make_crawler(tmp_path / name)) for name in ("one", "other")]
    for job in found:
        for stages in (EXACT, NEAR, ()):
            job.pages.judge.join(stages)
        job.pages.judge.open()
    yield found
    for job in found:
        job.close()


def items(count: int, seed: int) -> list[PageItem]:
    """Pages, two thirds of them copies or near copies of others, or of copies."""
    source = random.Random(seed)
    texts = [" ".join(source.choices(WORDS, k=150)) for _ in range(count // 3)]
    found = []
    for number in range(count):
        words = source.choice(texts).split()
        for _ in range(source.choice((0, 0, 3, 12))):
            words[source.randrange(len(words))] = source.choice(WORDS)
        text = " ".join(words) if number % 7 else f"Short {source.randrange(4)}."
        body = b"" if number % 5 else text.encode()
        url = f"http://{number % 3}.example/{number}"
        found.append(PageItem(url=url, text=text, title=source.choice("ABC"), body=body))
    return found


def judged(job: Job, found: Sequence[PageItem], size: int) -> list[Any]:
    judge = job.pages.judge
    for start in range(0, len(found), size):
        asked = [(item, 2) for item in found[start : start + size]]
        for item, _ in asked:
            judge.follow(item)
            judge.is_to_record(item, 0)
        judge.prepare(asked)
        with judge.together(asked):
            for each in asked:
                judge.judge(*each)
    pages = [(row["id"], row["url"]) for row in job.store.exports.pages()]
    rows = job.store.exports.duplicate_rows()
    return [pages, [(row.number, row.url, row.original, row.stage, row.distance) for row in rows]]


@pytest.mark.parametrize("seed", range(3))
def test_together_as_one_after_the_other(jobs: list[Job], seed: int) -> None:
    one_by_one = judged(jobs[0], items(150, seed), 1)
    assert len(one_by_one[0]) > 20
    assert len(one_by_one[1]) > 20
    assert judged(jobs[1], items(150, seed), 75) == one_by_one


def test_page_that_changes_meanwhile_is_found_by_its_new_text(jobs: list[Job]) -> None:
    content = jobs[0].pages.content
    texts = [" ".join(random.Random(n).choices(WORDS, k=150)) for n in range(41)]
    pages = [Page(id="", text=text, url=f"http://a.example/{n}") for n, text in enumerate(texts)]
    with content.judging(pages):
        number = content.add(pages[0])
        content.change(number, PageText(text=texts[40], heading="", title="", source="given"))
        found = [content.find(page) for page in pages[1:]]
    assert found[:-1] == [None] * 39
    assert found[-1] is not None
    assert found[-1].original == number


def test_what_is_learned_of_a_host_meanwhile_counts(jobs: list[Job]) -> None:
    content = jobs[0].pages.content
    check = content.open().check
    words = random.Random(1).choices(WORDS, k=150)
    lines = np.arange(200, dtype=np.uint32)
    rests = [Rest(lines[:90], lines[:90]), Rest(lines[90:], lines[90:])]
    content.add(Page(id="", text=" ".join(words), url="http://a.example/1", rest=rests[0]))
    words[75] = "other"
    page = Page(id="", text=" ".join(words), url="http://b.example/1", rest=rests[1])
    assert content.find(page) is not None
    check.rare_on = lambda _: lambda keys: np.ones(len(keys), np.bool_)
    with content.judging([page]):
        assert content.find(page) is None


class Once(Workers):
    """Another process of the job writes at first."""

    is_shared = True

    def __init__(self, log: list[Any]) -> None:
        self.log, self.is_free = log, False

    def try_begin(self, *, waits: bool) -> bool:
        self.log.append("begin" if self.is_free else "try")
        self.is_free, is_free = True, self.is_free
        return is_free

    def end(self) -> None:
        self.log.append("end")


class Asked:
    def __init__(self, log: list[Any], error: Exception | None = None) -> None:
        self.log, self.error = log, error

    def prepare(self, asked: Sequence[Any]) -> None:
        self.log.append(("prepare", *asked))

    @contextmanager
    def together(self, asked: Sequence[Any]) -> Iterator[None]:
        if self.error is not None:
            raise self.error
        self.log.append(("together", *asked))
        yield


async def _run(log: list[Any], group: Asked, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    loop = asyncio.get_running_loop()
    monkeypatch.setattr("dedup.scrapy.job.turns.call_later", loop.call_later)
    monkeypatch.setattr(
        "dedup.scrapy.job.turns.maybe_deferred_to_future", lambda done: done.asFuture(loop)
    )
    turns = Turns(Once(log))

    def note(value: str) -> str:
        log.append(value)
        return value.upper()

    calls = [
        turns.run_together(group, ("a",), note),
        turns.run(lambda: note("x")),
        turns.run_together(group, ("b",), note),
    ]
    return await asyncio.gather(*calls, return_exceptions=True)


def test_calls_of_a_group_are_prepared_before_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[Any] = []
    assert asyncio.run(_run(log, Asked(log), monkeypatch)) == ["A", "X", "B"]
    assert log[:3] == [("prepare", ("a",), ("b",)), "try", ("prepare",)]
    assert log[3:] == ["begin", "x", ("together", ("a",), ("b",)), "a", "b", "end"]


@pytest.mark.parametrize("error", [ValueError("bad"), StateError("a job", "is gone", "Rerun")])
def test_failing_group_fails_its_calls(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[Any] = []
    found = asyncio.run(_run(log, Asked(log, error), monkeypatch))
    assert [each for each in found if each is error][:2] == [error, error]
    assert (found[1] == "X") == isinstance(error, ValueError)
