"""Templates are learned: what is static costs little, and what is not loses nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.rendering.learner import AUDIT_PAGES, FIRST_PAGES, Choice, HostTemplates, Kind, Template
from dedup.rendering.sketch import RawTemplate

_AS_LONG_AS = 8
_MOST_OPEN = 4


def raw(number: int = 0, *, may_change: bool = True) -> RawTemplate:
    return RawTemplate(frozenset(range(1_000 * number, 1_000 * number + 64)), may_change)


def choose(templates: HostTemplates, page: RawTemplate, kind: Kind = "full") -> Choice:
    return templates.choose(page, kind, is_copy=lambda: False)


class Simulated:
    """A crawl of pages of some templates; one takes as long to render as eight to fetch.

    Attributes:
        n_rendered: pages that were rendered, but for those that came again.
        again: pages that were queued again when their template was turned over.
        left_raw: what was chosen for pages that were not rendered, by number.
    """

    def __init__(self, pages: Iterable[tuple[int, Kind, bool]]) -> None:
        self.templates = HostTemplates()
        self.n_rendered = 0
        self.again: list[int] = []
        self.left_raw: dict[int, Choice] = {}
        self._open: deque[tuple[Choice, bool]] = deque()
        since = 0
        for number, (template, kind, is_dynamic) in enumerate(pages):
            while (choice := choose(self.templates, raw(template), kind)).is_rendered is None:
                self._end_one()
            if choice.is_rendered:
                self._open.append((choice, is_dynamic))
            elif choice.template is not None:
                self.left_raw[number] = choice
            since += 1
            if len(self._open) > _MOST_OPEN or (self._open and since >= _AS_LONG_AS):
                self._end_one()
                since = 0
        while self._open:
            self._end_one()

    def _end_one(self) -> None:
        choice, is_dynamic = self._open.popleft()
        assert choice.template is not None
        self.n_rendered += 1
        if self.templates.learn(choice, is_same=not is_dynamic):
            self._turn_over(choice.template)

    def _turn_over(self, template: Template) -> None:
        for number, each in list(self.left_raw.items()):
            if each.template is template and each.period >= template.since:
                self.again.append(number)
                del self.left_raw[number]


def test_static_template_is_rendered_three_times_and_audited() -> None:
    crawl = Simulated(iter([(0, "full", False)] * 1_000))
    assert 30 <= crawl.n_rendered - FIRST_PAGES <= 31
    assert len(crawl.left_raw) == 1_000 - crawl.n_rendered


def test_site_of_many_static_templates_is_rendered_once_for_each() -> None:
    crawl = Simulated(iter([(n // 4, "full", False) for n in range(200)]))
    assert crawl.n_rendered <= 50 + 3 * 2 + 8


@pytest.mark.parametrize("turn", [4, 20, 50, 100, 250])
def test_template_that_turns_dynamic_half_way_loses_no_page(turn: int) -> None:
    crawl = Simulated((0, "full", n >= turn) for n in range(400))
    assert all(n < turn for n in crawl.left_raw)
    assert len(crawl.again) <= 3 * AUDIT_PAGES + _AS_LONG_AS
    assert crawl.n_rendered + len(crawl.again) <= 400 - turn + FIRST_PAGES + 4 * AUDIT_PAGES


def test_template_that_is_dynamic_for_one_page_in_thirty() -> None:
    """Found late, but then nothing stays lost."""
    for first in range(0, 30, 3):
        crawl = Simulated((0, "full", n % 30 == first) for n in range(3_000))
        assert crawl.left_raw == {} or crawl.again == []


def test_template_of_which_half_of_the_pages_lack_something_is_rendered() -> None:
    crawl = Simulated((0, "full", n % 2 == 1) for n in range(400))
    assert crawl.n_rendered + len(crawl.again) == 400


def test_shells_of_a_static_template_are_rendered() -> None:
    kinds: list[Kind] = ["shell" if n % 30 == 29 else "full" for n in range(300)]
    crawl = Simulated((0, kind, kind == "shell") for kind in kinds)
    assert len(crawl.left_raw) > 270  # which are not rendered for the shells' sake
    assert crawl.n_rendered == 300 - len(crawl.left_raw)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_each_page_is_rendered_left_raw_or_queued_again(pages: list[tuple[int, bool]]) -> None:
    crawl = Simulated((template, "full", is_dynamic) for template, is_dynamic in pages)
    assert crawl.n_rendered + len(crawl.left_raw) + len(crawl.again) == len(pages)


@given(st.integers(0, 80), st.integers(1, 5))
def test_static_pages_are_rendered_within_the_budget(n_pages: int, n_templates: int) -> None:
    crawl = Simulated((n % n_templates, "full", False) for n in range(n_pages))
    n_audits = n_templates * (n_pages // n_templates // AUDIT_PAGES + 1)
    assert crawl.n_rendered <= FIRST_PAGES * n_templates + n_audits
    assert not crawl.again


def test_failures_teach_nothing_and_are_not_asked_for_without_end() -> None:
    templates = HostTemplates()
    rendered = 0
    for _ in range(200):
        choice = choose(templates, raw())
        assert choice.is_rendered is not None
        if choice.is_rendered:
            assert choice.template is not None
            rendered += 1
            assert not templates.learn(choice, is_same=None)
            assert not templates.is_static(choice.template)
    assert 3 <= rendered < 20


def test_at_most_three_undecided_pages_are_rendered_at_once() -> None:
    templates = HostTemplates()
    choices = [choose(templates, raw()) for _ in range(5)]
    assert [each.is_rendered for each in choices] == [True, True, True, None, None]
    assert choices[0].template is not None
    templates.learn(choices[0], is_same=None)  # another may find out in its place
    assert choose(templates, raw()).is_rendered


def test_renderings_that_failed_are_tried_again() -> None:
    templates = HostTemplates()
    for _ in range(3):
        templates.learn(choose(templates, raw()), is_same=None)
    assert choose(templates, raw()).why != "first"
    templates.forget_failures()
    assert choose(templates, raw()).why == "first"


_CASES: list[tuple[Kind, bool, bool, tuple[bool, str]]] = [
    ("full", False, False, (False, "no_scripts")),  # nothing can change it
    ("shell", False, False, (True, "shell")),  # a shell has scripts, however they are loaded
    ("full", True, True, (False, "duplicate")),
    ("thin", True, True, (True, "first")),  # few words prove nothing
    ("shell", True, True, (True, "shell")),  # nor do equal shells
]


@pytest.mark.parametrize(("kind", "may_change", "is_copy", "expected"), _CASES)
def test_which_page_of_an_unknown_template_is_rendered(
    kind: Kind, may_change: bool, is_copy: bool, expected: tuple[bool, str]
) -> None:
    page = raw(may_change=may_change)
    choice = HostTemplates().choose(page, kind, is_copy=lambda: is_copy)
    assert (choice.is_rendered, choice.why) == expected


def test_what_is_known_is_taken_up() -> None:
    static = Template(4, "full", raw(1).sketch, n_same=3, is_stored=True)
    dynamic = Template(7, "full", raw(2).sketch, n_same=9, n_other=1, is_stored=True)
    templates = HostTemplates([static, dynamic])
    assert choose(templates, raw(1))[:3] == (static, False, "static")
    assert choose(templates, raw(2)).why == "template"
    new = choose(templates, raw(3)).template
    assert new is not None
    assert (new.number, new.is_stored) == (8, False)


def test_duplicates_are_rendered_where_the_template_needs_it() -> None:
    dynamic = Template(0, "full", raw().sketch, n_other=1)
    choice = HostTemplates([dynamic]).choose(raw(), "full", is_copy=lambda: True)
    assert (choice.is_rendered, choice.why) == (True, "template")
