"""Where a page's text comes from, told by `dedup why` and `dedup pair`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.document import TextSource
from dedup.explain.origin import text_origin
from dedup.sites.site import learn
from dedup.sites.state import SiteState
from dedup.store import Page, SqliteStore
from tests.dedup.sites.conftest import learned, parsed, read, sphinx, title_of, url_of

AD = "<div class='ad [red]'>Buy this now.</div>"


def state_of(*bodies: str) -> SiteState:
    state = SiteState()
    state.begin(learn((parsed(body), title_of(n), url_of(n)) for n, body in enumerate(bodies)))
    return state


def page_of(number: int, body: str, *, text: str | None = None, has_body: bool = True) -> Page:
    own = read(learned(*map(sphinx, range(10))), body, number)
    return Page(
        id="",
        text=own.text if text is None else text,
        title=title_of(number),
        heading=own.heading,
        own_title=own.title,
        url=url_of(number),
        body=body.encode() if has_body else None,
        source="box",
        rest=own.rest,
        site_version=1,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages of a known site: as read, without its body, read earlier; and three read otherwise."""
    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.learned.set_site("site.example", state_of(*map(sphinx, range(10))).to_bytes())
    deduplicator = Deduplicator(store=store)
    deduplicator.process(page_of(11, sphinx(11) + AD))
    deduplicator.process(page_of(12, sphinx(12), has_body=False))
    deduplicator.process(page_of(13, sphinx(13), text="What was known earlier."))
    sources: tuple[TextSource, ...] = ("landmark", "page", "given")
    for source in sources:
        url = f"http://site.example/{source}"
        deduplicator.process(Page(id="", text=f"By {source}.", url=url, source=source))
    store.close()
    return tmp_path


def why(folder: Path, number: int | str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["why", str(folder), f"http://site.example/{number}"]) == 0
    return capsys.readouterr().out


def test_boxes_left_out_are_those_of_the_page(folder: Path) -> None:
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    origin = text_origin(store, store.page(1))
    assert (origin.box, origin.n_names) == ("body > div.document > div.body", 10)
    assert [each.box for each in origin.left_out] == ["div.sphinxsidebar", "div.footer"]
    assert origin.words_elsewhere == 3  # "Buy this now."
    assert all(each.n_pages <= each.n_names for each in origin.left_out)
    assert origin.is_as_read
    assert text_origin(store, store.page(2)).box is None
    assert not text_origin(store, store.page(3)).is_as_read
    assert [text_origin(store, store.page(n)).source for n in (4, 5, 6)] == [
        *("landmark", "page", "given")
    ]
    store.close()


def test_why_lists_what_was_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = why(folder, 11, capsys)
    assert "text of body > div.document > div.body, by 10 counted pages of its site" in said
    assert "left out: div.sphinxsidebar, on 10 of the 10 pages counted" in said
    assert "left out elsewhere, outside boxes of several lines: 3 words" in said
    assert "so the boxes left out of this page's text are unknown" in why(folder, 12, capsys)
    assert "read now, its text would differ" in why(folder, 13, capsys)
    assert "nothing was known of its site" in why(folder, "page", capsys)


def test_json_has_the_boxes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(folder), url_of(11), "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["text"]
    assert (text["source"], text["box"]) == ("box", "body > div.document > div.body")
    assert text["left_out"][0]["n_names"] == 10


def test_pair_explains_both_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urls = [url_of(11), "http://site.example/landmark"]
    assert main(["pair", str(folder), *urls]) == 0
    said = capsys.readouterr().out
    assert "left out: div.sphinxsidebar, on 10 of the 10 pages counted" in said
    assert "what the page declares" in said
    assert main(["pair", str(folder), *urls, "--json"]) == 0
    texts = json.loads(capsys.readouterr().out)["texts"]
    assert [each["source"] for each in texts] == ["box", "landmark"]
