"""Drops whose original has another name, and pages that are kept for theirs alone."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from dedup import DedupConfig, Deduplicator
from dedup.errors import StateError
from dedup.report import names as module
from dedup.report.data import report_data
from dedup.report.page import write_report
from dedup.store import Page, SqliteStore
from tests.dedup.sites.conftest import prose

A, B = "http://a.example", "http://b.example"


def job(path: Path, *pages: Page, **config: Any) -> Path:
    store = SqliteStore(path / "crawl.sqlite")
    deduplicator = Deduplicator(config=DedupConfig(**config), store=store)
    for page in pages:
        deduplicator.process(page)
    store.close()
    return path


def page(url: str, text: str, name: str, **fields: Any) -> Page:
    defaults = {"title": f"{name} - The site", "own_title": name, "heading": name, "source": "box"}
    return Page(id="", url=url, text=text, **{**defaults, "site_version": 1, **fields})


def data_of(path: Path) -> dict[str, Any]:
    store = SqliteStore(path / "crawl.sqlite", read_only=True)
    try:
        return report_data(store)
    finally:
        store.close()


def verdict(path: Path) -> str:
    tree = LexborHTMLParser(write_report(path).read_text(encoding="utf-8"))
    found = tree.css_first(".verdict")
    assert found is not None
    return " ".join(found.text().split())


STORY = prose("a story", 300)
EDITED = f"{STORY} And more."


def test_job_whose_near_duplicates_have_other_names_is_not_called_safe(tmp_path: Path) -> None:
    path = job(
        tmp_path,
        page(f"{A}/ones", STORY, "ones"),
        page(f"{A}/zeros", EDITED, "zeros"),
        page(f"{B}/story", f"{EDITED} And more.", "story"),
        page(f"{A}/v2/ones", f"{STORY} That is all.", "ones 2.1"),
        near_names="ignore",
    )
    assert data_of(path)["names"] == {"near": 3, "other": 2, "on_one_host": 1}
    assert verdict(path) == "Not yet: there is a warning sign."
    text = write_report(path).read_text(encoding="utf-8")
    assert "2 of 3 near duplicates have a different title or heading" in text
    assert "1 of them on one host" in text
    block = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert block is not None
    data = json.loads(gzip.decompress(base64.b64decode(block[1])))
    assert {row[0]: row[-1] for row in data["groups"]["duplicates"]} == {
        f"{A}/zeros": True,
        f"{B}/story": True,
        f"{A}/v2/ones": False,
    }


def test_job_of_an_earlier_release_is_judged_by_its_titles(tmp_path: Path) -> None:
    fields = {"own_title": None, "heading": "", "source": "given", "site_version": None}
    pages = [page(f"{A}/1", STORY, "index", **fields), page(f"{A}/2", EDITED, "columns", **fields)]
    path = job(tmp_path, *pages, near_names="ignore")
    assert verdict(path) == "Not yet: there is a warning sign."
    assert "1 of 1 near duplicates have a different" in write_report(path).read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    "second",
    [
        page(f"{A}/v2/ones", EDITED, "ones 2.1"),
        page(f"{A}/v2/ones", STORY, "ones"),
        page(f"{A}/zeros", EDITED, "zeros"),
    ],
)
def test_verdict_of_a_job_whose_names_agree(tmp_path: Path, second: Page) -> None:
    assert verdict(job(tmp_path, page(f"{A}/ones", STORY, "ones"), second)) == (
        "No warning signs in what could be checked; the texts could not be checked: no page’s"
        " body is stored."
    )


def test_pages_differing_only_in_name_are_reported(tmp_path: Path) -> None:
    names = ["abs", "absolute", "np.add", "np.sum"]
    texts = [f"{name}\n{STORY}" for name in names[:2]]
    texts += [f"{name}\n{name[3:]}(a, b)\n{EDITED}" for name in names[2:]]
    pages = [page(f"{A}/{name}", text, name) for name, text in zip(names, texts, strict=True)]
    pages.append(page(f"{B}/abs", f"abs\n{STORY}", "abs"))  # of another host: a duplicate
    pages.append(page(f"{A}/other", f"other\n{STORY}\nAnd this, too.", "other"))
    path = job(tmp_path, *pages)
    found = data_of(path)["aliases"]
    assert found["pages"] == 2
    assert sorted(sorted(name for _, name in group) for group in found["groups"]) == [
        *(["abs", "absolute"], ["np.add", "np.sum"])
    ]
    tree = LexborHTMLParser(write_report(path).read_text(encoding="utf-8"))
    section = tree.css_first("#aliases")
    assert section is not None
    links = [node.attributes["href"] for node in section.css("a")]
    assert sorted(filter(None, links)) == [f"{A}/{name}" for name in sorted(names)]


def test_looking_for_aliases_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(f"{A}/{n}", f"name {n}x\n{STORY}", f"name {n}x") for n in range(6)]
    path = job(tmp_path, *pages)
    assert data_of(path)["aliases"]["pages"] == 5
    monkeypatch.setattr(module, "MAX_CANDIDATES", 3)
    assert data_of(path)["aliases"]["pages"] == 2
    monkeypatch.setattr(module, "MAX_ALIASES", 0)
    assert data_of(path)["aliases"] == {"pages": 2, "groups": []}


def test_damaged_text_is_a_clear_error(tmp_path: Path) -> None:
    path = job(tmp_path, *(page(f"{A}/{n}", f"{n}x\n{STORY}", f"{n}x") for n in range(2)))
    store = SqliteStore(path / "crawl.sqlite")
    store.database.connection.execute("UPDATE pages SET text = x'00'")
    store.close()
    with pytest.raises(StateError, match=r"the text of page \d+ is damaged"):
        data_of(path)
