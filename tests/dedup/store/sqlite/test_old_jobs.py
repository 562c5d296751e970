"""Jobs of earlier schema versions can be read and exported; they cannot be crawled on."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.explain.fate import find_fate
from dedup.store import open_store
from dedup.store.records import DUPLICATE_LINK_END, TRAP_RANK, Page
from dedup.store.sqlite.schema import (
    ADDED_TABLES,
    FORMER_TABLES,
    OLD_JOBS,
    SCHEMA,
    SCHEMA_VERSION,
    WHOLE_SCHEMA,
)
from dedup.urls import url_key

_TABLES = ("pages", "duplicates")

# What the tables of each version lack, or have besides, against those of the next one.
_BACK = {
    4: (
        "DROP TABLE sites; DROP TABLE apart; ALTER TABLE pages DROP COLUMN rest;"
        + "".join(f"ALTER TABLE {name} RENAME COLUMN site_version TO template;" for name in _TABLES)
        + "CREATE TABLE templates (host TEXT NOT NULL, number INTEGER NOT NULL,"
        " value TEXT NOT NULL, PRIMARY KEY (host, number)) WITHOUT ROWID;"
        "INSERT INTO templates VALUES ('a.example', 0, '{}');" + FORMER_TABLES
    ),
    3: "DROP TABLE url_rules; DROP TABLE url_forms;",
    2: "DROP TABLE templates; DROP TABLE waiting; DROP TABLE early; DROP TABLE encodings;"
    + "".join(
        f"ALTER TABLE {name} DROP COLUMN {column};"
        for name in _TABLES
        for column in ("heading", "own_title", "source", "template")
    ),
}


def test_the_tables_of_a_version_stay_as_they_are() -> None:
    """Opening compares them, comments included: another text would refuse the jobs there are."""
    digest = sha256(" ".join(SCHEMA.split()).encode()).hexdigest()
    assert (SCHEMA_VERSION, digest[:16]) == (5, "a7010037af8c6e33")
    added = sha256(" ".join(WHOLE_SCHEMA.removeprefix(SCHEMA).split()).encode()).hexdigest()
    assert added[:16] == "4b9f12f31db57b99"


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
    assert {*OLD_JOBS, SCHEMA_VERSION} == {2, 3, 4, 5}
    assert {*_BACK} == {*OLD_JOBS}


def test_pages_of_an_old_job_are_read(old_job: Path) -> None:
    is_oldest = version_of(old_job) == min(OLD_JOBS)
    with open_store(old_job, read_only=True) as store:
        page = store.page(1)
        assert (page.id, page.text, page.body, page.site_version) == ("a", "A text.", b"<p>", None)
        assert (page.heading, page.source) == (("", "given") if is_oldest else ("A", "box"))
        assert store.document(1).rest is None
        assert [each["url"] for each in store.exports.pages()] == ["http://a.example/"]
        assert [store.exports.count(name) for name in ("pages", "duplicates")] == [1, 1]


def test_an_old_job_knows_nothing_of_sites(old_job: Path) -> None:
    with open_store(old_job, read_only=True) as store:
        assert store.learned.hosts() == []
        assert store.learned.site("a.example") is None
        assert list(store.explain.all_apart()) == []
        assert store.learned.count_waiting() == {}
        assert [each[2] for each in store.exports.declared()] == [""]


def test_an_old_job_is_not_crawled_on_and_stays_as_it_is(old_job: Path) -> None:
    before = version_of(old_job)
    with pytest.raises(
        StateError, match="made by an earlier release, which extracted texts differently"
    ):
        open_store(old_job)
    assert version_of(old_job) == before
    with open_store(old_job, read_only=True) as store:
        assert store.page(1).text == "A text."


@pytest.mark.parametrize("missing", [[*ADDED_TABLES], [*ADDED_TABLES][:1]])
def test_job_without_the_tables_that_were_added_is_read_and_goes_on(
    missing: list[str], tmp_path: Path
) -> None:
    declared = '[["meta","robots","noai"]]'
    with open_store(tmp_path) as store:
        store.add(Page("a", "A text.", url="http://a.example/", preferences=declared), {})
        store.learned.preferences.note_host("http://a.example", "robots.txt", declared)
        path = store.path
    connection = sqlite3.connect(path)
    connection.executescript("".join(f"DROP TABLE {name};" for name in missing))
    connection.close()
    is_known = "host_preferences" not in missing
    before = path.read_bytes()
    with open_store(tmp_path, read_only=True) as store:
        assert [each[2] for each in store.exports.declared()] == [""]
        assert len(store.learned.preferences.of_host("http://a.example")) == is_known
    assert path.read_bytes() == before
    with open_store(tmp_path) as store:
        store.add(Page("b", "B text.", url="http://a.example/b", preferences=declared), {})
    with open_store(tmp_path, read_only=True) as store:
        assert [each[2] for each in store.exports.declared()] == ["", declared]


def test_job_with_learned_url_rules_resumes(tmp_path: Path) -> None:
    left, late, trap = ("http://a.example/" + name for name in ("left?ref=1", "late?ref=1", "trap"))
    ranks = {late: DUPLICATE_LINK_END + 1, left: DUPLICATE_LINK_END + 1, trap: TRAP_RANK}
    with open_store(tmp_path) as store:
        for url, rank in ranks.items():
            store.urls.queue(url_key(url), url, 1, slot="a.example", rank=rank)
        store.add_skipped(left, "learned_rule", detail="drop:ref on a.example", is_fetched=False)
        store.urls.finish([(url_key(left), left)])
        path = store.path
    connection = sqlite3.connect(path)
    connection.executescript(FORMER_TABLES)
    connection.execute("INSERT INTO url_rules VALUES (1, 'a.example', 'drop:ref', '{}')")
    connection.commit()
    connection.close()
    with open_store(tmp_path) as store:
        assert store.urls.queue_found([url_key(late)], with_skipped=True) == {}
        assert find_fate(store, late).waits_for == ""
        assert find_fate(store, left).reason == "learned_rule"
        assert store.urls.queue_failed() == {}
        assert store.urls.queue_failed(["learned_rule"]) == {"learned_rule": 1}
        queued = store.urls.first_queued("a.example", 9)
        assert [row.url for row in queued] == [left, late, trap]


def test_a_part_of_the_tables_of_learned_rules_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        path = store.path
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIEW url_forms AS SELECT 1")
    connection.close()
    with pytest.raises(StateError, match="not a crawl store's"):
        open_store(tmp_path)
