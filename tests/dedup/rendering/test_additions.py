"""What scripts add to several pages is not what a raw page lacks."""

from __future__ import annotations

from dedup.document import Document
from dedup.rendering.additions import Additions
from dedup.rendering.learner import Template

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
        raw, rendered = (Document(id="", text=text) for text in texts)
        links = _LINKS if _MENU in rendered.text else []
        return self._additions.lacks_nothing(self.template, raw, rendered, [], links)


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


def test_what_earlier_pages_of_the_template_did_not_get_is_lacking() -> None:
    pages = Pages()
    assert pages.lacks_nothing("a") is True
    pages.template.n_same = 1
    assert pages.lacks_nothing("b", words("review")) is False


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
