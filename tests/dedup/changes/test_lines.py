"""When a page's own text has changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dedup.changes.lines import PIECE, difference, line_key, lines_of, shortened
from dedup.store.sql.changes import ChangedPage, Version

_MENU = ["Home", "Docs", "About us"]


def _none(lines: Sequence[str]) -> list[bool]:
    return [False] * len(lines)


def _is_menu(lines: Sequence[str]) -> list[bool]:
    return [line in _MENU for line in lines]


def _page(then: str, now: str, *, title: str = "A", new_title: str | None = None) -> ChangedPage:
    old = Version(1.0, title, then)
    new = Version(2.0, title if new_title is None else new_title, now)
    return ChangedPage(1, "http://a/", "a", old, new)


_SAME = {
    "white space": ("One two.\nThree.", "One  two.\n\nThree."),
    "lines that end elsewhere": ("One two.\nThree.", "One two. Three."),
    "case and signs": ("One two!", "one – two."),
    "white space between Chinese words": ("查看所有技术文章", "查看所有 技术文章"),
    "what is not seen": ("A heading", "A heading\u200b"),
    "how long ago it was": ("A heading\n3 months ago", "A heading\nabout a year ago"),
    "how long ago it was said": (
        "Ann (4 days ago): no\n张三 3天前",
        "Ann (1 week ago): no\n张三 8天前",
    ),
    "signs of formulae": ("for u > 0 and 5% of x", "for $u > 0$ and 5 % of $x$"),
    "a list's signs": ("- Tea\n· Moss", "* Tea\n» Moss"),
}


@pytest.mark.parametrize("texts", _SAME.values(), ids=_SAME)
def test_what_is_the_same_for_a_reader_has_not_changed(texts: tuple[str, str]) -> None:
    assert difference(_page(*texts), _none) is None


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("यह राम का है", "यह राम की है"),  # vowels are marks
        ("हिन्दी", "हिन्द"),
        ("Waterproof ✓", "Waterproof ✗"),
        ("It costs £40", "It costs €40"),
        ("down to -5 degrees", "down to 5 degrees"),
        ("x ≤ 5", "x ≥ 5"),
        ("Rating ★★★★☆", "Rating ★☆☆☆☆"),
        ("State: \U0001f7e2", "State: \U0001f534"),
        ("written in C++", "written in C"),
        ("written in C#", "written in C"),
    ],
)
def test_vowels_and_signs_that_say_something_are_words(then: str, now: str) -> None:
    found = difference(_page(then, now), _none)
    assert found is not None
    assert (found.came, found.went) == ([now], [then])
    in_new_template = _page(f"Home\n{then}", f"Docs\n{now}")
    assert difference(in_new_template, _is_menu) is not None


def test_what_changed_is_shown_without_lines_that_differ_in_ages() -> None:
    found = difference(_page("Ann, 4 days ago\nOne.", "Ann, 1 week ago\nTwo."), _none)
    assert found is not None
    assert (found.came, found.went) == (["Two."], ["One."])


def test_a_month_is_one_beside_a_number_or_alone() -> None:
    assert line_key("Guests may not bring dogs") == "guests may not bring dogs"
    assert line_key("We march in June with Jan") == "we march in june with jan"
    dates = ["May 3, 2024", "3 May 2024", "3rd of May 2024", "3. May", "May 2024", "3-May"]
    for line in ("May", *(f"On {date}" for date in dates)):
        assert line_key(line) == line_key(line.replace("May", "June"))


def test_keys_of_long_lines_differ_by_their_ends() -> None:
    start = "the same words " * 20
    assert line_key(f"{start}here") != line_key(f"{start}there")
    assert line_key(f"{start}in May 2024 and here") == line_key(f"{start}in June 2025 and here")


def test_words_that_are_together_elsewhere_are_found_in_time_that_grows_with_the_page() -> None:
    same = [f"line {n} of wood {n * n}" for n in range(20_000)]
    then = "\n".join(["Home", *same, "The end."])
    page = _page(then, "\n".join(["Docs", *map(" ".join, zip(same[::2], same[1::2], strict=True))]))
    found = difference(page, _is_menu)  # took a minute, line by line
    assert found is not None
    assert (found.came, found.went) == ([], ["The end."])


@pytest.mark.parametrize("run", [" ", "7", "a ", "over 1 ", "天"])
def test_a_run_of_signs_is_looked_at_once(run: str) -> None:
    signs = run * 200_000
    then, now = f"One{signs}two ago 前", f"One{signs}three | four - five ago 前"
    found = difference(_page(then, now), _none)
    assert found is not None  # took hours


def test_lines_longer_than_the_other_version_are_the_pages_own() -> None:
    found = difference(_page("Home\nOne.", f"Docs\nOne.\n{'more ' * 50}"), _is_menu)
    assert found is not None
    assert len(found.came) == 1


def test_a_title_that_differs_in_the_sites_part_alone_has_not_changed() -> None:
    def is_out(lines: Sequence[str]) -> list[bool]:
        return ["convert" in line or "snapshot" in line for line in lines if line[0] == PIECE] or (
            [False] * len(lines)
        )

    old, new = (f"org.joda (Joda-Convert 1.4{each} API)" for each in ("-SNAPSHOT", ""))
    assert difference(_page("One.", "One.", title=old, new_title=new), is_out) is None


@pytest.mark.parametrize(
    ("heading", "title", "is_same"),
    [
        ("A guide", "A guide", True),
        ("A Guide", "A guide | Manual", True),
        ("A guide, too", "A guide | Manual", False),
        ("A guide 2", "A guide 2 | Manual", False),  # titles are compared without versions
    ],
)
def test_a_heading_that_repeats_the_title_is_a_theme_s(
    heading: str, title: str, *, is_same: bool
) -> None:
    found = difference(_page("One.", f"{heading}\nOne.", title=title, new_title=title), _none)
    assert (found is None) == is_same


def test_one_word_is_a_change() -> None:
    found = difference(_page("One two three four.\nB.", "One two 3 four.\nB."), _none)
    assert found is not None
    assert (found.came, found.went) == (["One two 3 four."], ["One two three four."])
    assert found.share == pytest.approx(2 / 12, abs=1e-4)  # of the words, those of the title too


def test_order_is_a_change_and_so_is_a_name() -> None:
    assert difference(_page("One.\nTwo.", "Two.\nOne."), _none) is not None
    found = difference(_page("One.", "One.", new_title="B"), _none)
    assert found is not None
    assert (found.came, found.went) == (["B"], ["A"])


def test_lines_of_a_template_are_no_change_of_a_page() -> None:
    page = _page("One.\nTwo.", "\n".join([*_MENU, "One.", "Two."]))
    assert difference(page, _is_menu) is None
    assert difference(page, _none) is not None


def test_another_template_may_repeat_headings_and_break_lines_elsewhere() -> None:
    then = "One heading\nText of it.\tA cell.\nTwo headings"
    now = "\n".join([*_MENU, "One heading", "Two headings", *then.replace("\t", "\n").split("\n")])
    assert difference(_page(then, now), _is_menu) is None
    assert (
        difference(_page("One.\nTwo.", "\n".join([*_MENU, "Two.", "One."])), _is_menu) is not None
    )
    found = difference(_page(then, f"{now}\nA third."), _is_menu)
    assert found is not None
    assert (found.came, found.went) == (["A third."], [])


_UPDATES = {
    "English": ("Last updated on Dec 16, 2022 by Ann", "Last updated on Jan 3, 2023 by Ben"),
    "Chinese": ("最后更新于 2022-12-16 由 张三", "最后更新于 2023-01-03 由 李四"),
    "other words": ("Updated: Dec 16, 2022", "Last updated on Jan 3, 2023 by Ben"),
    "new": ("", "更新时间：2023年1月3日"),
}


@pytest.mark.parametrize("lines", _UPDATES.values(), ids=_UPDATES)
def test_the_date_of_the_last_update_is_no_change(lines: tuple[str, str]) -> None:
    then, now = (f"One.\n{line}\nTwo." for line in lines)
    assert difference(_page(then, now), _none) is None
    found = difference(_page(then, f"{now}\nThree."), _none)
    assert found is not None
    assert (found.came, found.went) == (["Three."], [])


def test_the_date_of_the_last_update_makes_no_other_template() -> None:
    then = "The planning period of a year.\nPlanning period"
    now = "The planning period of a year.\nThe planning period\nLast updated: May 5, 2024"
    found = difference(_page(then, now), _none)
    assert found is not None
    assert (found.came, found.went) == (["The planning period"], ["Planning period"])


def test_several_dates_of_updates_are_those_of_a_list() -> None:
    then = "One\nUpdated May 3, 2024 by Ann\nTwo\nUpdated May 4, 2024 by Ben"
    now = then.replace("May 3, 2024 by Ann", "May 9, 2024 by Eve")
    found = difference(_page(then, now), _none)
    assert found is not None
    assert found.came == ["Updated May 9, 2024 by Eve"]
    found = difference(_page(then.partition("\nTwo")[0], then), _none)
    assert found is not None
    assert found.came == ["Two", "Updated May 4, 2024 by Ben"]


def test_a_title_is_no_date_of_an_update() -> None:
    page = _page("One.", "One.", title="Updated May 3, 2024", new_title="Updated May 9, 2024")
    assert difference(page, _none) is not None


def test_a_date_makes_no_other_template() -> None:
    then = "The planning period of a year.\nPlanning period\nUpdated on May 3"
    now = "The planning period of a year.\nThe planning period\nUpdated on May 5"
    found = difference(_page(then, now), lambda lines: [line[:7] == "Updated" for line in lines])
    assert found is not None
    assert (found.came, found.went) == (["The planning period"], ["Planning period"])


def test_numbers_and_months_do_not_tell_lines_apart() -> None:
    assert line_key("Viewed 12 times, May 3") == line_key("Viewed 9 times, June 30")
    assert line_key("Viewed 12 times") != line_key("Read 12 times")


def test_passages_are_few_and_short() -> None:
    now = "\n".join(f"{'word ' * 200}{n}" for n in range(20))
    found = difference(_page("", now), _none)
    assert found is not None
    assert len(found.came) == 5
    assert max(map(len, found.came)) == 300
    assert found.share == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("at", [0, 200, 290, 320, 900, 1_500])
@pytest.mark.parametrize("before", ["word ", "w"])
def test_what_is_shown_of_long_passages_has_the_first_difference(at: int, before: str) -> None:
    start, end = (before * at)[:at], " and the rest" * 100
    found = difference(_page(f"{start} older {end}", f"{start} newer {end}"), _none)
    assert found is not None
    (came,), (went,) = found.came, found.went
    assert "newer" in came
    assert "older" in went
    assert max(map(len, (came, went))) <= 300
    assert came.startswith("…") == (at > 240)


def test_of_a_passage_that_became_longer_the_end_is_shown() -> None:
    start = "word " * 200
    found = difference(_page(f"{start}end.", f"{start}end. Added."), _none)
    assert found is not None
    assert found.came[0].endswith("word end. Added.")
    assert found.went[0].endswith("word end.")


def test_of_long_texts_only_what_differs_is_compared() -> None:
    lines = [
        f"Line {number} of a long text, with some words of its own." for number in range(15_000)
    ]
    page = _page("\n".join([*lines, "The end."]), "\n".join(["One.", *lines, "An end."]))
    short = shortened(page)
    assert [lines_of(each) for each in (short.then, short.now)] == [
        ("\0A", "The end."),
        ("\0A", "One.", "An end."),
    ]
    found, full = (difference(each, _none) for each in (short, page))
    assert found is not None
    assert full is not None
    assert (found.came, found.went) == (full.came, full.went)
    assert found.share == pytest.approx(full.share, abs=1e-4)


def test_short_texts_are_compared_as_a_whole() -> None:
    page = _page("One.\nTwo.", "Two.\nOne.")
    assert shortened(page) == page


def test_counters_have_the_same_key_however_they_are_written() -> None:
    views = {
        line_key(f"{n} for {each}") for each in "ab" for n in ("7 views", "1 view", "1.2k views")
    }
    assert views == {line_key("1,004 views for a"), line_key("1 view for b")}
    assert line_key("2 replies") == line_key("1 reply")
    assert line_key("$1.50 sold") != line_key("$2 sold")


def test_numbers_far_behind_in_long_lines_tell_them_apart() -> None:
    one, other, third = (
        f"{at} words {'and more ' * 500}{end}" for at, end in [(1, 3), (2, 3), (1, 4)]
    )
    assert line_key(one) == line_key(other) != line_key(third)
