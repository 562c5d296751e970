"""The gate on attacks: honest pages are stored, and whole, whatever others post on their host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.accuracy.attacks import (
    ATTACKS,
    N_HONEST,
    Attack,
    forged_originals,
    one_victims_lines_repeated_inside_out_with_bait,
    words_found,
)
from tests.accuracy.in_order import CrawlResult, crawl_in_order

pytestmark = pytest.mark.slow

_WHOLE = 0.95


def whole(attack: Attack, result: CrawlResult) -> set[str]:
    """The honest pages that are stored with their article."""
    return {
        path
        for path, article in attack.articles.items()
        if path in result.texts and words_found(article, result.texts[path]) >= _WHOLE
    }


@pytest.mark.parametrize("make", ATTACKS, ids=lambda make: make.__name__)
def test_all_honest_pages_are_stored_whole(make: Callable[[], Attack], tmp_path: Path) -> None:
    attack = make()
    result = crawl_in_order(attack.pages, tmp_path)
    assert len(attack.articles) == N_HONEST
    assert attack.articles.keys() <= result.texts.keys()
    assert whole(attack, result) == attack.articles.keys()


def test_one_victim_is_lost_whose_lines_most_pages_have_in_its_place(tmp_path: Path) -> None:
    attack = one_victims_lines_repeated_inside_out_with_bait()
    result = crawl_in_order(attack.pages, tmp_path)
    assert result.dropped == {"honest-0.html": "bait.html"}
    assert len(whole(attack, result)) == N_HONEST - 1


def test_a_forged_original_has_the_words_of_what_is_dropped_for_it(tmp_path: Path) -> None:
    attack = forged_originals()
    result = crawl_in_order(attack.pages, tmp_path)
    for path, original in result.dropped.items():
        assert words_found(attack.articles[path], result.texts[original]) >= _WHOLE
