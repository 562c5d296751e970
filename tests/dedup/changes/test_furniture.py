"""What of a page belongs to a template that many pages have changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dedup.changes.furniture import Furniture, UrlNames, templates
from dedup.changes.lines import Difference, difference
from dedup.changes.page_names import PageNames
from dedup.sites.site import Site
from dedup.store.sql.changes import ChangedPage, Version


class _Article(NamedTuple):
    """A page whose article has labels."""

    labels: set[str]


_NAMES = ["tea leaves", "call_once notes", "non-local means", "an oak", "moss", "ferns"]


def _page(name: str, then: str, now: str) -> ChangedPage:
    old = Version(1.0, f"{name}-Old Herbarium", f"Posted by me\n{name}\n{then}")
    new = Version(2.0, f"{name} | Herbarium", f"{name}\n{now}")
    return ChangedPage(1, f"http://a/{name}", "a", old, new)


def _furniture(
    pages: list[ChangedPage], n_pages: int, folder: Path, others: Sequence[str] = ()
) -> Furniture:
    names = PageNames(lambda: ())
    urls = UrlNames.of([*(page.url for page in pages), *others])
    template = templates(pages, {"a": n_pages}, lambda _: urls, folder)["a"]
    return Furniture(template, Site(), partial(names.are_names, "a"))


def _differences(pages: list[ChangedPage], folder: Path) -> list[Difference | None]:
    furniture = _furniture(pages, len(pages), folder)
    return [difference(page, partial(furniture, None, ())) for page in pages]


def test_another_template_may_put_a_name_and_a_tag_into_other_lines(tmp_path: Path) -> None:
    pages = [
        _page(
            name,
            f"tag of {name}\nThe text.",
            f"Mar {at + 1}, 2019 · {at} min read · tag of {name}\nThe text.",
        )
        for at, name in enumerate(_NAMES)
    ]
    assert _differences(pages, tmp_path) == [None] * len(_NAMES)


def test_the_rest_of_a_line_of_another_template_is_the_pages_own(tmp_path: Path) -> None:
    pages = [
        _page(name, "old tag", f"Mar 1 · {at} min read · of {name} - seen")
        for at, name in enumerate(_NAMES)
    ]
    found = _differences(pages, tmp_path)
    assert [each and each.came for each in found] == [[f"of {name}"] for name in _NAMES]


@pytest.mark.parametrize(
    ("n_pages", "line", "told"),
    [
        (5, "{name} 1 days ago {n} likes", False),
        (4, "{name} 1 days ago {n} likes", True),  # these may be facts
        (5, "{name} has {n} rooms", True),
        (5, "The library of {name} has {n} members since the end of May", True),
    ],
)
def test_counters_beside_names_are_no_changes(
    tmp_path: Path, n_pages: int, line: str, *, told: bool
) -> None:
    pages = [
        _page(name, line.format(name=name, n=n), line.format(name=name, n=n + 1))
        for n, name in enumerate(_NAMES[:n_pages])
    ]
    pages = [page._replace(then=page.then._replace(title=page.now.title)) for page in pages]
    furniture = _furniture(pages, 40, tmp_path)
    lines = [line.format(name=_NAMES[0], n=7)]
    assert furniture.has_changed((), lines) == [not told]


def test_years_of_a_copyright_are_no_labels(tmp_path: Path) -> None:
    pages = [_page(name, "\u00a9 2017 Moss", "\u00a9 2018 Moss") for name in _NAMES]
    pages.append(_page("an elm", "One.", "One.\n\u00a9 2018 Moss"))
    furniture = _furniture(pages, 40, tmp_path)
    assert furniture.labels_of(pages[-1]) == {"posted by me"}  # which went


def test_labels_are_given_up_after_some_pages_that_have_them_in_no_article(tmp_path: Path) -> None:
    pages = [
        _page(f"page {name}", "The text.", "The text.\nShare it\nSources")
        for name in "abcdefghijklmnopqrstuvwxyz"[:5]
    ]
    furniture = _furniture(pages, 50, tmp_path)
    page = pages[0]
    assert furniture.labels_of(page) >= {"share it", "sources"}
    for _ in range(5):
        again: Any = _Article({"sources"})
        furniture.note(furniture.labels_of(page), again)
    assert furniture.labels_of(page) >= {"share it", "sources"}  # none was read in vain
    for _ in range(5):
        furniture.note({"share it"}, None)
    assert furniture.labels_of(page) == {"sources"}


@pytest.mark.parametrize(
    ("before", "then", "now"),
    [
        ("Last updated: ", "2016-03-01", "2016-04-29"),
        ("Last updated on ", "Dec 16, 2022", "Jan 3rd, 2023"),
        ("Stand: ", "1. March 2022", "12.11.2022"),
        ("更新于", "2022年3月1日", "2022年11月12日"),
    ],
)
def test_few_words_behind_a_date_make_no_line_of_its_own(
    tmp_path: Path, before: str, then: str, now: str
) -> None:
    behind = [" by Ann", " by Ben", "Next", "Next", " Prev", " Next Prev"]
    pages = [
        _page(name, f"The text.\n{before}{then}{end}", f"The text.\n{before}{now}{end}")
        for name, end in zip(_NAMES, behind, strict=True)
    ]
    assert _differences(pages, tmp_path) == [None] * len(_NAMES)


@pytest.mark.parametrize(
    "line",
    ["{} A new {}", "Version {}, which can do all that was wanted of {}", "Version 1.2.3 {1}"],
)
def test_what_stands_behind_a_date_that_no_words_introduce_is_the_pages_own(
    tmp_path: Path, line: str
) -> None:
    pages = [
        _page(name, line.format("2016-03-01", "it"), line.format("2016-04-29", name))
        for name in _NAMES
    ]
    assert None not in _differences(pages, tmp_path)


_OTHERS = [f"http://a/other-{n}" for n in range(9)]


def _at(path: str, then: str, now: str) -> ChangedPage:
    versions = (Version(at, "Guide", text) for at, text in ((1.0, then), (2.0, now)))
    return ChangedPage(1, f"http://a/{path}", "a", *versions)


@pytest.mark.parametrize(
    ("path", "others", "told"),
    [
        ("v{}/guide.html", _OTHERS, True),
        ("1.{}/de/guide/", _OTHERS, True),
        ("docs/v{}/", _OTHERS, True),
        ("v{}/guide.html", ["http://a/other"], False),  # half of the names
        ("v{}/guide.html", [*_OTHERS, *(f"http://a/{n}/guide" for n in range(50))], False),
        ("guide-{}.html", _OTHERS, False),
    ],
)
def test_what_all_versions_of_a_page_say_anew_is_their_own(
    tmp_path: Path, path: str, others: list[str], *, told: bool
) -> None:
    pages = [_at(path.format(at), "Since 3\nA text.", "Since 4\nA text.") for at in range(8)]
    furniture = _furniture(pages, 60, tmp_path, others)
    own = [furniture.shared_of(page) for page in pages]
    found = [
        difference(page, partial(furniture, None, keys))
        for page, keys in zip(pages, own, strict=True)
    ]
    assert [each and each.came for each in found] == [["Since 4"] if told else None] * 8


def test_lines_that_pages_of_several_names_have_are_of_no_versions(tmp_path: Path) -> None:
    paths = [f"v{at}/{name}" for at in range(2) for name in _NAMES[:3]]
    pages = [_at(path, "A text.\n© 2017", "A text.\n© 2018") for path in paths]
    furniture = _furniture(pages, 60, tmp_path, _OTHERS)
    own = furniture.shared_of(pages[0])
    assert difference(pages[0], partial(furniture, None, own)) is None


def _entries(*numbers: int) -> str:
    return "\n".join(f"Release 1.{each} · May {each}, 2024 · a file" for each in numbers)


@pytest.mark.parametrize(
    ("entered", "told"),
    [
        ([(1, 2, at, at + 1) for at in range(10, 21)], True),
        ([(1, 2, 3)] * 11, False),  # a menu: all have the same one more
        ([(at, at + 1) for at in range(10, 21)], False),  # as many as before
    ],
)
def test_entries_that_differ_in_numbers_alone_are_told_if_there_are_more(
    tmp_path: Path, entered: list[tuple[int, ...]], *, told: bool
) -> None:
    pages = [_at(f"list-{n}", _entries(1, 2), _entries(*now)) for n, now in enumerate(entered)]
    furniture = _furniture(pages, 60, tmp_path)
    found = [
        difference(page, partial(furniture, None, furniture.shared_of(page))) for page in pages
    ]
    assert [bool(each) for each in found] == [told] * len(pages)


def test_dates_that_many_pages_have_changed_are_told_of_no_line_that_has_them(
    tmp_path: Path,
) -> None:
    pages = [
        _at(f"post-{n}", f"A text.\nOctober 8, 2022 · {time}", f"A text.\nMay 4, 2023 · {time}")
        for n, time in enumerate([*(f"{n} minutes" for n in range(8)), "One minute"])
    ]
    furniture = _furniture(pages, 60, tmp_path)
    assert difference(pages[-1], partial(furniture, None, ())) is None
    other = _at("post", "October 8, 2022 · One minute", "May 4, 2023 · One hour")
    assert difference(other, partial(furniture, None, ())) is not None


def test_a_sentence_of_several_pages_is_told_as_a_whole(tmp_path: Path) -> None:
    first = "All of the tools of the garden are kept in a box — "
    rest = "and the box is kept in the house behind the garden"
    then, now = f"{first}{rest}. And more.\nOld menu", f"{first}{rest}\nNew menu"
    pages = [_at(f"list-{n}", then, now) for n in range(6)]
    furniture = _furniture(pages, 60, tmp_path)
    own = furniture.shared_of(pages[0])
    found = difference(pages[0], partial(furniture, None, own))
    assert found is not None
    assert found.went == [f"{first}{rest}. And more."]
