"""What a raw page lacks of the rendered one."""

from __future__ import annotations

import pytest

from dedup.document import Document, TextSource
from dedup.rendering.comparison import loses_nothing

_TEXT = " ".join(f"word{n}" for n in range(300))


def document(text: str, source: TextSource = "page") -> Document:
    return Document(id="", text=text, source=source)


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
    assert loses_nothing(document(raw), document(rendered), [], []) == is_same


def test_links_that_only_scripts_make_are_lost() -> None:
    links = [f"http://a.example/{n}" for n in range(100)]
    page = document(_TEXT)
    assert loses_nothing(page, page, links, links[:50])
    assert loses_nothing(page, page, links[5:], links)
    assert not loses_nothing(page, page, links[6:], links)


def test_a_shell_lacks_everything() -> None:
    assert not loses_nothing(document(_TEXT, "shell"), document(_TEXT), [], [])
