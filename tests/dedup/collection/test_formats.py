"""The table of formats: a further row is a format of collections and of exports."""

import sqlite3
from pathlib import Path

import pytest

from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.collection.formats import FORMATS, Format, format_to_write
from dedup.collection.rows import Row, Values
from dedup.collection.writing import Output
from dedup.export import FAILED, write_table
from dedup.store import SqliteStore


class SqliteWriter:
    """A toy: ids and texts in a table."""

    def __init__(self, output: Output) -> None:
        self._database = sqlite3.connect(output.path)
        self._database.execute("CREATE TABLE found (id, text)")

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        assert marks is None
        values = row.values(document)
        self._database.execute("INSERT INTO found VALUES (:id, :text)", values)

    def finish(self) -> None:
        self._database.commit()

    def close(self) -> None:
        self._database.close()


def read(path: Path) -> list[tuple[object, str]]:
    database = sqlite3.connect(path)
    try:
        return database.execute("SELECT * FROM found").fetchall()
    finally:
        database.close()


def test_a_further_row_of_the_table_is_a_format_of_both_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "sqlite", Format(SqliteWriter, (".db",)))
    source, unique, pages = (tmp_path / name for name in ("in.csv", "unique.db", "pages.db"))
    source.write_text("id,text\r\na,One text.\r\nb,ONE text.\r\nc,Another.\r\n")
    assert main(["run", str(source), "-o", str(unique)]) == 0
    assert read(unique) == [("a", "One text."), ("c", "Another.")]
    with SqliteStore(tmp_path / "crawl.sqlite") as store:
        deduplicator = Deduplicator(store=store)
        for name, text in read(unique):
            deduplicator.process(Document(id=str(name), text=text))
    assert main(["export", str(tmp_path), "-o", str(pages)]) == 0
    assert read(pages) == read(unique)


@pytest.mark.parametrize("name", ["x.wet", "x.jsonl.xz", "x.parquet.gz", "x.warc.zst", "x", "x.gz"])
def test_read_only_format_is_refused_as_output(name: str) -> None:
    with pytest.raises(ValueError, match=r"extension must be \.jsonl or .* or \.warc\.gz, got 'x"):
        format_to_write(Path(name))


def test_a_table_in_a_web_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a web archive has no columns"):
        write_table(tmp_path / "x.warc", [], FAILED)
    assert list(tmp_path.iterdir()) == []
