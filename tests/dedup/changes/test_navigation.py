"""What of a page only leads to others."""

from __future__ import annotations

import pytest

from dedup.changes.navigation import (
    are_most,
    link_lists,
    without_lists,
    without_pagers,
    without_related,
    without_trails,
)
from dedup.html import bounded
from dedup.html.unfolding import page_outline
from dedup.sites.outline import Outline


def _outline(body: str) -> Outline:
    found = page_outline(bounded(f"<html><body>{body}</body></html>"))
    assert found is not None
    return found


def test_links_to_the_pages_before_and_after_are_left_out() -> None:
    links = (
        "<ul class=pager><li><a href=/a>Older: forks</a></li><li><a href=/b>Knives</a></li></ul>"
    )
    kept = without_pagers(_outline(f"<div><p>All about spoons.</p>{links}</div>"))
    assert [line.text for line in kept.lines] == ["All about spoons."]


@pytest.mark.parametrize(
    "line",
    ["<a href=/a>Previous: Forks</a> <a href=/b>Next: Knives</a>", "« <a href=/a>上一篇：叉子</a>"],
)
def test_a_line_of_links_that_says_so_is_left_out(line: str) -> None:
    kept = without_pagers(_outline(f"<p>All about spoons.</p><div>{line}</div>"))
    assert [line.text for line in kept.lines] == ["All about spoons."]


@pytest.mark.parametrize(
    "label", ["<a href=/a>Next</a><br>", "<b>Previous post »</b>", "<p>上一篇"]
)
def test_a_neighbour_with_its_title_and_an_excerpt_is_left_out(label: str) -> None:
    neighbour = f"{label}<h4><a href=/a>Forks</a></h4><div>May 3, 2024</div><p>All about forks…"
    kept = without_pagers(_outline(f"<p>All about spoons.</p><div>{neighbour}</div><p>The end."))
    assert [line.text for line in kept.lines] == ["All about spoons.", "The end."]


@pytest.mark.parametrize(
    "body",
    [
        "<main><p>Next</p><h1>Spoons</h1><p>All about <a href=/a>spoons</a>.</p></main>",
        "<main><p>Previous</p><p>Next</p><p><a href=/a>Spoons</a></p><p>All of them.</p></main>",
        "<main><p>All about spoons.</p><p>Next</p><p><a href=/a>Forks</a></p></main>",
        f"<main><p>Next</p><p><a href=/a>Forks</a></p><p>{'All about spoons. ' * 40}</p></main>",
        "<main><h2>Next</h2><p><a href=/a>Forks</a></p></main>",
        "<p>Next: what is told here, without links.</p>",
        "<p><a href=/a>Next steps</a></p><p><a href=/b>上页的故事</a></p>",
        "<div class=next><p>What comes next is told here, without links.</p></div>",
        "<ul class=list><li><a href=/a>Forks</a></li><li><a href=/b>Knives</a></li></ul>",
        "<nav class=pagination><a href=/a>All of the page</a></nav>",
        f"<div class=prev-next><a href=/a>{'A long list of links. ' * 20}</a></div><p>Text.</p>",
    ],
)
def test_what_is_no_pager_stays(body: str) -> None:
    page = _outline(body)
    assert without_pagers(page).lines == page.lines


@pytest.mark.parametrize(
    "trail",
    [
        "<a href=/>Home</a> &gt; Spoons",
        "<a href=/>Home</a> / <a href=/wood>Wood</a> / Spoons",
        "<a href=/>首页</a> » The kitchen",
    ],
)
def test_a_trail_to_the_page_is_left_out(trail: str) -> None:
    page = _outline(f"<div>{trail}</div><h1>The kitchen</h1><p>All about spoons.</p>")
    kept = without_trails(page, "Spoons - Shop")
    assert [line.text for line in kept.lines] == ["The kitchen", "All about spoons."]


@pytest.mark.parametrize(
    "line",
    [
        "<a href=/>Home</a> &gt; Forks",  # a name of another page
        "<a href=/>Home</a> Spoons",
        "Home &gt; Spoons",
        "<a href=/>Home</a> &gt; <a href=/wood>Wood</a>",
        "<p>***</p><div>| <a href=/>Home</a></div>",  # signs alone name nothing
        "<p>Down</p><a href=/>State of the mill</a> · Down",  # is in no heading
    ],
)
def test_what_is_no_trail_to_the_page_stays(line: str) -> None:
    page = _outline(f"<div>{line}</div><p>All about spoons.</p>")
    assert without_trails(page, "Spoons - Shop").lines == page.lines


_POSTS = "<h2><a href=/a>Forks</a></h2><p>All about forks.</p><h2><a href=/b>Knives</a></h2>"


@pytest.mark.parametrize(
    "names", ["class=page__related", 'id="related-posts"', 'class="box relatedArticles related"']
)
def test_related_posts_are_left_out(names: str) -> None:
    page = _outline(f"<p>All about spoons.</p><div {names}><div>{_POSTS}</div></div>")
    assert [line.text for line in without_related(page).lines] == ["All about spoons."]


@pytest.mark.parametrize(
    "body",
    [
        f"<p>All about spoons.</p><div class=posts>{_POSTS}</div>",
        f"<p>All about spoons.</p><div id=related-terms>{_POSTS}</div>",
        f"<p>All about spoons.</p><div class=unrelated>{_POSTS}</div>",
        "<p>All about spoons.</p><div class=related><p>How it relates to others is told.</p></div>",
        f"<div class=related>{_POSTS}</div>",  # it has nothing else
    ],
)
def test_what_is_no_related_post_stays(body: str) -> None:
    page = _outline(body)
    assert without_related(page).lines == page.lines


_ROW = "<tr><td>{}</td><td><a href=/a>archive</a></td><td><a href=/b>checksum</a></td></tr>"
_VALUE = "<li><a href=/a>Forks</a><div>{}</div></li>"
_LINKS = "<li><a href=/a>Forks</a></li><li><a href=/b>Knives</a></li>"


@pytest.mark.parametrize(
    "links",
    [
        f"<ul>{_LINKS}</ul>",
        f"<nav><div>Of this series</div><ul>{_LINKS}</ul></nav>",
        f"<nav><p>What else there is to know of all that is in a drawer</p><ul>{_LINKS}</ul></nav>",
        f"<ul>{''.join(_VALUE.format(f'2024-05-0{each}') for each in '123')}</ul>",
        f"<table>{_ROW.format('Of these')}</table>",
        f"<nav><p>Of this series:</p><ul>{_LINKS}</ul></nav>",
        f"<table><tr><td><ul>{_LINKS}</ul></td></tr><tr><td>Of wood:</td></tr></table>",
        "<ul><li><a href=#a>Forms</a><ul><li><a href=#b>Old</a></li></ul></li></ul>",
    ],
)
def test_lists_of_links_are_left_out(links: str) -> None:
    kept = without_lists(_outline(f"<h1>Spoons</h1><div>{links}</div><p>All about spoons.</p>"))
    assert [line.text for line in kept.lines] == ["Spoons", "All about spoons."]


def test_references_to_other_sites_stay() -> None:
    links = _LINKS.replace("href=", "href=https://elsewhere.example")
    page = page_outline(bounded(f"<body><ul>{links}</ul><p>Text"), "https://site.example/")
    assert page is not None
    assert without_lists(page).lines == page.lines


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (
            f"<p>Of wood.</p><h2>Of this series</h2><ul>{_LINKS}</ul><h2>Use</h2>",
            ["Of wood.", "Use"],
        ),
        (f"<p>Of wood.</p><h2>Of this series</h2><ul>{_LINKS}</ul>", ["Of wood."]),
        (f"<h2>Kinds</h2><ul>{_LINKS}</ul><p>Of wood.</p>", ["Kinds", "Of wood."]),
        (f"<h1>Kinds</h1><ul>{_LINKS}</ul>", ["Kinds"]),
        (f"<main><p>Of wood.</p><h2>Use</h2></main><ul>{_LINKS}</ul>", ["Of wood.", "Use"]),
    ],
)
def test_a_heading_goes_with_its_list_if_it_has_nothing_else(body: str, kept: list[str]) -> None:
    assert [line.text for line in without_lists(_outline(body)).lines] == kept


@pytest.mark.parametrize(
    "body",
    [
        f"<ul>{_LINKS}<li>A spoon is neither of these, as is told here at length.</li></ul>",
        "<ul><li><a href=/a>Forks</a></li></ul>",  # one link
        "<ul><li>Forks</li><li>Knives</li><li><a href=/a>Spoons</a></li></ul>",
        "<div><p>Price: 5 €<p><a href=/a>Buy it</a><p><a href=/b>Remember it</a></div><p>Or not.",
        "<div><h2><a href=/a>Forks</a></h2>May 3<h2><a href=/b>Knives</a></h2></div>",  # posts
        f"<p>Spoons are returned by each of the following drawers:</p><ul>{_LINKS}</ul>",
        f"<ul>{_LINKS}</ul>",  # nothing else
        f"<table>{_ROW.format('2.0')}{_ROW.format('1.9')}</table><p>Of wood.</p>",
        f"<p>Of wood.</p><ul>{''.join(_VALUE.format(each) for each in ('$3', '$4', '$5'))}</ul>",
    ],
)
def test_what_is_no_list_of_links_stays(body: str) -> None:
    page = _outline(body)
    assert without_lists(page).lines == page.lines


@pytest.mark.parametrize(("text", "is_list"), [("Forks\nKnives\nAll", True), ("Much text.", False)])
def test_a_page_that_is_mostly_links_is_a_list_itself(text: str, is_list: bool) -> None:
    page = _outline(f"<ul>{_LINKS}</ul><p>All</p>")
    assert are_most(link_lists(page), page, text) is is_list
