"""Each reason for which a URL may give no page has words and a remedy of its own."""

import inspect
import re
from pathlib import Path

import pytest

from dedup.explain.reasons import _REASONS, is_failure, reason_words, remedy
from dedup.scrapy.job import failure_reasons
from dedup.scrapy.spiders.page_spider import PageSpider

_ROOT = Path(__file__).parents[3]
_RECORDED = re.compile(
    r"""(?:NotFollowed\(|Unread\(|_skip\(response,\s|record_lost\(item,\s|reason=)"([a-z_]+)\""""
)
_RETURNED = re.compile(r'return "([a-z_]+)"')
_NO_REASONS = {"unchanged", "changed", "gone", "moved", "failed", "redirect", "canonical"}
"""What a refresh finds of a page, and why a URL is an alias."""


def recorded() -> set[str]:
    """The reasons that stand in the code."""
    sources = [*_ROOT.glob("dedup/scrapy/**/*.py"), *_ROOT.glob("crawler/**/*.py")]
    found = {name for path in sources for name in _RECORDED.findall(path.read_text("utf-8"))}
    found |= set(_RETURNED.findall(inspect.getsource(PageSpider._reason_to_skip)))
    named = {*failure_reasons._REASONS.values(), *failure_reasons._IGNORED.values()}
    return found | named - _NO_REASONS


def test_every_reason_that_the_code_records_is_known() -> None:
    missing = recorded() - _NO_REASONS - _REASONS.keys()
    assert len(recorded()) > 25
    assert not missing


@pytest.mark.parametrize("reason", [*_REASONS, "http_404", "http_403", "http_500", "SomeError"])
def test_it_has_words_and_a_remedy(reason: str) -> None:
    assert reason_words(reason)
    assert remedy(reason)
    assert "REASON" not in remedy(reason)


def test_no_two_reasons_have_the_same_words() -> None:
    assert len({words for words, _ in _REASONS.values()}) == len(_REASONS)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("http_404", "--failed FILE"),
        ("http_503", "dedup retry JOB requeues"),
        ("http_403", "USER_AGENT"),
        ("trap", "DEDUP_TRAP_PAGES"),
        ("host_pages", "--reason host_pages"),
        ("SomeError", "--reason SomeError"),
    ],
)
def test_the_remedy_is_that_of_the_reason(reason: str, expected: str) -> None:
    assert expected in f"{reason_words(reason)}; {remedy(reason)}"


def test_deliberate_omission_is_not_a_failure() -> None:
    assert [is_failure(each) for each in ("http_404", "timeout", "parse_error", "SomeError")] == [
        True
    ] * 4
    assert not any(map(is_failure, ("noindex", "trap", "robots", "offsite", "sitemap")))
