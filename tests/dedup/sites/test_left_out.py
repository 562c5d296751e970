"""Where a page's text stands, and what is left out of it, in words for people."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dedup.sites.left_out import TextPlace, selector, text_place, way_to
from dedup.sites.outline import Box, Outline
from dedup.sites.site import Site
from tests.dedup.sites.conftest import learned, outlines, parsed, sphinx, title_of, url_of


def place(site: Site, body: str, number: int = 50) -> TextPlace:
    found = text_place(site, parsed(body), title_of(number), url_of(number))
    assert found is not None
    return found


def test_omitted_boxes_are_reported_with_their_facts() -> None:
    found = place(learned(*map(sphinx, range(10))), sphinx(50) + "<div class=empty></div>")
    assert found.box == "body > div.document > div.body"
    menu, footer = found.left_out
    assert (menu.box, menu.words, menu.n_pages, menu.n_names) == ("div.sphinxsidebar", 180, 10, 10)
    assert menu.is_links
    assert str(footer) == (
        "div.footer, on 10 of the 10 pages counted, 30 words here (words), "
        "100% of them also on other pages"
    )
    assert str(menu).startswith(
        "div.sphinxsidebar, on 10 of the 10 pages counted, 180 words here (mostly links)"
    )
    assert found.own_share == 1


def test_box_of_one_page_is_reported() -> None:
    body = sphinx(50) + "<div class=ad><p>Buy this.<p>Buy that.<p>Buy all.</div>"
    found = {each.box: each for each in place(learned(*map(sphinx, range(10))), body).left_out}
    assert (found["div.ad"].n_pages, found["div.ad"].repeated_share) == (0, 0)


def test_pages_count_once_however_many_of_their_boxes_are_alike() -> None:
    ad = "<div class=ad><p>Buy this.<p>Buy that.<p>Buy all.</div>"
    site = learned(*(sphinx(n) + 2 * ad for n in range(10)))
    found = {each.box: each.n_pages for each in place(site, sphinx(50) + 2 * ad).left_out}
    assert found["div.ad"] == 10


def test_text_place_of_unknown_site_is_none() -> None:
    assert text_place(Site(), parsed(sphinx(1)), title_of(1), url_of(1)) is None
    assert text_place(learned(sphinx(1)), parsed(""), "", "") is None


@pytest.mark.parametrize(
    ("tag", "names", "expected"),
    [
        ("div", (), "div"),
        ("div", ("#menu",), "div#menu"),
        ("ul", ("a", "b"), "ul.a.b"),
        ("x-y", ("#i", "a"), "x-y#i.a"),
    ],
)
def test_a_box_is_named_as_a_selector(tag: str, names: tuple[str, ...], expected: str) -> None:
    page = Outline([Box(-1, "body", ()), Box(0, tag, names)])
    assert selector(page.boxes[1]) == expected
    assert way_to(page, 1) == f"body > {expected}"


@settings(deadline=None)
@given(outlines())
def test_any_page_can_be_explained(page: Outline) -> None:
    found = text_place(learned(*map(sphinx, range(10))), page, "A title", url_of(9))
    assert (found is None) == (not page.lines)
    if found is not None:
        assert 0 <= found.own_share <= 1 + 1e-9
        assert all(str(each) for each in found.left_out)
