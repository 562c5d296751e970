"""Changes as Atom and Markdown, and the command that writes them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dedup.changes import Change
from dedup.changes.feeds import atom, markdown
from dedup.cli import main
from dedup.store import Page, open_store

_ATOM = "{http://www.w3.org/2005/Atom}"
_CHANGES = [
    Change("http://a/?x=1&y=<2>", "changed", 1e9, None, 0.5, ["*Now* & \x00"], ["<b>Then</b>"]),
    Change("http://a/old", "moved", 1e9, moved_to="http://a/new"),
    Change("a", "failed", 1e9, note="host answered http_404 for 95% of its pages"),
]


def test_an_atom_feed_has_what_rfc_4287_asks_for() -> None:
    feed = ElementTree.fromstring("\n".join(atom(_CHANGES, "job", 1e9)))
    assert feed.tag == f"{_ATOM}feed"
    for node in (feed, *feed.findall(f"{_ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(node.findall(_ATOM + name)) == 1
    assert feed.find(f"{_ATOM}author/{_ATOM}name") is not None
    ids = [entry.findtext(f"{_ATOM}id") for entry in feed.iter(f"{_ATOM}entry")]
    assert len(set(ids)) == 3
    links = [each.get("href") for each in feed.iter(f"{_ATOM}link")]
    assert links == ["http://a/?x=1&y=<2>", "http://a/new"]
    assert list(atom(_CHANGES, "job", 2e9))[6:] == list(atom(_CHANGES, "job", 1e9))[6:]


@pytest.mark.parametrize("name", ["c.xlsx", "c.warc", "c.jsonl.zip", "c"])
def test_a_format_that_is_not_written_is_refused_with_those_that_are(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["changes", str(tmp_path), "-o", str(tmp_path / name)]) == 2
    assert "-o must end in .jsonl, .csv, .md or .atom, got" in capsys.readouterr().err


def test_markdown_shows_texts_as_they_are() -> None:
    lines = list(markdown(_CHANGES, "job", 0.0))
    assert lines[0] == "# Changes of job since 1970-01-01T00:00:00.000Z"
    assert r"    - + \*Now\* & " + "\N{REPLACEMENT CHARACTER}" in lines  # no terminal obeys it
    assert r"    - - \<b\>Then\</b\>" in lines
    assert "- **moved** <http://a/old>" in lines


@pytest.fixture
def job(tmp_path: Path) -> Path:
    with open_store(tmp_path / "crawl.sqlite") as store:
        number = store.add(Page(id="", text="Then.", url="http://a/", fetched_at=1e9), {})
        store.refreshes.begin()
        new = Page(id="", text="Now.", url="http://a/", fetched_at=9e9)
        store.refreshes.replace_page(number, new, {})
        store.refreshes.note_visit("http://a/", "changed")
        store.set_meta("finished", "1.0")
    return tmp_path


def test_the_command_writes_each_format(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["changes", str(job)]) == 0
    assert "http://a/  + Now. - Then." in capsys.readouterr().out
    assert main(["changes", str(job), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["url"], row["change"], row["came"]) == ("http://a/", "changed", ["Now."])
    for name in ("c.jsonl", "c.csv", "c.md", "c.atom"):
        assert main(["changes", str(job), "-o", str(job / name)]) == 0
        assert f"1 changed in {job / name}" in capsys.readouterr().err.replace("\n", "")
        assert main(["changes", str(job), "-o", str(job / name)]) == 2
    assert json.loads((job / "c.jsonl").read_text()) == row
    with (job / "c.csv").open(newline="") as lines:
        assert [each["url"] for each in csv.DictReader(lines)] == ["http://a/"]


def test_what_of_a_template_came_and_went_is_in_each_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path / "crawl.sqlite") as store:
        texts = {f"http://a/{each}": f"The text of {each}." for each in "abcde"}
        numbers = {
            url: store.add(Page(id="", text=f"Old menu\n{text}", url=url, fetched_at=1e9), {})
            for url, text in texts.items()
        }
        store.refreshes.begin()
        for url, text in texts.items():
            new = Page(id="", text=f"New menu\n{text}", url=url, fetched_at=9e9)
            store.refreshes.replace_page(numbers[url], new, {})
        store.set_meta("finished", "1.0")
    for name in ("c.jsonl", "c.csv", "c.md", "c.atom"):
        assert main(["changes", str(tmp_path), "-o", str(tmp_path / name)]) == 0
        found = (tmp_path / name).read_text()
        assert all(each in found for each in ("New menu", "Old menu", "5 pages")), name
    capsys.readouterr()
    assert main(["changes", str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["change"], row["came"], row["went"]) == ("template", ["New menu"], ["Old menu"])
    assert main(["changes", str(tmp_path)]) == 0
    assert "5 pages share have changed + New menu - Old menu" in capsys.readouterr().out


def test_since_is_a_time_or_a_refresh(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for since in ("1", "2001-09-10", "2001-09-10T00:00:00Z"):
        assert main(["changes", str(job), "--since", since]) == 0
        assert "changed" in capsys.readouterr().out
    assert main(["changes", str(job), "--since", "2999-01-01"]) == 0
    assert capsys.readouterr().out == "no change\n"
    for wrong in ("7", "soon"):
        assert main(["changes", str(job), "--since", wrong]) == 2
        assert "or the number of a refresh (1)" in capsys.readouterr().err
