"""What a raw page lacks of the rendered one."""

from __future__ import annotations

import pytest

from dedup.document import Document, TextSource
from dedup.rendering.comparison import Form, has_lost_text, loses_nothing
from dedup.sites.outline import Box, Line, Outline

_TEXT = " ".join(f"word{n}" for n in range(300))


def form(text: str, *links: str, source: TextSource = "page", shown: str | None = None) -> Form:
    outline = None
    if shown is not None:
        outline = Outline([Box(-1, "body", ())], [Line(0, shown, shown, "")])
    return Form(Document(id="", text=text, source=source), links, outline)


@pytest.mark.parametrize(
    ("raw", "rendered", "is_same"),
    [
        (_TEXT, _TEXT, True),
        (_TEXT, _TEXT + " five more words of 300", True),
        (_TEXT, _TEXT + " " + _TEXT.upper()[:400].replace("WORD", "other"), False),
        (_TEXT + " a notice that scripts remove", _TEXT, True),  # what it has besides is no loss
        ("Price: —", "Price: 12", False),
        ("Sold out", "Sold out", True),
        ("", "", True),
        ("", "Text", False),
    ],
)
def test_what_a_raw_page_lacks_of_its_text(raw: str, rendered: str, is_same: bool) -> None:
    assert loses_nothing(form(raw), form(rendered)) == is_same


def test_links_that_only_scripts_make_are_lost() -> None:
    links = [f"http://a.example/{n}" for n in range(100)]
    whole = form(_TEXT, *links)
    assert loses_nothing(whole, form(_TEXT, *links[:50]))
    assert loses_nothing(form(_TEXT, *links[5:]), whole)
    assert not loses_nothing(form(_TEXT, *links[6:]), whole)
    assert not loses_nothing(form(_TEXT, *links[1:]), whole, known_links=links[1:99])
    assert loses_nothing(form(_TEXT, *links[6:]), whole, known_links=links[:6])


def test_a_shell_lacks_everything() -> None:
    assert not loses_nothing(form(_TEXT, source="shell"), form(_TEXT))


@pytest.mark.parametrize(("n_around", "is_same"), [(40, True), (60, False)])
def test_a_few_words_that_the_raw_page_shows_beside_its_text(n_around: int, is_same: bool) -> None:
    """Of a text of few words beside a large menu, rules take all that a page shows."""
    around = " ".join(f"around{n}" for n in range(n_around))
    raw = form("few words of its own", shown=f"{around} few words of its own")
    rendered = f"{around} {_TEXT} few words of its own"
    added = form(_TEXT).page.shingles
    assert loses_nothing(raw, form(rendered), added) == is_same
    assert not loses_nothing(form("few words of its own"), form(rendered), added)


@pytest.mark.parametrize(
    ("n_kept", "n_new", "n_common", "has_lost"),
    [
        (0, 0, 0, True),
        (0, 140, 0, True),
        (0, 200, 0, False),  # more than half of what it has lost
        (140, 0, 0, True),
        (200, 0, 0, False),  # it has kept most
        (0, 0, 240, True),
        (0, 0, 270, False),  # a few words
        (0, 0, 300, False),  # all pages have it
    ],
)
def test_a_text_that_scripts_take_away(
    n_kept: int, n_new: int, n_common: int, has_lost: bool
) -> None:
    raw = form(_TEXT)
    rendered = " ".join([*_TEXT.split()[:n_kept], *(f"new{n}" for n in range(n_new))])
    common = form(" ".join(_TEXT.split()[:n_common])).page.shingles
    none = form("").page.shingles
    assert has_lost_text(raw, form(rendered), common, none) == has_lost
    assert not has_lost_text(form(rendered), raw, common, none)
