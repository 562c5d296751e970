"""Jobs of earlier releases can be read and exported; they cannot be crawled on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.store import open_store
from dedup.store.records import Page
from dedup.store.sqlite.schema import OLD_JOBS, READABLE_VERSIONS, SCHEMA_VERSION

_TABLES = ("pages", "duplicates")

# What the tables of each version lack, or have besides, against those of the next one.
_BACK = {
    4: (
        "DROP TABLE sites; DROP TABLE apart; ALTER TABLE pages DROP COLUMN rest;"
        + "".join(f"ALTER TABLE {name} RENAME COLUMN site_version TO template;" for name in _TABLES)
        + "CREATE TABLE templates (host TEXT NOT NULL, number INTEGER NOT NULL,"
        " value TEXT NOT NULL, PRIMARY KEY (host, number)) WITHOUT ROWID;"
        "INSERT INTO templates VALUES ('a.example', 0, '{}');"
    ),
    3: "DROP TABLE url_rules; DROP TABLE url_forms;",
    2: "DROP TABLE templates; DROP TABLE waiting; DROP TABLE early; DROP TABLE encodings;"
    + "".join(
        f"ALTER TABLE {name} DROP COLUMN {column};"
        for name in _TABLES
        for column in ("heading", "own_title", "source", "template")
    ),
}


@pytest.fixture(params=sorted(OLD_JOBS))
def old_job(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A job of an earlier version: a page, and a duplicate of it."""
    with open_store(tmp_path) as store:
        page = Page("a", "A text.", url="http://a.example/", heading="A", source="box", body=b"<p>")
        number = store.add(page, {"text": b"1"})
        copy = Document("b", "A text.", url="http://a.example/b")
        store.add_duplicate(copy, Match(number, "text", resemblance=1.0))
        path = store.path
    connection = sqlite3.connect(path)
    for version in range(SCHEMA_VERSION - 1, request.param - 1, -1):
        connection.executescript(_BACK[version])
    connection.execute(f"PRAGMA user_version = {request.param}")
    connection.close()
    return path


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


def test_every_earlier_version_that_can_be_read_is_made_here() -> None:
    assert {*OLD_JOBS, SCHEMA_VERSION} == {*READABLE_VERSIONS}
    assert {*_BACK} == {*OLD_JOBS}


def test_pages_of_an_old_job_are_read(old_job: Path) -> None:
    is_oldest = version_of(old_job) == min(OLD_JOBS)
    with open_store(old_job, read_only=True) as store:
        page = store.page(1)
        assert (page.id, page.text, page.body, page.site_version) == ("a", "A text.", b"<p>", None)
        assert (page.heading, page.source) == (("", "given") if is_oldest else ("A", "box"))
        assert store.document(1).rest is None
        assert [each["url"] for each in store.pages()] == ["http://a.example/"]
        assert [store.count(name) for name in ("pages", "duplicates")] == [1, 1]


def test_an_old_job_knows_nothing_of_sites(old_job: Path) -> None:
    with open_store(old_job, read_only=True) as store:
        assert store.learned.hosts() == []
        assert store.learned.site("a.example") is None
        assert list(store.explain.all_apart()) == []
        assert store.url_knowledge.all_rules() == []
        assert store.learned.count_waiting() == {}


def test_an_old_job_is_not_crawled_on_and_stays_as_it_is(old_job: Path) -> None:
    before = version_of(old_job)
    with pytest.raises(StateError, match="made by an earlier release, which read other texts"):
        open_store(old_job)
    assert version_of(old_job) == before
    with open_store(old_job, read_only=True) as store:
        assert store.page(1).text == "A text."
