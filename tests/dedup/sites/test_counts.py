"""What is counted of a site: of each name once, in bounded memory, and as it is stored."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.sites import counts as counts_module
from dedup.sites.counts import Contribution, SiteCounts, mean_figures, title_parts
from dedup.sites.outline import Outline
from dedup.sites.own_text import N_FIGURES
from dedup.sites.site import Site, learn
from tests.dedup.sites.conftest import (
    contribution_of,
    learned,
    outlines,
    parsed,
    sphinx,
    title_of,
    url_of,
)

_FIGURES = st.lists(st.floats(0, 200, width=32), min_size=N_FIGURES, max_size=N_FIGURES)


def contribution(
    name: int, lines: list[int], kinds: dict[int, list[float]] | None = None, *parts: str
) -> Contribution:
    found = kinds or {}
    figures = np.array([found[kind] for kind in sorted(found)], np.float32)
    return Contribution(
        name,
        np.array(sorted(set(lines)), np.uint32),
        np.array(sorted(found), np.uint32),
        figures.reshape(len(found), N_FIGURES),
        parts,
    )


contributions = st.builds(
    contribution,
    st.integers(0, 9),
    st.lists(st.integers(0, 20), max_size=12),
    st.dictionaries(st.integers(0, 2**32 - 1), _FIGURES, max_size=4),
    st.sampled_from(["docs", "le site 有", "\ud800"]),
)


def check(counts: SiteCounts) -> None:
    for keys in (counts.lines, counts.kinds):
        assert (np.diff(keys.astype(np.int64)) > 0).all()
        assert keys.dtype == np.uint32
    assert len(counts.lines) == len(counts.line_counts) == len(counts.line_seen)
    assert len(counts.kinds) == len(counts.kind_counts) == len(counts.kind_sums)
    assert (counts.line_counts >= 1).all()
    assert (counts.line_counts <= counts.n_names).all()
    assert (counts.line_seen <= counts.n_names).all()


@given(st.lists(contributions, max_size=20))
def test_counts_are_those_of_plain_python(pages: list[Contribution]) -> None:
    counts, names = SiteCounts(), set()
    lines, kinds, parts = Counter[int](), Counter[int](), Counter[str]()
    for page in pages:
        assert counts.add(page) is (page.name not in names)
        if page.name not in names:
            names.add(page.name)
            lines.update(page.lines.tolist())
            kinds.update(page.kinds.tolist())
            parts.update(page.parts)
        check(counts)
    assert counts.n_names == len(names)
    assert dict(zip(counts.lines.tolist(), counts.line_counts.tolist(), strict=True)) == lines
    assert dict(zip(counts.kinds.tolist(), counts.kind_counts.tolist(), strict=True)) == kinds
    assert counts.parts == parts


@given(st.lists(contributions, max_size=12))
def test_what_is_stored_comes_back(pages: list[Contribution]) -> None:
    counts = SiteCounts()
    for page in pages:
        counts.add(page)
    data = counts.to_bytes()
    found = SiteCounts.from_bytes(data)
    assert found.to_bytes() == data
    for one, other in zip(found._arrays(), counts._arrays(), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    assert (found.n_names, found.parts) == (counts.n_names, counts.parts)
    for page in pages:
        assert not found.add(page)
    assert found.add(contribution(99, [1]))  # the arrays can be written to


@settings(max_examples=300)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 30))
def test_damaged_bytes_are_a_value_error(garbage: bytes, place: int, n_lost: int) -> None:
    counts = SiteCounts()
    counts.add(contribution(1, [1, 2], {3: [0.1, 2, 3, 4]}, "docs"))
    data = counts.to_bytes()
    for damaged in (
        garbage,
        data[:place] + garbage + data[place + n_lost :],
        data[: len(data) - 1 - n_lost],
    ):
        try:
            check_of_any(SiteCounts.from_bytes(damaged))
        except ValueError as error:
            assert "what was learned of a site is damaged" in str(error)  # noqa: PT017 -- or none


def check_of_any(counts: SiteCounts) -> None:
    """What was read has the form that is needed to read pages by it."""
    assert len(counts.lines) == len(counts.line_counts) == len(counts.line_seen)
    assert counts.kind_sums.shape == (len(counts.kinds), N_FIGURES)


def test_another_format_is_refused() -> None:
    data = SiteCounts().to_bytes().replace(b'"format": 1', b'"format": 9')
    with pytest.raises(ValueError, match="what was learned of a site is damaged: format 9"):
        SiteCounts.from_bytes(data)


def test_figures_of_a_kind_are_means() -> None:
    counts = SiteCounts()
    for name, figure in enumerate([1.0, 2.0, 6.0]):
        counts.add(contribution(name, [], {7: [figure, 0, 0, 1], name + 10: [0.5] * 4}))
    means = mean_figures(counts.kind_counts, counts.kind_sums)
    assert means[0].tolist() == [3, 0, 0, 1]
    assert means[1].tolist() == [0.5] * 4


def test_lines_that_few_pages_have_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts_module, "MAX_LINES", 40)
    counts = SiteCounts()
    for name in range(200):
        counts.add(contribution(name, [1, 2, 3, 1_000 + name, 5_000 + name // 2]))
        check(counts)
        assert len(counts.lines) <= 40
        assert counts.line_counts[:3].tolist() == [name + 1] * 3
    kept = counts.lines.tolist()
    assert {5_099, 1_199, 1_198} <= set(kept)  # of equally rare ones those met last stay
    assert all(each > 1_150 for each in kept if 1_000 <= each < 5_000)


def test_kinds_and_names_and_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, bound in (("MAX_KINDS", 20), ("MAX_NAMES", 30), ("MAX_PARTS", 8)):
        monkeypatch.setattr(counts_module, name, bound)
    counts = SiteCounts()
    for name in range(300):
        page = contribution(name, [], {5: [1] * 4, 100 + name: [2] * 4}, "docs", f"part {name}")
        assert counts.add(page)
        check(counts)
        assert len(counts.kinds) <= 20
        assert len(counts.names) <= 30
        assert len(counts.parts) <= 16
        assert counts.kind_counts[0] == counts.parts["docs"] == name + 1
    assert counts.n_names == 300
    assert counts.has(299)
    assert not counts.has(0)  # forgotten: it would be counted again


def test_a_site_takes_little_memory_however_many_pages_it_has() -> None:
    counts, choose = SiteCounts(), np.random.default_rng(5)
    for name in range(5_000):
        lines = choose.integers(0, 2**32, 60, np.uint32)
        counts.add(contribution(name, lines.tolist(), {int(lines[0]): [1.0] * 4}))
    check(counts)
    assert len(counts.lines) <= counts_module.MAX_LINES
    assert len(counts.to_bytes()) < 100_000


def test_a_page_adds_no_more_than_its_share() -> None:
    body = "".join(f"<div class={'x' * (n % 50)}><p>{n}a<p>{n}b<p>{n}c</div>" for n in range(3_000))
    page = contribution_of(learned(sphinx(0)), parsed(body), 1)
    assert len(page.lines) <= 2_000
    assert len(page.kinds) == len(page.figures) <= 300


def test_parts_of_a_title_are_short_and_count_once() -> None:
    assert set(title_parts("Docs | Guide | Docs 2.0")) == {"docs", "guide"}
    assert max(map(len, title_parts("x" * 500))) == 100
    assert title_parts("") == ()


def test_versions_of_a_page_count_once() -> None:
    counts = SiteCounts()
    for version in ("1.0", "v2", "3.14.1"):
        title = f"Part one - Manual {version}"
        own = learned(sphinx(0)).read(parsed(sphinx(1)), title, url_of(1))
        assert own is not None
        counts.add(own.contribution)
    assert counts.n_names == 1
    assert counts.line_counts.max() == 1


@settings(deadline=None)
@given(st.lists(outlines(), max_size=6))
def test_any_page_can_be_counted(pages: list[Outline]) -> None:
    counts = learn([(parsed(sphinx(0)), title_of(0), url_of(0))])
    for number, page in enumerate(pages, start=1):
        own = Site(counts, version=1).read(page, title_of(number), url_of(number))
        if own is not None:
            counts.add(own.contribution)
        check(counts)
    assert np.isfinite(counts.kind_sums).all()
