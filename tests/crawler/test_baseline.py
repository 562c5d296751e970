"""Crawls on top of others give the verdicts of one crawl of all, where texts are the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dedup.config import DedupConfig
from dedup.scrapy.job.baseline import Baseline
from dedup.scrapy.job.content import ContentIndex
from dedup.sites.learner import SiteLearner
from dedup.store import JobStore, Page, open_store

_STAGES = ("body", "text", "sentences", "simhash", "minhash")
_WORDS = [f"{a}{b}" for a in ("red", "low", "tall", "new") for b in ("ly", "ness", "er", "est")]


def pages(seed: int, count: int) -> list[Page]:
    """Pages of few contents: equal bodies, equal and similar texts, and others."""
    choose = random.Random(seed)

    def text(content: int) -> str:
        words = random.Random(content).choices(_WORDS, k=120)
        for _ in range(choose.choice((0, 0, 1, 12))):
            words[choose.randrange(120)] = choose.choice(_WORDS)
        return " ".join(words)

    def page(number: int) -> Page:
        said = text(choose.randrange(count // 3))
        url = f"http://{choose.choice('abc')}.example/{seed}/{number}"
        return Page(id="", text=said, url=url, source="given", body=said.encode(), fetched_at=9.0)

    return [page(number) for number in range(count)]


class _Crawl:
    """A crawl's judge, and where its verdicts led."""

    def __init__(self, store: JobStore, earlier: Sequence[JobStore]) -> None:
        learner = SiteLearner(store.learned, max_waiting=10)
        names = [each.job for each in earlier]
        self.content = ContentIndex(
            store, DedupConfig(), learner, Baseline(store, names, list(earlier))
        )
        self.content.use(_STAGES)
        self.content.open()

    def judge(self, arrived: Sequence[Page]) -> dict[str | None, tuple[str | None, str] | None]:
        """The original of each page, and the stage; None: it is stored."""
        verdicts: dict[str | None, tuple[str | None, str] | None] = {}
        with self.content.judging(arrived):
            for page in arrived:
                match = self.content.find(page)
                if match is None:
                    verdicts[page.url] = None
                    assert self.content.add(page) > 0
                else:
                    self.content.add_duplicate(page, match)
                    verdicts[page.url] = self.content.url_of(match.original), match.stage
        return verdicts


@pytest.mark.parametrize("count", [20, 90])  # looked up one by one, and together
@pytest.mark.parametrize("kinds", [("sqlite", "sqlite"), ("postgresql", "sqlite")])
def test_verdicts_are_those_of_one_crawl_of_all(
    count: int, kinds: tuple[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def place(number: int) -> Path | str:
        if number < 2 and kinds[number] == "postgresql":
            new_place: Callable[[], str] = request.getfixturevalue("new_place")
            return new_place()
        return tmp_path / str(number)

    every = [pages(seed, count) for seed in range(3)]
    with open_store(tmp_path / "all") as store:
        whole = _Crawl(store, ())
        expected = [whole.judge(arrived) for arrived in every]
    places: list[Path | str] = []
    for number, arrived in enumerate(every):
        earlier = [open_store(each, read_only=True) for each in places]
        places.append(place(number))
        with open_store(places[-1]) as store:
            assert _Crawl(store, earlier).judge(arrived) == expected[number]
            store.commit()
            kept = sum(verdict is None for verdict in expected[number].values())
            assert store.exports.count("pages") == kept
            dropped = {row["url"]: row for row in store.exports.duplicates()}
            assert set(dropped) == {url for url, found in expected[number].items() if found}
            for url, row in dropped.items():
                assert (row["duplicate_of_url"], row["stage"]) == expected[number][url]
            if number == 2:
                assert len({row["duplicate_of_job"] for row in dropped.values()}) == 3
        for each in earlier:
            each.close()


def test_pages_that_a_job_adds_later_take_no_number_of_others(tmp_path: Path) -> None:
    """A job of a baseline may go on while it is read."""
    first, later = (pages(seed, 40) for seed in range(2))
    with open_store(tmp_path / "first") as running, open_store(tmp_path / "new") as new:
        going_on = _Crawl(running, ())
        going_on.judge(first)
        running.commit()
        reader = open_store(tmp_path / "first", read_only=True)
        baseline = Baseline(new, ["first"], [reader])
        baseline.end_snapshots()
        going_on.judge(later)
        running.commit()
        assert reader.report.last_page() >= baseline.offset
        numbers = [max(numbers) for numbers, _ in baseline.layers.signatures("text")]
        assert 0 < max(numbers) < baseline.offset
        baseline.close()
