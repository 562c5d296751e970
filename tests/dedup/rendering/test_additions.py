"""What scripts add to several pages is not what a raw page lacks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dedup.document import Document
from dedup.rendering.additions import Additions, Compared
from dedup.rendering.comparison import Form
from dedup.rendering.learner import Template
from dedup.sites.outline import Box, Line, Outline

_MENU = " ".join(f"menu{n}" for n in range(80))
_LINKS = [f"http://a.example/menu/{n}" for n in range(9)]


def words(name: str, count: int = 200) -> str:
    return " ".join(f"{name}{n}" for n in range(count))


class Pages:
    """Pages of a host of which scripts make more."""

    def __init__(self, *resumed: int) -> None:
        self._additions = Additions(resumed)
        self.template = Template(0, "full", frozenset())

    def lacks_nothing(self, name: str, *added: str) -> bool | None:
        return self.compare(words(name), " ".join([*added, words(name)]))

    def compare(self, *texts: str) -> bool | None:
        return self.compare_forms(*map(form, texts))

    def compare_forms(self, raw: Form, rendered: Form) -> bool | None:
        return self.compared(raw, rendered).lacks_nothing

    def compared(self, raw: Form, rendered: Form) -> Compared:
        return self._additions.compare(self.template, raw, rendered)


def form(text: str, beside: str | None = None, links: Sequence[str] | None = None) -> Form:
    """A page, with what it shows beside its text as long as little is known of its site."""
    outline = None
    if beside is not None:
        lines = [Line(0, each, each, "") for each in (beside, text)]
        outline = Outline([Box(-1, "body", ())], lines)
    made = links if links is not None else _LINKS if _MENU in text else ()
    return Form(Document(id="", text=text), made, outline)


def test_a_menu_is_known_by_a_second_page() -> None:
    pages = Pages()
    assert pages.lacks_nothing("a", _MENU) is None
    assert pages.lacks_nothing("a", _MENU) is None  # the same page says no more
    assert pages.lacks_nothing("b", _MENU) is True
    assert pages.lacks_nothing("c", _MENU, words("review", 30)) is False
    pages.template = Template(1, "full", frozenset())
    assert pages.lacks_nothing("d", _MENU) is True  # one menu for the host


def test_a_menu_may_stand_anywhere_in_a_page_of_few_words() -> None:
    pages = Pages()
    texts = [words(name, 12).split() for name in "abcd"]
    for text, place in zip(texts, (0, 4, 9, 12), strict=True):
        rendered = " ".join([*text[:place], _MENU, *text[place:]])
        found = pages.compare(" ".join(text), rendered)
        assert found is (True if text is not texts[0] else None)
    changed = " ".join([*texts[1][:5], "another", *texts[1][6:], _MENU])
    assert pages.compare(" ".join(texts[1]), changed) is False


def test_what_each_page_gets_is_its_own() -> None:
    pages = Pages()
    assert pages.lacks_nothing("a", words("first")) is None
    assert pages.lacks_nothing("b", words("second")) is False


def test_pages_with_one_raw_text_are_others_if_each_gets_its_own() -> None:
    pages = Pages()
    raw = words("raw")
    assert pages.compare(raw, f"{raw} {words('first')}") is None
    assert pages.compare(raw, f"{raw} {words('first')}") is None
    assert pages.compare(raw, f"{raw} {words('second')}") is False


def test_a_text_that_scripts_take_away_is_kept() -> None:
    """The first page is kept until others tell: it may be what all of them open with."""
    pages, note = Pages(), words("pay", 20)
    assert pages.compared(form(words("a")), form(f"{note} a")) == (None, True)
    assert pages.compared(form(words("b")), form(f"{note} x1 x2 x3")) == (True, True)
    pages.template.n_other = 1
    assert pages.compared(form(words("c")), form(f"{note} y1 y2 y3")) == (True, True)
    pages = Pages()
    assert pages.compared(form(words("a")), form(words("view", 60))) == (None, True)
    assert pages.compared(form(words("a")), form(words("other", 60))) == (False, False)
    pages.template.n_other = 1
    assert pages.compared(form(words("a")), form(words("third", 60))) == (False, False)
    pages = Pages()  # in a later process it is not known what all pages open with
    pages.template.n_other = 1
    assert pages.compared(form(words("a")), form(words("view", 60))) == (False, False)


def test_what_earlier_pages_of_the_template_did_not_get_is_lacking() -> None:
    pages = Pages()
    assert pages.lacks_nothing("a") is True
    pages.template.n_same = 1
    assert pages.lacks_nothing("b", words("review")) is False


@pytest.mark.parametrize("links", [_LINKS, []])
def test_a_menu_beside_the_text_may_be_part_of_the_texts_once_the_site_is_known(
    links: list[str],
) -> None:
    pages = Pages()
    for name in "ab":
        rendered = form(words(name), f"header {_MENU}", links)
        found = pages.compare_forms(form(words(name), "header"), rendered)
        assert found is (None if name == "a" and links else True)
    pages.template.n_same = 1
    rendered = form(f"{_MENU} {words('c')}", links=links)
    assert pages.compare_forms(form(words("c")), rendered) is True
    assert pages.lacks_nothing("d", _MENU, words("review", 30)) is False


def test_links_of_other_pages_are_not_lacking() -> None:
    pages, links = Pages(), [f"http://a.example/{n}" for n in range(9)]
    for n, name in enumerate("abc"):
        raw = form(words(name), links=links[n : n + 1])
        found = pages.compare_forms(raw, form(words(name), links=links))
        assert found is (True if n else None)


def test_pages_at_routes_tell_nothing_of_each_other() -> None:
    pages = Pages()
    pages.lacks_nothing("other", _MENU)
    pages.template = Template(1, "route", frozenset())
    assert pages.lacks_nothing("home", _MENU) is True
    assert pages.lacks_nothing("home", words("view")) is False


def test_after_an_interruption_menus_are_unknown_again() -> None:
    pages = Pages(0)
    pages.template.n_same = 3
    assert pages.lacks_nothing("a", _MENU) is None
    assert pages.lacks_nothing("b", _MENU) is True
    assert pages.lacks_nothing("c", words("review")) is False
