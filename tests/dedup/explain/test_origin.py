"""Where a page's text comes from, told by `dedup why` and `dedup pair`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dedup.templates.learning import learn
from dedup.templates.site import Site
from tests.dedup.templates.conftest import sample, sphinx

from dedup import Deduplicator
from dedup.cli import main
from dedup.explain import text_origin
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.store import Page, SqliteStore

HOST = "http://site.example"
AD = "<div class='ad [red]'>Buy this now.</div>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A job of two pages of a known template, and three of none; the second without its body."""
    store = SqliteStore(tmp_path / "crawl.sqlite")
    templates = learn([sample(f"Page {n}", sphinx(n)) for n in range(10)], min_pages=10)
    store.learned.add_templates("site.example", templates, first=0)
    deduplicator = Deduplicator(store=store)
    site = Site(templates)
    for number in (11, 12):
        body = sphinx(number) + AD
        said = page_text(bounded(body), f"Page {number}", site=site)
        assert said.template == 0
        deduplicator.process(
            Page(
                id="",
                text=said.text,
                title=f"Page {number}",
                url=f"{HOST}/{number}",
                body=body.encode() if number == 11 else b"",
                source=said.source,
                template=said.template,
            )
        )
    for source in ("landmark", "page", "given"):
        url = f"{HOST}/{source}"
        deduplicator.process(Page(id="", text=f"By {source}.", url=url, source=source))
    store.close()
    return tmp_path


def test_boxes_left_out_are_those_of_the_page_or_of_its_template(folder: Path) -> None:
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    of_page, of_template = (text_origin(store, store.page(number)) for number in (1, 2))
    assert (of_page.box, of_page.template, of_page.n_learned) == ("body > div.document", 0, 10)
    assert of_page.is_of_page
    assert [each.box for each in of_page.left_out] == [
        *("div.sphinxsidebar", "div.footer", "div.ad.[red]")
    ]
    assert not of_template.is_of_page
    assert [each.box for each in of_template.left_out] == ["div.sphinxsidebar", "div.footer"]
    assert [text_origin(store, store.page(n)).source for n in (3, 4, 5)] == [
        *("landmark", "page", "given")
    ]
    store.close()


def test_why_tells_what_was_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(folder), f"{HOST}/11"]) == 0
    said = capsys.readouterr().out
    assert "text of body > div.document, as 10 pages of its site told" in said
    assert (
        "left out: div.footer, on 10 of the 10 pages learned from, words, 100% of them on other"
        " pages, too" in said
    )
    assert "left out: div.ad.[red], on none of the 10 pages learned from" in said
    assert main(["why", str(folder), f"{HOST}/12"]) == 0
    assert "left out of the pages learned from: div.footer" in capsys.readouterr().out
    assert main(["why", str(folder), f"{HOST}/page"]) == 0
    assert "its template is not known" in capsys.readouterr().out
    assert main(["why", str(folder), f"{HOST}/11", "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["text"]
    assert (text["source"], text["box"]) == ("box", "body > div.document")
    assert text["left_out"][1]["repeated_share"] == 1.0


def test_pair_tells_it_of_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urls = [f"{HOST}/11", f"{HOST}/landmark"]
    assert main(["pair", str(folder), *urls]) == 0
    said = capsys.readouterr().out
    assert "left out: div.sphinxsidebar, on 10 of the 10 pages" in said
    assert "what the page itself declares" in said
    assert main(["pair", str(folder), *urls, "--json"]) == 0
    texts = json.loads(capsys.readouterr().out)["texts"]
    assert [each["source"] for each in texts] == ["box", "landmark"]
