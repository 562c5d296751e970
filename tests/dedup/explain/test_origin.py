"""Where a page's text comes from, told by `dedup why` and `dedup pair`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.explain import text_origin
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.sites.learner import SiteState
from dedup.sites.site import learn
from dedup.store import Page, SqliteStore
from tests.dedup.sites.conftest import parsed, sphinx, title_of, url_of

HOST = "http://site.example"
AD = "<div class='ad [red]'>Buy this now, and that one, and all the others there are.</div>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A job of two pages of a known site, and three by other means; the second without its body."""
    store = SqliteStore(tmp_path / "crawl.sqlite")
    state = SiteState()
    state.begin(learn((parsed(sphinx(n)), title_of(n), url_of(n)) for n in range(10)))
    store.learned.set_site("site.example", state.to_bytes())
    deduplicator = Deduplicator(store=store)
    for number in (11, 12):
        body = sphinx(number) + AD
        title = title_of(number)
        said = page_text(bounded(body), title, site=state.site, url=url_of(number))
        assert (said.source, said.site_version) == ("box", 1)
        deduplicator.process(
            Page(
                id="",
                text=said.text,
                title=title,
                url=url_of(number),
                body=body.encode() if number == 11 else b"",
                source=said.source,
                site_version=said.site_version,
            )
        )
    for source in ("landmark", "page", "given"):
        url = f"{HOST}/{source}"
        deduplicator.process(Page(id="", text=f"By {source}.", url=url, source=source))
    store.close()
    return tmp_path


def test_boxes_left_out_are_told_where_the_body_is_kept(folder: Path) -> None:
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    with_body, without = (text_origin(store, store.page(number)) for number in (1, 2))
    assert (with_body.source, with_body.n_names) == ("box", 10)
    left_out = {each.box: each for each in with_body.left_out}
    assert {"div.sphinxsidebar", "div.footer"} <= set(left_out)
    assert left_out["div.sphinxsidebar"].is_links
    assert left_out["div.footer"].repeated_share == 1.0
    assert all(each.n_pages <= each.n_names == 10 for each in with_body.left_out)
    assert (without.box, without.n_names, without.left_out) == (None, 10, ())
    assert [text_origin(store, store.page(n)).source for n in (3, 4, 5)] == [
        *("landmark", "page", "given")
    ]
    store.close()


def test_why_tells_what_was_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(folder), f"{HOST}/11"]) == 0
    said = capsys.readouterr().out
    assert "as 10 counted pages of its site tell" in said
    assert "left out: div.footer, on 10 of the 10 pages counted" in said
    assert main(["why", str(folder), f"{HOST}/12"]) == 0
    assert "its body is not kept" in capsys.readouterr().out
    assert main(["why", str(folder), f"{HOST}/page"]) == 0
    assert "nothing was known of its site" in capsys.readouterr().out
    assert main(["why", str(folder), f"{HOST}/11", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"]["source"] == "box"


def test_pair_tells_it_of_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urls = [f"{HOST}/11", f"{HOST}/landmark"]
    assert main(["pair", str(folder), *urls]) == 0
    said = capsys.readouterr().out
    assert "left out: div.sphinxsidebar, on 10 of the 10 pages counted" in said
    assert "what the page itself declares" in said
    assert main(["pair", str(folder), *urls, "--json"]) == 0
    texts = json.loads(capsys.readouterr().out)["texts"]
    assert [each["source"] for each in texts] == ["box", "landmark"]
