"""Pages that the second look kept, told by `dedup why` and `dedup pair`, and in a replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.explain.fate import find_fate
from dedup.explain.replay import Replay
from dedup.sites.site import rest_by_itself
from dedup.store import Page, SqliteStore
from tests.dedup.sites.conftest import parsed, prose

SITE = "http://site.example"
STORY = prose("a story", 200)
CRUMBS = {1: "Books of the north and of the sea", 2: "Papers from a garden in the south"}


def page(number: int, *, has_body: bool = True) -> Page:
    """Two pages of one text and one name, told apart by what stands above it."""
    body = f"<nav>{CRUMBS[number]}</nav><article><p>{STORY}</p></article>"
    return Page(
        id="",
        url=f"{SITE}/{number}",
        title="A story",
        heading="A story",
        text=prose("short", 20),
        body=body.encode() if has_body else None,
        rest=rest_by_itself(parsed(f"<nav>{CRUMBS[number]}</nav><p>{prose('short', 20)}</p>")),
    )


@pytest.fixture(params=[True, False], ids=["bodies", "no bodies"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for number in (1, 2):
        assert not deduplicator.process(page(number, has_body=request.param)).is_duplicate
    store.note_apart(2, 1, [CRUMBS[2]])
    store.close()
    return tmp_path


def test_why_names_the_page_that_it_resembles_and_the_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(folder), f"{SITE}/2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"its text resembles that of {SITE}/1 (page 1)" in said
    assert f"the second look kept it for its own lines: “{CRUMBS[2]}”" in said
    assert "→ duplicate" not in said
    assert "but they are different pages by what surrounds the texts" in said
    assert "The crawl decided otherwise" not in said


def test_json_has_the_figures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(folder), f"{SITE}/2", "--json"]) == 0
    account = json.loads(capsys.readouterr().out)
    assert account["fates"][0]["apart"]["lines"] == [CRUMBS[2]]
    (candidate,) = next(each for each in account["stages"] if each["stage"] == "text")["candidates"]
    assert candidate["verdict"]["look"]["only_page"] > 0
    assert not candidate["verdict"]["is_duplicate"]


def test_pair_judges_the_later_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pair", str(folder), f"{SITE}/2", f"{SITE}/1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "different pages by what surrounds the texts: of rare word sequences," in said
    assert "not a duplicate." in said


def test_a_replay_follows_the_record_where_more_is_known_now(folder: Path) -> None:
    store = SqliteStore(folder / "crawl.sqlite")
    store.database.connection.execute("UPDATE pages SET rest = NULL")
    store.close()
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    reports = Replay(store).explain(store.page(2), before=2)
    looks = [each.verdict.look for report in reports for each in report.candidates]
    assert all(report.match is None for report in reports)
    assert all(look is not None and look.is_on_record for look in looks)
    assert looks
    assert find_fate(store, f"{SITE}/1").apart is None
    store.close()


def test_dropped_page_cannot_repeat_the_second_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for name in ("a", "b"):
        text = STORY.upper() if name == "b" else STORY
        deduplicator.process(Page(id="", url=f"{SITE}/{name}", title="A story", text=text))
    store.close()
    assert main(["why", str(tmp_path), f"{SITE}/b"]) == 0
    assert "It cannot be repeated here" in " ".join(capsys.readouterr().out.split())
    assert main(["pair", str(tmp_path), f"{SITE}/a", f"{SITE}/b"]) == 0
    assert "is not possible here" in " ".join(capsys.readouterr().out.split())
