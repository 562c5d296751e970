"""What is known of a site: names of pages, titles, headings, rarity, and versions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dedup.html.bounds import bounded
from dedup.html.page_text import page_text
from dedup.sites.counts import SiteCounts
from dedup.sites.lines import PageLines
from dedup.sites.outline import Outline
from dedup.sites.site import PageText, Site, first_heading, learn, name_key
from dedup.store.records import Page, with_text
from tests.dedup.sites.conftest import (
    MENU,
    contribution_of,
    learned,
    outlines,
    parsed,
    prose,
    read,
    sphinx,
    title_of,
    url_of,
)


def test_unknown_site_reads_nothing() -> None:
    for site in (Site(), Site(SiteCounts(), version=3)):
        assert not site
        assert site.version == 0
        assert site.read(parsed(sphinx(1)), title_of(1), url_of(1)) is None
    assert learned(sphinx(1)).read(Outline(parsed("").boxes, []), "", "") is None


def test_text_records_the_version_that_read_it() -> None:
    counts = learn((parsed(sphinx(n)), title_of(n), url_of(n)) for n in range(12))
    assert read(Site(counts, version=7), sphinx(50), 50).site_version == 7


def test_a_site_does_not_change_with_its_counts() -> None:
    counts = learn((parsed(sphinx(n)), title_of(n), url_of(n)) for n in range(12))
    site = Site(counts, version=1)
    before = read(site, sphinx(50), 50)
    for number in range(12, 40):
        counts.add(contribution_of(site, parsed(sphinx(number)), number))
    assert (site.n_names, counts.n_names) == (12, 40)
    assert read(site, sphinx(50), 50).text == before.text


# --- Names ---------------------------------------------------------------------------------------

PAGE = "<h1>Reading</h1><p>words"
URL = "http://site.example/a/reading.html"

# Body, title and URL of another page than `PAGE`, titled "Reading": have they one name?
NAMES = [
    (PAGE, "Reading", URL, True, "the same"),
    ("<h1>Reading</h1><p>other words", "Reading", URL, True, "what it says does not count"),
    (PAGE, "reading 2.1", URL.replace("/a/", "/2.1/"), True, "nor do versions"),
    (PAGE, "Writing", URL, False, "another title"),
    ("<h1>Writing</h1><p>words", "Reading", URL, False, "another heading"),
    (PAGE, "Reading", URL.replace("reading", "writing"), False, "another file"),
    (f"<div class=new>{PAGE}</div>", "Reading", URL, False, "another design"),
    (f"<div>{PAGE}</div>", "Reading", URL, True, "a box without a name"),
    (f"<div id=reading>{PAGE}</div>", "Reading", URL, True, "a box of the page alone"),
]


@pytest.mark.parametrize(("body", "title", "url", "expected", "why"), NAMES)
def test_pages_of_one_name(body: str, title: str, url: str, expected: bool, why: str) -> None:
    found = name_key(parsed(body), title, url) == name_key(parsed(PAGE), "Reading", URL)
    assert found is expected, why


@settings(deadline=None)
@given(outlines())
def test_every_page_has_a_name(page: Outline) -> None:
    key = name_key(page, "\ud800", "http://site.example/\ud800")
    assert 0 <= key < 2**32
    assert key == name_key(
        Outline.from_json(page.to_json()), "\ud800", "http://site.example/\ud800"
    )


def test_first_heading_is_one_of_the_highest_rank() -> None:
    assert first_heading(parsed("<h2>a</h2><h1>b</h1><h1>c</h1>")) == "b"
    assert first_heading(parsed("<h3>a</h3><h2>b</h2>")) == "b"
    assert first_heading(parsed("<p>a</p>")) == ""


# --- Headings and titles -------------------------------------------------------------------------


def body(heading: str, number: int) -> str:
    return sphinx(number).replace(f"<h1>Page {number}</h1>", heading)


def test_the_heading_is_the_pages_own_wherever_it_stands() -> None:
    def of(number: int) -> str:
        return (
            "<header><h1>The site</h1></header>"
            f"<h1>{prose(f'name {number}', 3)}</h1><div class=menu>{MENU}</div>"
            f"<div id=text><p>{prose(number)}</p></div><footer><p>a<p>b<p>c</footer>"
        )

    own = read(learned(*map(of, range(10))), of(50), 50)
    assert own.heading == prose("name 50", 3)
    assert own.text == f"{prose('name 50', 3)}\n{prose(50)}"


# A page's headings, and the one that names it where all pages have "The site" in an `<h1>`.
HEADINGS = [
    ("<h1>Reading</h1>", "Reading", "of its own"),
    ("<h1>The site</h1>", "", "that of all pages is none"),
    ("<h1>The site</h1><h2>Writing</h2>", "Writing", "one of lower rank"),
    ("<h1>The site</h1><h1>Reading</h1>", "Reading", "the second"),
    ("<h1>Part 3</h1>", "Part 3", "a number is a name where there is no other"),
    ("<h1>Any ideas?</h1><h1>Reading</h1>", "Reading", "of several, the one in the title"),
    ("<p>no heading</p>", "", "none"),
]


@pytest.mark.parametrize(("headings", "expected", "why"), HEADINGS)
def test_headings(headings: str, expected: str, why: str) -> None:
    site = learned(
        *(body(f"<h1>The site</h1><h1>Part {n}</h1><h1>Page {n}</h1>", n) for n in range(12))
    )
    own = site.read(parsed(body(headings, 50)), "Reading - The site", url_of(50))
    assert own is not None
    assert own.heading == expected, why


def titled(*titles: str) -> Site:
    pages = ((parsed(sphinx(n)), title, url_of(n)) for n, title in enumerate(titles))
    return Site(learn(pages), version=1)


# The titles of a site's pages, that of another page, and what is its own of it.
TITLES = [
    ([f"Page {n} - The site" for n in range(9)], "Reading - The site", "Reading"),
    ([f"Page {n} - The site 2.{n}" for n in range(9)], "Reading - The site 3.0", "Reading"),
    ([f"{prose(n, 2)}" for n in range(9)], "Reading - The site", "Reading - The site"),
    ([f"{prose(n, 2)} | Docs | Site" for n in range(9)], "Reading | Docs | Site", "Reading"),
]


@pytest.mark.parametrize(("titles", "title", "expected"), TITLES)
def test_own_title_is_without_the_sites_part(titles: list[str], title: str, expected: str) -> None:
    own = titled(*titles).read(parsed(sphinx(50)), title, url_of(50))
    assert own is not None
    assert own.title == expected


def test_frequent_title_is_not_a_name() -> None:
    own = titled(*["The site"] * 20).read(parsed(sphinx(50)), "The site", url_of(50))
    assert own is not None
    assert own.title == ""
    assert own.heading == "Page 50"


# --- Rarity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_pages", [2, 4, 5, 16, 17, 64, 100])
def test_rarity_falls_from_one_page_to_half_of_all(n_pages: int) -> None:
    def of(number: int) -> str:
        shares = {"most": 1.0, "half": 0.5, "some": 0.25}
        shared = "".join(f"<p>on {word}" for word, n in shares.items() if number < n_pages * n)
        return f"<p>only {chr(97 + number % 26) * (1 + number // 26)}</p>{shared}"

    site = learned(*map(of, range(n_pages)))
    page = PageLines(parsed("<p>on most<p>on half<p>on some<p>new"))
    most, half, some, new = site.known_of(page, 0).rarity.tolist()
    assert new == 1
    assert 0 == most <= half <= some < 1 or n_pages <= 4
    assert {most, half, some, new} <= {0, 1} or n_pages > 4


def test_counted_page_does_not_repeat_itself() -> None:
    site = learned(*map(sphinx, range(12)))
    page = parsed(sphinx(3))
    lines = PageLines(page)
    own = next(n for n, line in enumerate(lines.lines) if line.text == prose(3))
    rarity = site.known_of(lines, name_key(page, title_of(3), url_of(3))).rarity
    assert rarity[own] == 1


@pytest.mark.parametrize(("n_names", "limit"), [(10, 2), (400, 2), (600, 3), (2_000, 10)])
def test_lines_of_few_pages_are_rare(n_names: int, limit: int) -> None:
    counts = SiteCounts(n_names=n_names)
    assert Site(counts, version=1).rare_limit == limit


def test_a_site_is_settled_by_many_names() -> None:
    assert not Site(SiteCounts(n_names=127), version=1).is_settled
    assert Site(SiteCounts(n_names=128), version=1).is_settled


@pytest.mark.parametrize(("n_lines", "is_kept"), [(1_000, True), (20_001, False)])
def test_an_outline_of_very_many_lines_is_not_handed_on(n_lines: int, is_kept: bool) -> None:
    """Such a page is read by what is known, and from its body where it has to be read again."""
    site = learned(*map(sphinx, range(10)))
    html = bounded("".join(f"<p>{prose(n, 4)}" for n in range(n_lines)))
    said = page_text(html, "A page", site=site, url="http://site.example/long")
    assert said.source == "box"
    assert (said.outline is not None) == is_kept


def test_a_page_that_is_read_again_has_the_same_text() -> None:
    page = parsed(sphinx(50))
    lines, name = PageLines(page), name_key(page, title_of(50), url_of(50))
    for n_pages in (4, 12, 40):
        site = learned(*map(sphinx, range(n_pages)))
        own, again = (
            site.read(page, title_of(50), url_of(50)),
            site.read_again(lines, name, title_of(50)),
        )
        assert own is not None
        assert again is not None
        assert again.contribution is None
        assert (again.text, again.heading, again.title) == (own.text, own.heading, own.title)
        assert again.rest is not None
        assert own.rest is not None
        assert again.rest.to_bytes() == own.rest.to_bytes()


def test_an_equal_text_keeps_what_has_been_computed_of_it() -> None:
    page = Page(id="1", text="One text.", heading="", own_title="", source="box")
    shingles = page.shingles
    same = with_text(page, PageText("One text.", "", "", "box", site_version=2))
    assert same.known_shingles is shingles
    assert same.site_version == 2
    other = with_text(page, PageText("Another text.", "", "", "box", site_version=2))
    assert other.known_shingles is None
