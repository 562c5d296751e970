"""Which pages of a built site its links lead to."""

from pathlib import Path

from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.reached import reached

_BASE = "http://site/"


def test_links_are_followed_where_they_are_allowed(tmp_path: Path) -> None:
    links = "".join(
        f'<a href="{each}">x</a>' for each in ("b.html#part", "docs", "away.html", "http://other/")
    )
    (tmp_path / "index.html").write_text(links)
    (tmp_path / "b.html").write_text('<base href="/docs/"><a href="d.html">x</a>')
    (tmp_path / "docs").mkdir()
    for name in ("docs/index", "docs/d", "docs/unlinked", "away"):
        (tmp_path / f"{name}.html").write_text("x")
    found = reached(SiteFolder(tmp_path), _BASE, "", "/$|b|docs")
    assert sorted(found) == [_BASE + each for each in ("", "b.html", "docs/", "docs/d.html")]
    assert found[_BASE + "docs/"] == b"x"


def test_links_lead_on_from_a_start_within_the_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "index.html").write_text("x")
    (tmp_path / "docs/index.html").write_text('<a href="gone.html">x</a>')
    assert list(reached(SiteFolder(tmp_path), _BASE, "/docs/")) == [f"{_BASE}docs/"]


def test_a_link_in_a_picture_without_href_of_its_own_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="x.html">x</a></svg>'
    )
    assert list(reached(SiteFolder(tmp_path), _BASE, "")) == [_BASE]


def test_links_lead_on_from_known_pages_that_are_there(tmp_path: Path) -> None:
    for name, to in (("index", "away"), ("known", "new"), ("new", "known"), ("apart", "known")):
        (tmp_path / f"{name}.html").write_text(f'<a href="{to}.html">x</a>')
    known = [f"{_BASE}{name}.html" for name in ("known", "away")]
    found = reached(SiteFolder(tmp_path), _BASE, "", known=known)
    assert sorted(found) == [_BASE + each for each in ("", "known.html", "new.html")]
