"""What of a page belongs to a template that many pages have changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dedup.changes.furniture import Furniture, templates
from dedup.changes.lines import Difference, difference
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


def _differences(pages: list[ChangedPage], folder: Path) -> list[Difference | None]:
    furniture = Furniture(templates(pages, {"a": len(pages)}, folder)["a"], Site())
    return [difference(page, partial(furniture, None)) for page in pages]


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


def test_labels_are_given_up_after_some_pages_that_have_them_in_no_article(tmp_path: Path) -> None:
    pages = [
        _page(f"page {name}", "The text.", "The text.\nShare it\nSources")
        for name in "abcdefghijklmnopqrstuvwxyz"[:5]
    ]
    furniture = Furniture(templates(pages, {"a": 50}, tmp_path)["a"], Site())
    page = pages[0]
    assert furniture.labels_of(page) >= {"share it", "sources"}
    for _ in range(5):
        again: Any = _Article({"sources"})
        furniture.note(furniture.labels_of(page), again)
    assert furniture.labels_of(page) >= {"share it", "sources"}  # none was read in vain
    for _ in range(5):
        furniture.note({"share it"}, None)
    assert furniture.labels_of(page) == {"sources"}
