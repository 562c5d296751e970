"""Changes of pages whose host got another template, or of which more is known now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from dedup.changes import Changes, settle
from dedup.changes.page_names import PageNames
from dedup.document import Match
from dedup.sites.learner import SiteState
from dedup.sites.outline import Outline
from dedup.sites.site import learn
from dedup.sites.stored import outline_of
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


def _crawled(store: JobStore, pages: dict[str, Page]) -> dict[str, int]:
    """Store the pages of a finished crawl, and what it learned of their site."""
    numbers = {topic: store.add(each, {}) for topic, each in pages.items()}
    state = SiteState()
    state.begin(learn((outline_of(each) or Outline(), topic, "") for topic, each in pages.items()))
    store.learned.set_site("a.example", state.to_bytes())
    store.set_meta("finished", "1.0")
    return numbers


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


def test_entries_of_a_list_are_told_although_a_menu_has_them_too(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    def body(topic: str, *entries: str) -> str:
        menu = "".join(f"<li><a href=/{each}>About {each}</a></li>" for each in _TOPICS)
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        listed = "".join(f"<h2><a href=/{each}>About {each}</a></h2>" for each in entries)
        return f"<nav><ul>{menu}</ul></nav><main>{own}{listed}</main>"

    def page(topic: str, at: float, *entries: str) -> Page:
        text = [*_own(topic), *(f"About {each}" for each in entries)]
        return _page(topic, body(topic, *entries), text, at)

    learned = [(page(topic, 0.0), topic) for topic in _TOPICS]
    for each, _ in learned:
        store.add(each, {})
    state = SiteState()
    state.begin(learn((outline_of(each) or Outline(), topic, topic) for each, topic in learned))
    store.learned.set_site("a.example", state.to_bytes())
    number = store.add(page("list", 500.0, "a", "b"), {})
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    store.refreshes.replace_page(number, page("list", next(clock), "b", "c"), {})
    (told,) = Changes(store, None, tmp_path).rows()
    assert (told.came, told.went) == (["About c"], ["About a"])


def test_a_menu_in_the_stored_text_makes_no_page_a_list_of_links(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    def links(texts: list[str]) -> str:
        return f"<ul>{''.join(f'<li><a href=/x>{text}</a></li>' for text in texts)}</ul>"

    menu = [f"All that there is about the tools of section {n}" for n in "abcdefghijklmnop"]

    def page(topic: str, at: float, n_parts: int, text: list[str]) -> Page:
        parts = [f"Part {'xyz'[n]}" for n in range(n_parts)]
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        body = f"<nav>{links(menu)}</nav><main>{own}{links(parts)}</main>"
        return _page(topic, body, [*text, *_own(topic), *parts], at)

    number = store.add(page("a", 500.0, 2, menu), {})  # read before the menu was known
    learned = [page(topic, 500.0, 0, []) for topic in _TOPICS[1:]]
    for each in learned:
        store.add(each, {})
    state = SiteState()
    state.begin(learn((outline_of(each) or Outline(), each.title, "") for each in learned))
    store.learned.set_site("a.example", state.to_bytes())
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    store.refreshes.replace_page(number, page("a", next(clock), 3, []), {})
    assert list(Changes(store, None, tmp_path).rows()) == []


def test_a_trail_that_got_into_the_text_of_all_pages_is_told_of_none(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    def page(topic: str, at: float, end: str) -> Page:
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        body = f"<main><div><a href=/>Home</a> &gt; {end}</div>{own}</main>"
        return _page(topic, body, [f"Home > {end}", *_own(topic)], at)

    numbers = {topic: store.add(page(topic, 500.0, "Tools"), {}) for topic in _TOPICS}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic, number in numbers.items():
        store.refreshes.replace_page(number, page(topic, next(clock), topic), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    assert [each.change for each in Changes(store, None, tmp_path).rows()] == ["template"]


@pytest.mark.parametrize("shown", ["/{}/", "http://old.example/{}/index.html"])
def test_lines_that_show_the_path_of_their_page_belong_to_the_template(
    store: JobStore, tmp_path: Path, clock: Iterator[float], shown: str
) -> None:
    old = {topic: _page(topic, "", _own(topic), 500.0) for topic in _TOPICS}
    numbers = {topic: store.add(page, {}) for topic, page in old.items()}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic, number in numbers.items():
        text = [*_own(topic), f'Visitors of "{shown.format(topic)}"']
        store.refreshes.replace_page(number, _page(topic, "", text, next(clock)), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    assert [each.change for each in Changes(store, None, tmp_path).rows()] == ["template"]


@pytest.mark.parametrize(
    ("label", "in_article", "share", "n_gone", "n_copies", "told"),
    [
        ("Definition", True, 3, 0, 0, True),
        ("Definition", False, 3, 0, 0, False),  # in a box beside the article
        ("Definition", True, 2, 0, 0, False),  # on half of the pages
        ("Definition", True, 3, 8, 0, False),  # on half of the pages that are there
        ("Definition", True, 3, 0, 10, True),  # duplicates are gone, which are no pages
        ("Reference {}", True, 3, 0, 0, True),  # another number on each
    ],
)
def test_a_label_that_several_articles_got_at_once_is_their_own(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    label: str,
    *,
    in_article: bool,
    share: int,
    n_gone: int,
    n_copies: int,
    told: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]
    some = topics[::share]
    labels = {topic: label.format(at) for at, topic in enumerate(some)}

    def page(topic: str, at: float, label: str) -> Page:
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        heading = f"<h3>{label}</h3>" if label else ""
        inside, beside = (heading, "") if in_article else ("", heading)
        body = f"<div>{beside}</div><div>{inside}{own}</div>"
        text = [label, *_own(topic)] if label else _own(topic)
        return _page(topic, body, text, at)

    numbers = {topic: store.add(page(topic, 500.0, ""), {}) for topic in topics}
    store.set_meta("finished", "1.0")
    copies = [f"copy{number}" for number in range(n_copies)]
    for copy in copies:
        store.add_duplicate(page(copy, 500.0, ""), Match(numbers[topics[0]], "text"))
    for _ in range(2):  # those are gone after the second
        store.refreshes.begin()
        for copy in copies:
            store.refreshes.note_visit(SITE + copy, "missing")
        for topic in topics:
            is_gone = topic in [each for each in topics if each not in some][:n_gone]
            store.refreshes.note_visit(SITE + topic, "missing" if is_gone else "unchanged")
        settle(store)
    store.refreshes.begin()
    for topic in some:
        new = page(topic, next(clock), labels[topic])
        store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    came = {each.url.removeprefix(SITE): each.came for each in rows}
    assert came == ({topic: [label] for topic, label in labels.items()} if told else {})


@pytest.mark.parametrize(
    ("box", "n_changed", "told"),
    [
        ("<div>{own}<p>{value}</p></div>", 1, True),
        ("<div>{own}<p>{value}</p></div>", 4, True),
        ("<div>{own}<aside>{value}</aside></div>", 1, False),
        ("<div>{own}</div><div>{value}</div>", 1, True),  # beside the article
        ("<div>{own}</div><aside>{value}</aside>", 1, False),
    ],
)
def test_one_of_a_few_values_that_many_pages_have_is_told_if_it_is_another(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    *,
    box: str,
    n_changed: int,
    told: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]

    def page(topic: str, at: float, value: str) -> Page:
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        return _page(topic, box.format(own=own, value=value), [*_own(topic), value], at)

    values = dict(zip(topics, ("In stock", "Sold out") * 12, strict=True))
    pages = {topic: page(topic, 500.0, value) for topic, value in values.items()}
    numbers = _crawled(store, pages)
    store.refreshes.begin()
    some = topics[: 2 * n_changed : 2]
    for topic in topics:
        if topic in some:
            new = page(topic, next(clock), "Sold out")
            store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed" if topic in some else "unchanged")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert {each.url for each in rows} == ({SITE + topic for topic in some} if told else set())
    assert {(*each.came, *each.went) for each in rows} <= {("Sold out", "In stock")}


_FACTS = {"maker": "Borealis", "weight": "3 kg", "place": "Oslo", "seller": "Ann Oak"}


def _offer(topic: str, at: float, ad: str, **facts: str) -> Page:
    """A page with facts and an advertisement beside its own text, which are stored as text."""
    rows = {**_FACTS, **facts}
    table = "".join(f"<tr><th>{name}<td>{value}" for name, value in rows.items())
    own = "".join(f"<p>{line}</p>" for line in _own(topic))
    body = f"<table class=facts>{table}</table><div class=own>{own}</div><p class=ad>{ad}</p>"
    said = re.sub("<[^>]+>", "", ad)
    text = [*(f"{name}\t{value}" for name, value in rows.items()), *_own(topic), said]
    return _page(topic, body, text, at)


def test_facts_that_a_reading_leaves_out_are_told_if_the_page_has_others(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]
    numbers = _crawled(store, {topic: _offer(topic, 500.0, "Buy") for topic in topics})
    store.refreshes.begin()
    new = _offer("bg", next(clock), "Buy", maker="Cobalt", weight="4 kg")
    store.refreshes.replace_page(numbers["bg"], new, {})
    # Read with more knowledge now, which the page has not changed:
    less = replace(_offer("ch", next(clock), "Buy"), text="\n".join(_own("ch")))
    store.refreshes.replace_page(numbers["ch"], less, {})
    (told,) = Changes(store, None, tmp_path).rows()
    assert (told.url, told.change) == (f"{SITE}bg", "changed")
    assert told.came == ["maker\tCobalt", "weight\t4 kg"]
    assert told.went == ["maker\tBorealis", "weight\t3 kg"]


def test_facts_are_told_although_a_counter_in_the_text_differs_on_all_pages(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    def page(topic: str, at: float, seen: int, **facts: str) -> Page:
        counter = f"{seen} people look at this {topic}"
        own = "\n".join([*_own(topic), counter])  # which has no facts
        return replace(_offer(topic, at, counter, **facts), text=own)

    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]
    pages = {topic: page(topic, 500.0, at) for at, topic in enumerate(topics)}
    numbers = _crawled(store, pages)
    store.refreshes.begin()
    for at, topic in enumerate(topics):
        facts = {"maker": "Cobalt"} if topic == "dj" else {}
        new = page(topic, next(clock), 3 * at + 7, **facts)
        store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert [(each.url, each.came) for each in rows] == [(f"{SITE}dj", ["maker\tCobalt"])]


@pytest.mark.parametrize("link", ["{}", "<a href=/x>{}</a>"])
@pytest.mark.parametrize(("n_pages", "n_told"), [(24, 1), (13, 1), (12, 13)])
def test_advertisements_in_texts_that_differ_on_most_pages_are_not_told(
    store: JobStore, tmp_path: Path, clock: Iterator[float], n_pages: int, n_told: int, link: str
) -> None:
    def ad(topic: str, visit: int) -> str:
        words = " ".join(f"{topic}{each}{'xy'[visit]}" for each in ("buy", "this", "now", "here"))
        return f"{link.format(words)} by me"

    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]
    numbers = _crawled(store, {topic: _offer(topic, 500.0, ad(topic, 0)) for topic in topics})
    store.refreshes.begin()
    for at, topic in enumerate(topics):
        facts = {"maker": "Cobalt"} if topic == "dj" else {}
        if at < n_pages or facts:
            new = _offer(topic, next(clock), ad(topic, int(at < n_pages)), **facts)
            store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed" if at < n_pages else "unchanged")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert len(rows) == n_told
    own = {each.url: each.came for each in rows}
    assert own[f"{SITE}dj"] == ["maker\tCobalt"]


def test_a_sentence_that_most_pages_of_a_small_site_got_is_the_templates(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    topics = list("abcdefgh")
    old, new = (
        f"We are away in the {season} and come back when the leaves begin to fall"
        for season in ("summer", "spring")
    )

    def page(topic: str, at: float, line: str) -> Page:
        own = "".join(f"<p>{each}</p>" for each in _own(topic))
        return _page(topic, f"<div>{own}<p>{line}</p></div>", [*_own(topic), line], at)

    pages = {topic: page(topic, 500.0, old) for topic in topics}
    numbers = _crawled(store, pages)
    store.refreshes.begin()
    for topic in topics:
        store.refreshes.replace_page(numbers[topic], page(topic, next(clock), new), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    assert [each.change for each in Changes(store, None, tmp_path).rows()] == ["template"]


@pytest.mark.parametrize(
    ("line", "then", "now", "n_changed", "is_told"),
    [
        ("Price: ${}.00", "40", "99", 1, True),
        ("Price: ${}.00", "40", "99", 5, True),
        ("Price: ${}.00", "40", "99", 6, False),  # a quarter
        ("Version: {}", "1.9", "2.0", 5, True),
        ("温度：{}度", "12", "9", 5, True),
        ("Viewed {} times", "1,240", "1,305", 5, False),
        ("Viewed {} times", "0", "9" * 1_500, 5, False),
        ("Viewed {} times", "1,240", "1,305", 1, True),  # one alone may be any number
        ("Made at {}", "10:20", "9:35", 5, False),
        ("Read {}", "3 days ago", "5 days ago", 1, False),
        ("Opens on {}", "2024-05-03", "2023-11-30", 1, True),
        ("Opens on {}", "2024-05-03", "2023-11-30", 5, False),
        ("Made in {}", "2024", "2022", 1, True),
        ("Last updated on {}", "2024-05-03", "2024-11-30", 1, False),
        ("{}", "2024-05-03", "2023-11-30", 1, False),
        ("© {} Ann", "2024", "2025", 1, False),
        ("Price: {} kr", "40", "45", 2, True),
        ("Price: {} kr", "40", "45", 6, False),
        ("{} comments", "40", "45", 2, False),
    ],
)
def test_numbers_of_a_line_that_many_pages_have_are_told_if_few_have_changed(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    line: str,
    then: str,
    now: str,
    n_changed: int,
    *,
    is_told: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]
    lines = line.format(then), line.format(now)
    told = _told_of_renumbered(store, tmp_path, clock, topics, lines, n_changed)
    assert told == [SITE + topic for topic in topics[: n_changed * is_told]]


@pytest.mark.parametrize(("n_changed", "is_told"), [(1, True), (3, True), (4, True), (6, False)])
def test_numbers_of_some_pages_of_a_small_site_are_told(
    store: JobStore, tmp_path: Path, clock: Iterator[float], n_changed: int, *, is_told: bool
) -> None:
    topics, lines = ["ae", "af", "ag", "ah", "ai", "aj"], ("Price: $40.00", "Price: $99.00")
    told = _told_of_renumbered(store, tmp_path, clock, topics, lines, n_changed)
    assert told == [SITE + topic for topic in topics[: n_changed * is_told]]


@pytest.mark.parametrize(
    ("line", "then", "now"),
    [
        ("${price}.00 · {n} likes", "7", "9"),
        ("Price: ${price} {stock} {n} likes", "1885", "1906"),  # no years
        ("Price: ${price}.50 {stock} {n} sold", "300", "299"),
        ("{n} views, {price} left, {stock}", "7", "9"),
        ("价格：{price}元，阅读 {n}，{stock}", "1985", "2006"),
        ("Comments ({n}) | {stock} | {price} rooms", "7", "9"),
        ("4.{price} stars · {n} reviews", "300", "299"),
    ],
)
@pytest.mark.parametrize("is_in_text", [True, False])
def test_what_differs_beside_a_counter_that_grows_on_most_pages_is_told(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    line: str,
    then: str,
    now: str,
    *,
    is_in_text: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]

    def page(topic: str, at: float, n: object, **values: object) -> Page:
        stock = "Sold" if topic[1] in "ij" else "In stock"
        own = line.format_map({"price": 40, "stock": stock, "n": n, **values})
        texts = [*_own(topic), own]
        body = "".join(f"<p>{each}</p>" for each in texts)
        return _page(topic, body, texts if is_in_text else _own(topic), at)

    numbers = _crawled(store, {t: page(t, 500.0, at or then) for at, t in enumerate(topics)})
    changed: dict[str, dict[str, object]] = {"af": {"price": 35}, "bf": {"price": 41}}
    if "{stock}" in line:
        changed |= {"cg": {"stock": "Sold"}, "dj": {"stock": "In stock"}}
    store.refreshes.begin()
    for at, topic in enumerate(topics):
        new = page(topic, next(clock), at + 3 if at else now, **changed.get(topic, {}))
        store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert {each.url.removeprefix(SITE) for each in rows} == changed.keys()


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("998 views", "1,004 views"),
        ("999 views", "1k views"),
        ("1.2k views", "1.3k views"),
        ("1 view", "2 views"),
        ("300 views", "299 views"),
    ],
)
@pytest.mark.parametrize("n_others", [23, 1])
def test_counters_that_are_written_otherwise_are_no_changes(
    store: JobStore, tmp_path: Path, clock: Iterator[float], then: str, now: str, n_others: int
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]

    def page(topic: str, at: float, line: str) -> Page:
        texts = [*_own(topic), line]
        return _page(topic, "".join(f"<p>{each}</p>" for each in texts), texts, at)

    old = {topic: f"{at + 2} views" for at, topic in enumerate(topics)} | {"ae": then}
    new = {topic: f"{at + 9} views" for at, topic in enumerate(topics[: n_others + 1])}
    new["ae"] = now
    numbers = _crawled(store, {topic: page(topic, 500.0, line) for topic, line in old.items()})
    store.refreshes.begin()
    for topic, line in new.items():
        store.refreshes.replace_page(numbers[topic], page(topic, next(clock), line), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    assert "changed" not in {each.change for each in Changes(store, None, tmp_path).rows()}


def test_what_one_refresh_found_is_told_over_another_in_which_most_pages_changed(
    store: JobStore, tmp_path: Path, clock: Iterator[float]
) -> None:
    topics = [f"{one}{two}" for one in "ab" for two in "efghij"]
    lines = ("Price: $40.00", "Price: $99.00")
    told = _told_of_renumbered(store, tmp_path, clock, topics, lines, 1)
    assert told == [SITE + topics[0]]
    _told_of_renumbered(store, tmp_path, clock, topics, ("", "Price: $41.00"), len(topics))
    rows = list(Changes(store, None, tmp_path).rows())
    assert [each.change for each in rows] == ["template"]
    since = store.refreshes.changes.refreshes()[0].began
    rows = list(Changes(store, since, tmp_path).rows())
    assert [each.url for each in rows if each.change == "changed"] == [SITE + topics[0]]


def _told_of_renumbered(
    store: JobStore,
    folder: Path,
    clock: Iterator[float],
    topics: list[str],
    lines: tuple[str, str],
    n_changed: int,
) -> list[str]:
    """The pages that are told if a line that all have is another on the first ones."""

    def page(topic: str, at: float, line: str) -> Page:
        texts = [*_own(topic), line]
        return _page(topic, "".join(f"<p>{each}</p>" for each in texts), texts, at)

    if not store.stats.pages():
        _crawled(store, {topic: page(topic, 500.0, lines[0]) for topic in topics})
    numbers = {url: number for number, url in store.exports.page_urls().items()}
    store.refreshes.begin()
    for topic in topics[:n_changed]:
        new = page(topic, next(clock), lines[1])
        store.refreshes.replace_page(numbers[SITE + topic], new, {})
    for at, topic in enumerate(topics):
        store.refreshes.note_visit(SITE + topic, "changed" if at < n_changed else "unchanged")
    settle(store)
    rows = Changes(store, None, folder).rows()
    return sorted(each.url for each in rows if each.change == "changed")


@pytest.mark.parametrize(
    ("item", "n_lists", "has_body", "told"),
    [
        ("<h2><a href=/x>{}</a></h2>", 8, True, True),
        ("<div>2017-07-01 <a href=/x>{}</a></div>", 8, True, True),
        ("<div><a href=/x>{}</a> · 2017年7月1日</div>", 8, True, True),
        ("<a href=/x>{}</a><br>", 8, True, False),  # a menu
        ("<h2><a href=/x>{}</a></h2>", 8, False, False),  # it may be a menu
        ("<h2><a href=/x>{}</a></h2>", 14, True, False),  # on more than ten pages, and a tenth
    ],
)
def test_names_of_pages_that_several_lists_got_at_once_are_their_own(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    *,
    item: str,
    n_lists: int,
    has_body: bool,
    told: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]

    def page(topic: str, at: float, *entries: str) -> Page:
        names = [f"About {each}" for each in entries]
        own = "".join(f"<p>{line}</p>" for line in _own(topic))
        body = f"<main><div>{own}</div><div>{''.join(map(item.format, names))}</div></main>"
        lines = [re.sub("<.*?>", "", item).format(each) for each in names]
        made = _page(topic, body, [*_own(topic), *lines], at)
        return made if has_body else replace(made, body=None)

    lists, others = topics[:n_lists], topics[n_lists:]
    listed = {
        each: (others[2 * at % len(others)], others[2 * at % len(others) + 1])
        for at, each in enumerate(lists)
    }
    numbers = {each: store.add(page(each, 500.0, *listed[each]), {}) for each in lists}
    for topic in others:
        store.add(replace(page(topic, 500.0), title=f"About {topic} | Herbarium"), {})
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    store.add(replace(page("ferns", next(clock)), title="About ferns | Herbarium"), {})
    for topic in topics:
        if topic in lists:
            new = page(topic, next(clock), "ferns", *listed[topic])
            store.refreshes.replace_page(numbers[topic], new, {})
        store.refreshes.note_visit(SITE + topic, "changed" if topic in lists else "unchanged")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert {each.url for each in rows} == ({SITE + each for each in lists} if told else set())
    assert {re.sub("<.*?>", "", item).format("About ferns")} >= {
        came for each in rows for came in each.came
    }


@pytest.mark.parametrize(
    ("line", "n_pages", "told"),
    [
        (
            "link_early_args: flags that are inserted before all object files of the program",
            8,
            True,
        ),
        ("link_early_args: some flags", 8, False),  # a label
        ("You read the manual of an old version 3 of this program, a new one is there", 8, False),
        ("You read the manual of an old version of this program, a new one is there", 14, False),
        (f"Since 2018: {' '.join(f'the {each}th thing' for each in 'abcdefgh')}", 8, True),
    ],
)
def test_a_sentence_that_several_pages_got_at_once_is_their_own(
    store: JobStore,
    tmp_path: Path,
    clock: Iterator[float],
    line: str,
    n_pages: int,
    *,
    told: bool,
) -> None:
    topics = [f"{one}{two}" for one in "abcdefghij" for two in "klmnopqrst"]

    def page(topic: str, at: float, *more: str) -> Page:
        article, table = _own(topic), [*_own(topic[0]), *more]
        rows = "".join(f"<tr><td>{each}</td></tr>" for each in table)
        body = f"<div>{''.join(f'<p>{each}</p>' for each in article)}</div><table>{rows}</table>"
        return _page(topic, body, [*article, *table], at)

    numbers = {each: store.add(page(each, 500.0), {}) for each in topics}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic in topics:
        if is_changed := topic in topics[:n_pages]:
            store.refreshes.replace_page(numbers[topic], page(topic, next(clock), line), {})
        store.refreshes.note_visit(SITE + topic, "changed" if is_changed else "unchanged")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert {each.url for each in rows} == {SITE + each for each in topics[: n_pages * told]}
    assert {tuple(each.came) for each in rows} <= {(line,)}


@pytest.mark.parametrize(
    ("box", "told"),
    [
        ("<p>{} {}</p>", True),
        ("<p><a href=/x>{} {}</a></p>", True),  # as the title of a post
        ("<footer>{} {}</footer>", False),
        ("<div class=site-footer>{} {}</div>", False),
        ("<p>{} <a href=/x>{}</a></p>", False),
    ],
)
def test_a_sentence_that_leads_elsewhere_or_stands_in_a_footer_is_told_of_no_page(
    store: JobStore, tmp_path: Path, clock: Iterator[float], box: str, *, told: bool
) -> None:
    topics = [f"{one}{two}" for one in "abcdefghij" for two in "klmnopqrst"]
    parts = "This page is", "written in each of nine languages of the world"
    line = " ".join(parts)

    def page(topic: str, at: float, *more: str) -> Page:
        own = "".join(f"<p>{each}</p>" for each in _own(topic))
        boxes = box.format(*parts) if more else ""
        return _page(topic, f"<div>{own}</div>{boxes}", [*_own(topic), *more], at)

    numbers = {each: store.add(page(each, 500.0), {}) for each in topics}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic in topics:
        if is_changed := topic in topics[:8]:
            store.refreshes.replace_page(numbers[topic], page(topic, next(clock), line), {})
        store.refreshes.note_visit(SITE + topic, "changed" if is_changed else "unchanged")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert {each.url for each in rows} == {SITE + each for each in topics[: 8 * told]}


def test_what_several_titles_share_is_no_name_of_a_page(tmp_path: Path) -> None:
    titles = [("a", f"{name} | Guide") for name in ("one", "two", "three", "four", "five")]
    names = PageNames(lambda: [*titles, ("b", "Guide")])
    assert names.are_names("a", ["guide", "two", "two | guide", "two | guid"]).tolist() == [
        *(False, True, True, False)
    ]
    assert names.are_names("b", ["guide", "two"]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ("May 3, 2024", "May 9, 2024. Closed for good", True),
        ("May 3, 2024 Next", "May 9, 2024 Next", False),
        ("May 3, 2024 by Ann", "May 9, 2024 by Ben", False),
        ("May 3, 2024 seen 12 times", "May 9, 2024 seen 30 times", False),
    ],
)
def test_what_is_said_behind_the_date_of_an_update_is_told_if_it_is_another(
    store: JobStore, tmp_path: Path, clock: Iterator[float], then: str, now: str, *, told: bool
) -> None:
    topics = [f"{one}{two}" for one in "abcd" for two in "efghij"]

    def page(topic: str, at: float, date: str) -> Page:
        lines = [*_own(topic), f"Last updated on {date}"]
        return _page(topic, "".join(f"<p>{each}</p>" for each in lines), lines, at)

    numbers = {each: store.add(page(each, 500.0, then), {}) for each in topics}
    store.set_meta("finished", "1.0")
    store.refreshes.begin()
    for topic in topics:
        date = now if topic == topics[0] else then.replace("May 3", "May 8")
        store.refreshes.replace_page(numbers[topic], page(topic, next(clock), date), {})
        store.refreshes.note_visit(SITE + topic, "changed")
    settle(store)
    rows = [each for each in Changes(store, None, tmp_path).rows() if each.change == "changed"]
    assert [each.url for each in rows] == [SITE + topics[0]] * told
