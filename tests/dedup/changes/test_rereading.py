"""Changes of pages whose host got another template, or of which more is known now."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from dedup.changes import Changes, settle
from dedup.changes.rereading import without_pagers
from dedup.html import bounded
from dedup.html.unfolding import page_outline
from dedup.sites.outline import Outline
from dedup.store import JobStore, Page, open_store

SITE = "http://a.example/"
_TOPICS = [*"abcdefghijkl"]


def _own(topic: str, word: str = "silver") -> list[str]:
    return [
        f"The {topic} of {word} number {each} shine in their own {topic}way" for each in "abcdef"
    ]


def _menu(topic: str) -> list[str]:
    """A menu that a fourth of the pages share, with a list of neighbours."""
    section = _TOPICS.index(topic) // 3
    return [
        f"About {each} and more in part {'uvwx'[section]}" for each in _TOPICS[section * 3 :][:3]
    ]


def _old(topic: str) -> str:
    lines = "".join(f"<p>{line}</p>" for line in _own(topic))
    return f"<div class=bar><a href=/>Home of all tools</a></div><div class=text>{lines}</div>"


def _new(topic: str, word: str = "silver") -> str:
    lines = "".join(f"<p>{line}</p>" for line in _own(topic, word))
    links = "".join(f"<li><a href=/x>{line}</a></li>" for line in _menu(topic))
    menu = f"<ul class=side>{links * 8}</ul>"
    return f"<main><aside>{menu}</aside><section class=words>{lines}</section></main>"


def _page(topic: str, body: str, text: list[str], at: float) -> Page:
    html = f"<html><head><title>{topic}</title></head><body>{body}</body></html>"
    return Page(
        id="",
        text="\n".join(text),
        url=SITE + topic,
        title=topic,
        fetched_at=at,
        body=html.encode(),
        content_type="text/html; charset=utf-8",
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    with open_store(tmp_path / "job") as found:
        yield found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    found = count(1_000.0)
    monkeypatch.setattr("time.time", lambda: next(found))
    return found


def test_menus_that_got_into_the_text_with_a_new_template_are_not_told(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    numbers = {
        topic: store.add(_page(topic, _old(topic), _own(topic), 500.0), {}) for topic in _TOPICS
    }
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic, number in numbers.items():
        word = "golden" if topic == "e" else "silver"
        text = [*_menu(topic), *_own(topic, word)]  # as it is read with the old template
        store.refreshes.replace_page(number, _page(topic, _new(topic, word), text, next(clock)), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    told = {each.url: each for each in Changes(store, None, tmp_path).rows()}
    assert {url for url, each in told.items() if each.change == "changed"} == {f"{SITE}e"}
    assert not set(_menu("e")) & set(told[f"{SITE}e"].came)


def _outline(body: str) -> Outline:
    found = page_outline(bounded(f"<html><body>{body}</body></html>"))
    assert found is not None
    return found


def test_links_to_the_pages_before_and_after_are_left_out() -> None:
    links = (
        "<ul class=pager><li><a href=/a>Older: forks</a></li><li><a href=/b>Knives</a></li></ul>"
    )
    kept = without_pagers(_outline(f"<div><p>All about spoons.</p>{links}</div>"))
    assert [line.text for line in kept.lines] == ["All about spoons."]


@pytest.mark.parametrize(
    "body",
    [
        "<div class=next><p>What comes next is told here, without links.</p></div>",
        "<ul class=list><li><a href=/a>Forks</a></li><li><a href=/b>Knives</a></li></ul>",
        "<nav class=pagination><a href=/a>All of the page</a></nav>",
        f"<div class=prev-next><a href=/a>{'A long list of links. ' * 20}</a></div><p>Text.</p>",
    ],
)
def test_what_is_no_pager_stays(body: str) -> None:
    page = _outline(body)
    assert without_pagers(page).lines == page.lines


def test_counters_that_show_the_path_of_their_page_belong_to_the_template(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    old = {topic: _page(topic, "", _own(topic), 500.0) for topic in _TOPICS}
    numbers = {topic: store.add(page, {}) for topic, page in old.items()}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic, number in numbers.items():
        text = [*_own(topic), f'Visitors of "/{topic}/"']
        store.refreshes.replace_page(number, _page(topic, "", text, next(clock)), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    assert [each.change for each in Changes(store, None, tmp_path).rows()] == ["template"]
