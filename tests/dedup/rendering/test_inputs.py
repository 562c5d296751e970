"""What tells whether a rendered page is the same."""

from __future__ import annotations

import pytest

from dedup.rendering.inputs import (
    Answer,
    digest_of,
    from_json,
    is_checked,
    is_for_once,
    same_requests,
    shell_digest,
    to_json,
)
from dedup.rendering.learner import AUDIT_PAGES

_NOW = 1_700_000_000.0


@pytest.mark.parametrize(("query", "expected"), [
    ("", False),
    ("?page=12&id=0&v=1.25", False),
    ("?day=20231114", False),  # a date is the same for a day, and so is what it names
    ("?v=1500000000", False),  # a build of years ago
    ("?_=1700000123", True),
    ("?_=1699999000123", True),
    ("?t=1700000000123456", True),
    ("?r=0.48362517283", True),
    ("?r=.4836251728", True),
    ("?price=0.25", False),
    ("?0.48362517283", True),  # a name, without a value
    ("?1700000123", True),
    ("?_=" + "9" * 5_000, False),  # and no time is spent on it
    ("?_=²", False),
])  # fmt: skip
def test_a_url_for_once_is_known_by_its_values(query: str, expected: bool) -> None:
    assert is_for_once(f"http://a.example/data{query}", _NOW) is expected


def answers(*urls: str) -> list[Answer]:
    return [Answer(url, "") for url in urls]


@pytest.mark.parametrize(("before", "after", "expected"), [
    (("/a", "/b?1"), ("/a", "/b?1"), True),
    (("/a",), ("/b",), True),  # it has other data now
    (("/a?1",), ("/b?1",), True),
    (("/a?1",), ("/a?1", "/a?2"), True),  # it has more
    (("/a?1", "/b"), ("/a?2", "/b"), False),
])  # fmt: skip
def test_queries_that_change_are_seen(
    before: tuple[str, ...], after: tuple[str, ...], expected: bool
) -> None:
    assert same_requests(answers(*before), answers(*after)) is expected


def test_the_first_page_of_a_host_is_checked_and_one_of_each_33() -> None:
    checked = [n for n in range(10 * AUDIT_PAGES) if is_checked(n)]
    assert checked[0] == 0
    assert [n // AUDIT_PAGES for n in checked] == [*range(10)]
    assert len({n % AUDIT_PAGES for n in checked}) > 3


def test_a_shell_that_is_scrolled_otherwise_is_another_one() -> None:
    digests = {shell_digest(b"<p>", 0), shell_digest(b"<p>", 5), shell_digest(b"<b>", 0)}
    assert len(digests) == 3


def test_answers_are_kept_whole_or_not_at_all() -> None:
    kept = (Answer("http://a.example/ä", digest_of(b"1"), '"e"', "a date"), Answer("/b", "2"))
    text = to_json(kept)
    assert text is not None
    assert from_json(text) == kept
    assert to_json([Answer("/" + "a" * 40_000, "")]) is None


def test_validators_are_those_that_the_server_gave() -> None:
    assert Answer("/", "1").validators == {}
    assert Answer("/", "1", "e", "d").validators == {
        "If-None-Match": "e",
        "If-Modified-Since": "d",
    }


@pytest.mark.parametrize("text", ["", "{}}", "7", "[7]", '[["/"]]', '[["/", 7]]', "[" * 100_000])
def test_damaged_answers_tell_nothing(text: str) -> None:
    assert from_json(text) is None
