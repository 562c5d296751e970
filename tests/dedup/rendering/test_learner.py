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


def raw(number: int = 0, *, may_change: bool = True) -> RawTemplate:
    return RawTemplate(frozenset(range(1_000 * number, 1_000 * number + 64)), may_change)


def choose(templates: HostTemplates, page: RawTemplate, kind: Kind = "full") -> Choice:
    return templates.choose(page, kind, is_copy=lambda: False)


class Simulated:
    """A crawl of pages of some templates; one takes as long to render as eight to fetch.

    Attributes:
        n_rendered: pages that were rendered, but for those that came again.
        again: pages that were queued again when their template was turned over.
        left_raw: pages that were not rendered, by number.
    """

    def __init__(self, pages: Iterable[tuple[int, Kind, bool]]) -> None:
        self.templates = HostTemplates()
        self.n_rendered = 0
        self.again: list[int] = []
        self.left_raw: dict[int, Template] = {}
        self._open: deque[tuple[Choice, bool]] = deque()
        since = 0
        for number, (template, kind, is_dynamic) in enumerate(pages):
            while (choice := choose(self.templates, raw(template), kind)).is_rendered is None:
                self._end_one()
            if choice.is_rendered:
                self._open.append((choice, is_dynamic))
            elif choice.template is not None:
                self.left_raw[number] = choice.template
            since += 1
            if self._open and since >= _AS_LONG_AS:
                self._end_one()
                since = 0
        while self._open:
            self._end_one()

    def _end_one(self) -> None:
        choice, is_dynamic = self._open.popleft()
        assert choice.template is not None
        self.n_rendered += 1
        if self.templates.learn(choice.template, is_same=not is_dynamic):
            self._turn_over(choice.template)

    def _turn_over(self, template: Template) -> None:
        self.again += [n for n, each in self.left_raw.items() if each is template]
        self.left_raw = {n: each for n, each in self.left_raw.items() if each is not template}


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
    assert not crawl.left_raw
    assert len([n for n in crawl.again if n >= turn]) <= 2 * AUDIT_PAGES + _AS_LONG_AS


def test_template_that_is_dynamic_for_one_page_in_thirty() -> None:
    found = [
        Simulated((0, "full", n % 30 == first) for n in range(3_000)) for first in range(0, 30, 3)
    ]
    assert sum(not each.left_raw for each in found) >= 8  # 91 audits meet one with .95


def test_shells_of_a_static_template_are_rendered() -> None:
    kinds: list[Kind] = ["shell" if n % 30 == 29 else "full" for n in range(300)]
    crawl = Simulated((0, kind, kind == "shell") for kind in kinds)
    assert len(crawl.left_raw) > 270  # which are not rendered for the shells' sake
    assert crawl.n_rendered == 300 - len(crawl.left_raw)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_no_page_is_left_raw_once_its_template_is_known_to_need_it(
    pages: list[tuple[int, bool]],
) -> None:
    crawl = Simulated((template, "full", is_dynamic) for template, is_dynamic in pages)
    assert not any(each.n_other for each in crawl.left_raw.values())
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
            assert not templates.learn(choice.template, is_same=None)
            assert not templates.is_static(choice.template)
    assert 3 <= rendered < 20


def test_at_most_three_undecided_pages_are_rendered_at_once() -> None:
    templates = HostTemplates()
    choices = [choose(templates, raw()) for _ in range(5)]
    assert [each.is_rendered for each in choices] == [True, True, True, None, None]
    assert choices[0].template is not None
    templates.learn(choices[0].template, is_same=None)  # another may find out in its place
    assert choose(templates, raw()).is_rendered


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
    assert choose(templates, raw(1)) == (static, False, "static")
    assert choose(templates, raw(2)).why == "template"
    new = choose(templates, raw(3)).template
    assert new is not None
    assert (new.number, new.is_stored) == (8, False)


def test_duplicates_are_rendered_where_the_template_needs_it() -> None:
    dynamic = Template(0, "full", raw().sketch, n_other=1)
    choice = HostTemplates([dynamic]).choose(raw(), "full", is_copy=lambda: True)
    assert (choice.is_rendered, choice.why) == (True, "template")
