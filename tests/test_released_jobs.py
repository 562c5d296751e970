"""The job of each release opens, with its verdicts, and takes further pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.store import open_store
from tests.released_job import FOLDER, unpack

KEPT = sorted(FOLDER.glob("*.sqlite.zst"))


@pytest.fixture(params=KEPT, ids=lambda path: path.name)
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    unpack(request.param, tmp_path / "job")
    return tmp_path / "job"


def test_there_is_a_job_for_each_surface() -> None:
    assert KEPT
    names = {path.name.removesuffix(".sqlite.zst") for path in KEPT}
    assert names == {path.stem for path in FOLDER.glob("*.txt")}


def test_its_verdicts_stay(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(job, read_only=True) as store:
        counts = [store.exports.count(name) for name in ("pages", "duplicates")]
        copy = next(iter(store.exports.duplicates()))
    assert counts == [39, 25]
    assert main(["why", str(job), copy["url"]]) == 0
    assert copy["duplicate_of_url"] in capsys.readouterr().out.replace("\n", "")


def test_pages_are_added_by_the_same_rules(job: Path) -> None:
    with open_store(job) as store:
        page = next(row for row in store.exports.pages() if len(row["text"]) > 500)
        deduplicator = Deduplicator(store=store)
        again = deduplicator.process(Document("again", page["text"], url="http://b.example/"))
        new = deduplicator.process(Document("new", "A text of its own.", url="http://b.example/n"))
    assert again.match is not None
    assert new.match is None
    with open_store(job, read_only=True) as store:
        assert store.exports.count("pages") == 40
