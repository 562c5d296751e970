"""Pages that have likely changed, as others have lost a passage that they share."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from dedup.revisits import PageHistory, PageText, Schedule, SharedPassages, passages
from dedup.revisits.passages import shingles_of

SITE = "https://a.example/"
SHARED = "the server listens on port eight thousand by default unless told otherwise"


def _own(n: int) -> str:
    return " ".join(f"word{n}x{k}" for k in range(40))


def _text(path: str, text: str, since: float = 0.0, until: float = inf) -> PageText:
    return PageText(SITE + path, since, until, text)


def _site(n_sharing: int, n_pages: int = 100) -> list[PageText]:
    """Pages of which the first ones share a passage."""
    return [
        _text(str(n), f"{_own(n)} {SHARED}" if n < n_sharing else _own(n)) for n in range(n_pages)
    ]


def _lose(found: SharedPassages, n: int, at: float, now: str = "") -> None:
    found.replaced(f"{SITE}{n}", at, f"{_own(n)} {SHARED}", now or _own(n))
    found.visited(f"{SITE}{n}", at, has_changed=True)


def _named(found: SharedPassages, n_pages: int = 100) -> set[int]:
    odds = found.odds(f"{SITE}{n}" for n in range(n_pages))
    return {n for n in range(n_pages) if odds[f"{SITE}{n}"] > 1}


def test_pages_that_have_what_another_lost_have_likely_changed() -> None:
    found = SharedPassages(_site(4))
    assert _named(found) == set()
    _lose(found, 0, 5.0)
    assert _named(found) == {1, 2, 3}


def test_of_what_a_page_got_and_never_lost_nothing_follows() -> None:
    found = SharedPassages(_site(4))
    _lose(found, 0, 5.0, now=f"{_own(0)} {SHARED} and more words than there were before")
    assert _named(found) == set()


def test_a_page_that_was_visited_since_is_not_named() -> None:
    found = SharedPassages(_site(4))
    _lose(found, 0, 5.0)
    found.visited(f"{SITE}1", 6.0, has_changed=False)
    assert _named(found) == {2, 3}


def test_a_passage_that_left_other_pages_before_says_nothing() -> None:
    """As an excerpt that moves from one page of a list to the next, and the article stays."""
    found = SharedPassages(_site(4))
    _lose(found, 0, 5.0)
    found.visited(f"{SITE}1", 6.0, has_changed=False)
    _lose(found, 2, 7.0)
    assert 1 not in _named(found)


def test_few_words_and_what_many_pages_have_say_nothing() -> None:
    short = [_text(str(n), f"{_own(n)} runs on port eighty") for n in range(3)]
    found = SharedPassages([*short, *_site(0)[3:]])
    found.replaced(f"{SITE}0", 5.0, f"{_own(0)} runs on port eighty", _own(0))
    assert _named(found) == set()
    for n_sharing, named in ((4, 3), (9, 0)):
        found = SharedPassages(_site(n_sharing))
        _lose(found, 0, 5.0)
        assert len(_named(found)) == named


def test_other_hosts_are_not_named() -> None:
    others = ["https://b.example/1", "https://b.example/2"]
    texts = [PageText(others[0], 0.0, inf, SHARED), PageText(others[1], 0.0, inf, _own(7))]
    found = SharedPassages([*_site(2), *texts])
    _lose(found, 0, 5.0)
    assert _named(found) == {1}
    assert found.odds(others) == dict.fromkeys(others, pytest.approx(1))


def test_texts_of_earlier_visits_tell_what_was_lost() -> None:
    kept = [_text("0", f"{_own(0)} {SHARED}", 0.0, 5.0), _text("0", _own(0), 5.0)]
    found = SharedPassages([*kept, *_site(4)[1:]])
    assert _named(found) == {1, 2, 3}
    found.visited(f"{SITE}1", 6.0, has_changed=False)
    assert _named(found) == {2, 3}


def test_a_page_that_got_a_passage_after_others_lost_it_is_not_named() -> None:
    found = SharedPassages([*_site(3), _text("200", f"{_own(9)} {SHARED}", 6.0)])
    _lose(found, 0, 5.0)
    assert _named(found) == {1, 2}
    assert found.odds([f"{SITE}1", f"{SITE}200"])[f"{SITE}200"] < 1


def test_a_page_counts_once_in_all_its_versions() -> None:
    versions = [_text("1", f"{_own(1_000 + n)} {SHARED}", n, n + 1) for n in range(1, 9)]
    found = SharedPassages([_site(1)[0], *versions, _text("1", SHARED, 9.0), *_site(0)[2:]])
    _lose(found, 0, 10.0)
    assert _named(found) == {1}


@pytest.mark.parametrize("has_changed", [False, True])
def test_a_site_is_believed_by_what_visits_found(has_changed: bool) -> None:
    """Its pages kept what others lost at ten visits, or changed, too."""
    pages = [_text(f"{n}/{k}", f"{_own(n)} {k}") for n in range(100) for k in range(2)]
    found = SharedPassages([*pages, *_site(2, 2)])
    for n in range(10):
        found.replaced(f"{SITE}{n}/0", n + 1.0, f"{_own(n)} 0", "")
        found.visited(f"{SITE}{n}/1", n + 1.5, has_changed=has_changed)
        for k in range(10):
            found.visited(f"{SITE}{50 + n}/{k % 2}", n + 1.5 + k / 20, has_changed=k == 0)
    assert found.odds([f"{SITE}1"]) == {f"{SITE}1": 1.0}
    _lose(found, 0, 99.0)
    odds = found.odds([f"{SITE}1", *(each.url for each in pages[100:])])[f"{SITE}1"]
    assert (odds > 10) if has_changed else (odds < 2)


def test_a_sample_of_the_shingles_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [_text(str(n), f"{_own(n)} {_own(1_000 + n // 2)}") for n in range(100)]
    monkeypatch.setattr(passages, "_MAX_SHINGLES", 600)
    monkeypatch.setattr(passages, "_TEXTS_AT_ONCE", 7)
    found = SharedPassages(texts)
    found.replaced(f"{SITE}10", 5.0, texts[10].text, _own(10))
    assert _named(found) == {11}


def test_shingles_may_be_known_and_scripts_mixed() -> None:
    texts = ["one two three four", "服务器默认监听八千端口", np.array([7], np.uint64), ""]
    assert [len(each) for each in shingles_of(texts)] == [2, 7, 1, 0]
    known, unknown = (
        SharedPassages([PageText(each.url, 0.0, inf, each.text) for each in pages])
        for pages in (_site(3), _site(3))
    )
    _lose(known, 0, 5.0)
    _lose(unknown, 0, 5.0)
    assert known.odds([f"{SITE}1"]) == unknown.odds([f"{SITE}1"])


def test_a_schedule_brings_pages_forward_that_have_what_another_lost() -> None:
    pages = [PageHistory(f"{SITE}{n}", 1, 9.0, 90.0, 0.0, size=400) for n in range(100)]
    schedule = Schedule(pages, [0.0, 100.0], (), SharedPassages(_site(4)))
    assert f"{SITE}2" not in schedule.order()[:2]
    schedule.note(f"{SITE}0", 101.0, has_changed=True)
    schedule.passages.replaced(f"{SITE}0", 101.0, f"{_own(0)} {SHARED}", _own(0))
    assert set(schedule.order()[:3]) == {f"{SITE}{n}" for n in (1, 2, 3)}
    schedule.note(f"{SITE}1", 102.0, has_changed=False)
    assert set(schedule.order()[:2]) == {f"{SITE}{n}" for n in (2, 3)}
