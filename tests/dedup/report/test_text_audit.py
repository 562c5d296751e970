"""Texts that are small for their pages are found, whole ones are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dedup.report import sample as sampling
from dedup.report import text_audit as module
from dedup.report.sample import Sample
from dedup.report.text_audit import HostAudit, audit, shares_in
from dedup.sites.lines import words_of
from dedup.store import Page, SqliteStore
from tests.dedup.report.site_job import HOST, job_of, read_pages


def audits_of(folder: Path) -> list[HostAudit]:
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    try:
        return audit(Sample(store))
    finally:
        store.close()


def cut(page: Page) -> Page:
    return replace(page, text=page.heading)


def test_whole_texts_have_all_rare_words(tmp_path: Path) -> None:
    (found,) = audits_of(job_of(tmp_path, read_pages(12), is_known=False))
    assert (found.host, found.sampled, found.measured, found.small) == (HOST, 12, 12, 0)
    assert found.median == pytest.approx(1)
    assert not found.is_suspicious


def test_small_texts_have_numbers(tmp_path: Path) -> None:
    pages = read_pages(20)
    job = job_of(tmp_path, [*map(cut, pages[:12]), *pages[12:]])
    (found,) = audits_of(job)
    assert found.is_suspicious
    assert (found.small, len(found.examples)) == (12, 3)
    assert found.examples[0].share < 0.1
    assert found.examples[0].rare_words >= module.MIN_WORDS


def test_a_part_of_a_host_may_be_small_alone(tmp_path: Path) -> None:
    pages = read_pages(60)
    short = [
        replace(cut(page), url=f"http://{HOST}/product/{number}")
        for number, page in enumerate(pages[:6])
    ]
    (found,) = audits_of(job_of(tmp_path, [*short, *pages[6:]]))
    assert found.median == pytest.approx(1)
    assert found.worst is not None
    assert (found.worst.pattern, found.worst.pages) == ("/product/*", 6)
    assert found.is_suspicious


def test_one_or_two_contents_lists_are_no_warning_sign(tmp_path: Path) -> None:
    pages = read_pages(60)
    (found,) = audits_of(job_of(tmp_path, [*map(cut, pages[:2]), *pages[2:]]))
    assert (found.small, found.is_suspicious) == (2, False)


def test_a_host_of_few_names_is_left_out(tmp_path: Path) -> None:
    assert audits_of(job_of(tmp_path, read_pages(9))) == []


def test_pages_of_few_rare_words_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_WORDS", 10_000)
    (found,) = audits_of(job_of(tmp_path, read_pages(12)))
    assert (found.measured, found.median, found.is_suspicious) == (0, None, False)


def test_a_sample_is_bounded_and_even(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MAX_PAGES", 5)
    store = SqliteStore(job_of(tmp_path, read_pages(20)) / "crawl.sqlite", read_only=True)
    sample = Sample(store)
    assert [int(each.page.id) for each in sample.pages(HOST)] == [1, 5, 9, 13, 17]
    assert len(list(sample.pages(HOST, at_most=2))) == 2
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "MIN_SHARE_PAGES", 2)
        assert [int(each.page.id) for each in Sample(store).pages(HOST)] == [1, 11]
        patch.setattr(sampling, "SHARE", 0.2)
        assert len(list(Sample(store).pages(HOST))) == 4
    monkeypatch.setattr(sampling, "MAX_BYTES", 1)
    monkeypatch.setattr(sampling, "_MIN_PAGES", 3)
    assert len(list(Sample(store).pages(HOST))) == 3
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "MAX_CPU_SECONDS", 0.0)
        assert len(list(Sample(store).pages(HOST))) == 1
    monkeypatch.setattr(sampling, "MAX_PAGE_BYTES", 1)
    assert Sample(store).hosts == []
    store.close()


# Lines of a page, the text, and the share of each line in it.
SHARES = [
    (["one two three four"], "one two three four", [1.0]),
    (["one two three four"], "one two three\nfour", [1.0]),  # wherever lines break
    (["one two three four"], "one two three", [0.5]),
    (["one", "two three"], "three two one", [1.0, 0.0]),
    (["one"], "", [0.0]),
    (["***", "one"], "one", [0.0, 1.0]),
    (["信是晚上送到的"], "信是晚上送到的", [1.0]),
]


@pytest.mark.parametrize(("lines", "text", "shares"), SHARES)
def test_shares_of_lines(lines: list[str], text: str, shares: list[float]) -> None:
    assert shares_in(words_of(lines), text).tolist() == shares
