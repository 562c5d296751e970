"""Stores that come from a stranger: data, whatever is in them."""

import sqlite3
import stat

import pytest
import zstandard

from dedup import Document, StateError
from dedup.cli import main
from dedup.store import SqliteStore
from dedup.store.sqlite import MAX_UNPACKED_BYTES
from dedup.store.sqlite.schema import OLD_JOBS


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "job" / "crawl.sqlite"
    store = SqliteStore(path)
    store.add(Document(id="1", text="Some text.", url="http://a.example/"), {})
    store.close()
    return path


def change(path, *statements):
    connection = sqlite3.connect(path)
    for statement, *parameters in statements:
        connection.execute(statement, parameters)
    connection.commit()
    connection.close()


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


PROGRAMS = {
    "view": [("ALTER TABLE skipped RENAME TO s",), (f"CREATE VIEW skipped AS {ENDLESS}",)],
    "trigger": [("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM pages; END",)],
    "virtual table": [("CREATE VIRTUAL TABLE more USING fts5(text)",)],
    "computed column": [("ALTER TABLE meta ADD COLUMN more AS (zeroblob(1000000000))",)],
}
OTHER_TABLES = {
    "table": [("CREATE TABLE more (a)",)],
    "index": [("DROP INDEX urls_queued",)],
}


@pytest.mark.parametrize(
    "statements", [*PROGRAMS.values(), *OTHER_TABLES.values()], ids=[*PROGRAMS, *OTHER_TABLES]
)
def test_foreign_tables_are_refused(path, statements):
    change(path, *statements)
    for read_only in (True, False):
        with pytest.raises(StateError, match="not a crawl store's"):
            SqliteStore(path, read_only=read_only)


@pytest.mark.parametrize("statements", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("version", OLD_JOBS)
def test_running_job_of_earlier_version_is_refused(path, statements, version):
    change(path, *statements, (f"PRAGMA user_version = {version}",))
    with pytest.raises(StateError, match="not a crawl store's"):
        SqliteStore(path, read_only=True)
    with pytest.raises(StateError, match="earlier release"):
        SqliteStore(path)


VALUES = {
    "bytes for text": ("UPDATE pages SET title = x'00'",),
    "text for a number": ("UPDATE pages SET size_bytes = 'many'",),
    "no time": ("UPDATE pages SET fetched_at = 9e999",),
    "no whole number": ("INSERT INTO meta VALUES ('refresh', '1.5')",),
    "no JSON": ("INSERT INTO meta VALUES ('settings', '{')",),
    "another shape": ("UPDATE meta SET value = '{\"a\": 1}' WHERE name LIKE 'schemes of %'",),
    "no page": ("UPDATE signatures SET page = 7",),
}


@pytest.mark.parametrize("statement", VALUES.values(), ids=VALUES)
def test_invalid_values_of_columns_are_refused(path, statement, capsys):
    store = SqliteStore(path)
    store.add(Document(id="2", text="More text."), {"simhash": b"12345678"})
    store.check_schemes({"simhash": {"bits": 64}})
    store.close()
    change(path, statement)
    with pytest.raises(StateError, match="holds invalid values"):
        SqliteStore(path)
    assert main(["why", str(path), "http://a.example/"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_unknown_source_is_shown(path, capsys):
    change(path, ("UPDATE pages SET source = 'elsewhere'",))
    assert main(["why", str(path), "http://a.example/"]) == 0
    assert "text of 'elsewhere'" in capsys.readouterr().out


@pytest.mark.parametrize("version", OLD_JOBS)
def test_error_in_job_of_earlier_version_is_reported(path, version, capsys):
    change(path, VALUES["bytes for text"], (f"PRAGMA user_version = {version}",))
    assert main(["pair", str(path), "http://a.example/", "http://a.example/"]) == 2
    assert "the table pages holds invalid values" in capsys.readouterr().err


def test_what_was_analysed_by_sqlite_stays_usable(path):
    change(path, ("ANALYZE",))
    SqliteStore(path, read_only=True).close()


def test_a_bomb_is_refused_before_it_is_unpacked(path):
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(MAX_UNPACKED_BYTES + 1))
    assert len(bomb) < 100_000
    hidden = zstandard.ZstdCompressor(write_content_size=False).compress(b"no size told")
    for packed in (bomb, hidden):
        change(path, ("UPDATE pages SET text = ?, body = ?", packed, packed))
        store = SqliteStore(path, read_only=True)
        for read in (store.document, store.page):
            with pytest.raises(StateError, match="the text of page 1 is damaged"):
                read(1)
        store.close()


def test_files_of_a_job_are_for_its_owner_alone(tmp_path):
    path = tmp_path / "jobs" / "job" / "crawl.sqlite"
    store = SqliteStore(path)
    store.add(Document(id="1", text="Some text."), {})
    store.database.commit()
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert set(modes) >= {"crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite.lock"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()
