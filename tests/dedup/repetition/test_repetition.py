"""Repeated passages, beside counts by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.collection.sorted_runs import SortedRuns
from dedup.pieces import count_words
from dedup.repetition import Layout, count_lines, counting, find_passages
from dedup.repetition.lines import lines_of, stand_once

LICENCE = "All texts of this site may be copied by everybody for any purpose."
NOTE = "Every letter was written in ink by hand, and sent by the post."
LINES = [
    LICENCE,
    NOTE,
    "Yes",
    "",
    "# 7",
    "C#  x",
    "两个版本的安装说明，另请参阅第三页的表格内容。",
    "表格\t7",
]

pages = st.lists(
    st.tuples(
        st.sampled_from(["a.example", "b.example:80"]),
        st.lists(st.sampled_from(LINES), max_size=6).map("\n".join),
    ),
    max_size=30,
)


def is_long(line: str) -> bool:
    unspaced = sum("\u3400" <= character <= "\u9fff" for character in line)
    return (count_words(line) - unspaced) / 8 + unspaced / 12 >= 1


def repeated_lines(texts: Sequence[tuple[str, str]], share: float) -> set[tuple[str, str]]:
    """By brute force: those which so many pages have once."""
    n_pages = Counter(host for host, _ in texts)
    found = Counter(
        (host, line)
        for host, text in texts
        for line, count in Counter(text.split("\n")).items()
        if count == 1 and is_long(line)
    )
    return {
        (host, line)
        for (host, line), count in found.items()
        if count >= 5 and count / n_pages[host] >= share
    }


@given(pages, st.sampled_from([0.1, 0.3, 0.5, 1.0]), st.integers(1, 50))
def test_passages_are_those_of_a_count_by_brute_force(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str]],
    share: float,
    in_memory: int,
) -> None:
    runs = partial(SortedRuns, pairs_in_memory=in_memory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "SortedRuns", runs)
        patch.setattr(counting, "_PORTION_CHARACTERS", 100)
        counts = count_lines(texts, share, tmp_path_factory.getbasetemp())
    expected = repeated_lines(texts, share)
    for host, text in texts:
        lines = text.split("\n")
        kept = [
            line
            for line in lines
            if (host, line) not in expected or lines.count(line) > 1 or "\t" in line
        ]
        found = find_passages(counts, host, text)
        assert (found.rest if found else text) == "\n".join(kept)
        assert (found is None) == (kept == lines)
        if found:
            cut = Counter(lines) - Counter(kept)
            assert sum(size for _, size in found.passages()) == sum(map(count_words, cut))
    assert counts.pages == Counter(host for host, _ in texts)


@given(st.lists(st.text(st.sampled_from("ab 7文\n\t.\ud800"), max_size=40), max_size=5))
def test_lines_are_counted_and_told_apart(texts: list[str]) -> None:
    found = lines_of(texts, ["a.example"] * len(texts))
    lines = [line for text in texts for line in text.split("\n")]
    assert found.words.tolist() == list(map(count_words, lines))
    assert len(set(found.keys.tolist())) == len(set(lines))
    assert np.diff(found.first).tolist() == [1 + text.count("\n") for text in texts]
    assert not np.isin(found.keys, lines_of(texts, ["b.example"] * len(texts)).keys).any()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_what_stands_once_is_found(pairs: list[tuple[int, int]]) -> None:
    keys, owners = (np.array([pair[at] for pair in pairs], np.uint64) for at in (0, 1))
    expected = [Counter(pairs)[pair] == 1 for pair in pairs]
    assert stand_once(keys, owners.astype(np.intp)).tolist() == expected


def rest_of(text: str, tmp_path: Path, layout: Layout | None = None, *, n_pages: int = 10) -> str:
    """The text without its passages, on a site where all pages say the same."""
    counts = count_lines([("a.example", text)] * n_pages, 0.3, tmp_path)
    found = find_passages(counts, "a.example", text, lambda: layout or Layout())
    return found.rest if found else text


HEADINGS = {"Licence": 2, "Notes": 3, "Contents": 2, "Term": 7}


@pytest.mark.parametrize(
    ("text", "rest", "why"),
    [
        (f"Tea\n{NOTE}", "Tea", "a paragraph goes"),
        (f"Tea\n{NOTE}\n{LICENCE}", "Tea", "two, too"),
        (f"Tea\n{NOTE}\n{NOTE}", f"Tea\n{NOTE}\n{NOTE}", "it belongs to what the page says"),
        ("Yes\nNo\nExample", "Yes\nNo\nExample", "values stay"),
        (f"{NOTE}:", f"{NOTE}:", "what introduces something stays"),
        (f"a\t{NOTE}", f"a\t{NOTE}", "a row of a table stays"),
        (f"Licence\n{LICENCE}\nContents\nTea", "Contents\nTea", "with its heading"),
        (f"Licence\n{LICENCE}\nTea", "Licence\nTea", "of whose section something stays"),
        (f"Licence\nNotes\n{NOTE}\nContents", "Licence\nContents", "headings in front of headings"),
        (f"Licence\n{NOTE}\nNotes\nTea", "Licence\nNotes\nTea", "an inner section stays"),
        (f"Notes\n{NOTE}\nLicence\nTea", "Licence\nTea", "an outer section begins"),
        (f"Term\n{NOTE}\nNotes\nTea", "Notes\nTea", "a term with its definition"),
        ("要回复问题，请先登录或注册\n茶", "茶", "twelve characters"),
        ("要回复，请先登录或注册\n茶", "要回复，请先登录或注册\n茶", "too few of them"),
    ],
)
def test_what_is_left_out(text: str, rest: str, why: str, tmp_path: Path) -> None:
    assert rest_of(text, tmp_path, Layout(levels=HEADINGS)) == rest, why


def test_four_pages_are_too_few(tmp_path: Path) -> None:
    assert [rest_of(NOTE, tmp_path, n_pages=count) for count in (4, 5)] == [NOTE, ""]


def test_fixed_lines_stay(tmp_path: Path) -> None:
    text = f"{LICENCE}\n{NOTE}"
    assert rest_of(text, tmp_path, Layout(frozenset([NOTE]))) == NOTE
    licence = Layout(frozenset(["Licence"]), HEADINGS)
    assert rest_of(f"Licence\n{NOTE}", tmp_path, licence) == "Licence"


def test_heading_of_one_page_stays(tmp_path: Path) -> None:
    texts = [f"{name}\n{NOTE}" for name in "abcdefgh"]
    counts = count_lines([("a.example", text) for text in texts], 0.3, tmp_path)
    found = find_passages(counts, "a.example", texts[0], lambda: Layout(levels={"a": 1}))
    assert found is not None
    assert found.rest == "a"


def test_layout_is_asked_for_only_if_something_is_repeated(tmp_path: Path) -> None:
    counts = count_lines([("a.example", "Tea.")] * 9, 0.3, tmp_path)
    assert find_passages(counts, "a.example", "Tea.", lambda: pytest.fail("asked")) is None
