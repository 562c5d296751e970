"""Which answers to the visits of a refresh are believed."""

from __future__ import annotations

import pytest

from dedup.document import Document
from dedup.scrapy.job.doubts import Doubts, has_end
from dedup.store import Page

_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_OLD = [Document(id="", text=_WORDS)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<p>Text</p></body></html>", True),
        (b"<p>Text</p></body></html>\r\n\t ", True),
        (b"<p>Text</p></BODY>", True),  # the other end tag may be left out
        (b"</html><!-- cached --> <!-- in 2 s --> ", True),
        (b"</html>" + b" " * 8_000, True),
        (b"</html><!-- " + b"x" * 8_200 + b" -->", False),  # longer than any cache writes
        (b"</html><script></script>", False),  # no comparison: the stored one has no end
        (b"<p>Text</p>", False),
        (b"<p>Text</p></ht", False),
        (b"<p>Text</p></html", False),
        (b"</html> -->", False),
        (b"<!-->", False),
        (b"-->" * 10_000, False),
        (b"<!-- -->" * 10_000, False),
        (b"", False),
        ("</html>".encode("utf-16"), False),
    ],
)
def test_end_of_a_body(body: bytes, expected: bool) -> None:
    assert has_end(body) is expected


def _page(text: str, body: str = "") -> Page:
    return Page(id="", text=text, body=(body or text).encode())


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (_page("one two three"), _page("one two three"), "store"),  # without the end tag
        (_page("one two three"), _page("one two three four"), "cut"),
        # Its text is another one each time, but it ends as it did.
        (
            _page("3 views. one two three", "3 views" + "." * 64),
            _page("4 views. one two three", "4 views" + "." * 64),
            "store",
        ),
    ],
)
def test_two_answers_without_an_end(first: Page, second: Page, expected: str) -> None:
    doubts = Doubts()
    assert doubts.belief(1, "http://a/", _OLD, first, is_cut=True) == "later"
    assert doubts.belief(1, "http://a/", _OLD, second, is_cut=True) == expected


def test_a_second_answer_with_an_end_is_judged_as_any_other() -> None:
    doubts = Doubts()
    assert doubts.belief(1, "http://a/", _OLD, _page("one two three"), is_cut=True) == "later"
    assert doubts.belief(1, "http://a/", _OLD, _page(_WORDS + " more"), is_cut=False) == "store"


def test_a_part_with_hardly_any_text_is_put_off_once() -> None:
    doubts = Doubts()
    assert doubts.belief(1, "http://a/", _OLD, _page("x"), is_cut=True) == "later"
    assert doubts.belief(1, "http://a/", _OLD, _page("y"), is_cut=True) == "cut"


def test_a_page_that_fails_in_each_way_is_asked_for_three_times() -> None:
    doubts, other = Doubts(), _page("quite another text than that was")
    assert doubts.belief(1, "http://a/", _OLD, _page("one two three"), is_cut=True) == "later"
    assert doubts.belief(1, "http://a/", _OLD, other, is_cut=False) == "later"
    assert doubts.belief(1, "http://a/", _OLD, other, is_cut=False) == "store"


def test_a_page_that_is_put_off_counts_once_among_those_of_its_host() -> None:
    doubts = Doubts()
    for number in range(4):
        doubts.note(f"http://a/same/{number}")
    for number in range(5):
        page = _page(f"another text {number}")
        assert doubts.belief(number, f"http://a/{number}", _OLD, page, is_cut=False) == "later"
    doubts.note("http://a/0")  # it is as it was, after all
    last = _page("another text 4")  # five of nine, not of ten: most have other texts
    assert doubts.belief(4, "http://a/4", _OLD, last, is_cut=False) == "fail"
