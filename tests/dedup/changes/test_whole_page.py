"""What stands beside the texts of pages, and which of it rotates."""

from __future__ import annotations

import pytest

from dedup.changes.whole_page import Rotating, whole_pages
from dedup.sites.lines import PageLines
from dedup.sites.outline import Outline
from dedup.sites.site import Site, learn
from dedup.sites.stored import outline_of
from dedup.store import Page

HOST = "a.example"
PAGES = range(30)


def _page(number: int, *, ad: int = 0, price: int = 0, body: str = "") -> Page:
    name = f"item{chr(97 + number)}"  # digits count as one word
    words = " ".join(f"{name}{each}" for each in ("oak", "elm", "fir", "ash", "yew"))
    buy = " ".join(f"{name}{each}{'x' * ad}" for each in ("buy", "now", "win"))
    html = (
        f"<html><head><title>{name}</title></head><body><main><p>{words * 5}</p>"
        f"<dl><dt>Price</dt><dd>{price} EUR</dd></dl></main><div class=ad>{buy}</div>{body}"
        "</body></html>"
    )
    return Page(id="", text=words, url=f"http://{HOST}/{number}", title=name, body=html.encode())


def _lines(page: Page) -> PageLines:
    found = whole_pages(page, page)
    assert found is not None
    return found[0]


def _site(*pages: Page) -> Site:
    """That of some pages, by default of all that `_page` makes."""
    pages = pages or tuple(map(_page, PAGES))
    return Site(
        learn((outline_of(each) or Outline(), each.title, each.url or "") for each in pages),
        version=1,
    )


def _differs(rotating: Rotating, site: Site, then: Page, now: Page) -> bool:
    """Does it, in more than what is known to rotate?"""
    places = rotating.differing(HOST, site, _lines(then), _lines(now))
    return not rotating.rotate(HOST, places)


def _visited(rotating: Rotating, site: Site, **changed: int) -> list[bool]:
    """Visit all pages, the first ones with other values; return which of them differ."""
    found = []
    for number in PAGES:
        now = _page(number, **{name: int(number < n) for name, n in changed.items()})
        rotating.note_visits(HOST)
        found.append(_differs(rotating, site, _page(number), now))
    return found


def test_menus_and_lists_of_links_are_no_part_of_the_whole_page() -> None:
    links = "".join(f"<li><a href=/{each}>Page {each}</a></li>" for each in "abcd")
    choice = "<select><option>English</option><option>Korean</option></select>"
    menus = (
        f"<nav>Menu</nav><aside>Side</aside>{choice}<footer>Foot</footer><p>Own</p><ul>{links}</ul>"
    )
    page, plain = _lines(_page(1, body=menus)), _lines(_page(1))
    new = [line.text for line in page.lines if line.text not in {each.text for each in plain.lines}]
    assert new == ["Own"]


def test_bodies_that_are_large_or_missing_are_not_read() -> None:
    for page in (
        _page(1, body="<p>large</p>" * 50_000),
        Page(id="", text="text", url=f"http://{HOST}/"),
    ):
        assert whole_pages(page, _page(1)) is None
        assert whole_pages(_page(1), page) is None


def test_lines_that_one_version_alone_has_in_a_menu_are_not_in_the_other() -> None:
    then = _page(1, body="<nav><p>Edit this Page</p></nav><p>Own</p><p>Edit it</p>")
    now = _page(1, body="<p>Edit this page #</p><p>Own</p><p>Edit it</p><p>Edit it</p>")
    found = whole_pages(then, now)
    assert found is not None
    old, new = ([line.text for line in page.lines] for page in found)
    assert "Own" in old
    assert new == [*old, "Edit it"]


@pytest.mark.parametrize("place", ["ad", "price"])
@pytest.mark.parametrize(("n_pages", "rotates"), [(4, False), (15, False), (16, True)])
def test_what_differs_on_most_pages_rotates(place: str, n_pages: int, *, rotates: bool) -> None:
    site, rotating = _site(), Rotating()
    assert sum(_visited(rotating, site, **{place: n_pages})) == n_pages
    for number in (0, 29):
        page = _lines(_page(number))
        own = page.text_of(rotating.are_own(HOST, site, (), page))
        assert ("buy" in own) == (not rotates or place != "ad")
        assert ("EUR" in own) == (not rotates or place != "price")
        assert "oak" in own
        again = Rotating(rotating.to_json(1, Rotating()))
        assert page.text_of(again.are_own(HOST, site, (), page)) == own
    page = _lines(_page(0))
    assert rotating.are_own("other.example", site, (), page).all()


def test_after_twenty_pages_what_rotates_makes_no_difference() -> None:
    site, rotating = _site(), Rotating()
    assert _visited(rotating, site, ad=30) == [True] * 19 + [False] * 11
    assert _differs(rotating, site, _page(3), _page(3, ad=1, price=1))  # its price does, too


def test_what_differs_beside_a_counter_that_rotates_makes_a_difference() -> None:
    def page(number: int, n_likes: int, euros: int = 9) -> Page:
        return _page(number, body=f"<p>{euros} EUR · {n_likes} likes</p>")

    site, rotating = _site(*(page(number, number) for number in PAGES)), Rotating()
    differ = []
    for number in PAGES:
        rotating.note_visits(HOST)
        differ.append(_differs(rotating, site, page(number, number), page(number, number + 7)))
    assert differ == [True] * 19 + [False] * 11
    assert _differs(rotating, site, page(3, 3), page(3, 11, euros=8))
    assert not _differs(rotating, site, page(3, 3), page(3, 11))


@pytest.mark.parametrize(
    "known",
    ["", "[", "[1]", "7", '{"a.example": [7]}', '{"a.example": 1}', '{"a": [["x", 1, 1, "", ""]]}'],
)
def test_what_is_damaged_names_nothing_that_rotates(known: str) -> None:
    assert Rotating(known).are_own(HOST, _site(), (), _lines(_page(0))).all()


def test_how_long_ago_something_was_is_no_difference() -> None:
    site, rotating = _site(), Rotating()
    then, now = (_page(1, body=f"<p>1.9.{n} - {n} days ago</p>") for n in (3, 4))
    old = _page(1, body="<p>1.9.3 - 2 days ago</p>")
    assert not _differs(rotating, site, old, then)
    assert _differs(rotating, site, then, now)


def test_what_rotates_in_other_boxes_is_the_pages_own_elsewhere() -> None:
    def page(number: int, visit: int) -> Page:
        return _page(
            number, price=number, body=f"<div class=card>{number + 100 + visit * 7} EUR</div>"
        )

    rotating, known = Rotating(), _site(*(page(number, 0) for number in PAGES))
    for number in PAGES:
        rotating.note_visits(HOST)
        rotating.differing(HOST, known, _lines(page(number, 0)), _lines(page(number, 1)))
    lines = _lines(page(4, 1))
    own = lines.text_of(rotating.are_own(HOST, known, (), lines)).split("\n")
    assert ("4 EUR" in own, "111 EUR" in own) == (True, False)
