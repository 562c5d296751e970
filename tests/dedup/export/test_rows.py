"""Exports with the fields that are asked for."""

import json
from pathlib import Path

import pytest

from dedup.cli import main
from dedup.errors import DamageError
from dedup.export import page_rows
from dedup.fields.page_source import PageSource, Reduced, reduced
from dedup.fields.registry import FIELDS, checked
from dedup.store import Page, SqliteStore

HTML = """<!doctype html><html lang="en"><head><title>Tea | Museum</title>
<meta property="article:published_time" content="2019-11-19T09:00:00+01:00">
<meta name="author" content="Ann Lee"><meta property="og:image" content="/tins.png"></head><body>
<nav><a href="/">Home</a></nav><main><h1>Tea</h1><p>By Ann Lee</p>
<p>{words} See <a href="tins">the tins</a>.</p><h2 id="a">Tins</h2>
<table><tr><th>tin</th><th>year</th></tr><tr><td>A</td><td>1911</td></tr></table></main></body></html>
"""
WORDS = " ".join(f"The museum keeps the tin of {year} in the cellar." for year in range(1900, 1920))
TEXT = f"Tea\nBy Ann Lee\n{WORDS} See the tins.\nTins\ntin\tyear\nA\t1911"

EXPECTED = {
    "published": "2019-11-19T09:00:00+01:00",
    "author": "Ann Lee",
    "image": "http://example.org/tins.png",
    "language": "en",
    "headings": [
        {"level": 1, "text": "Tea", "anchor": None},
        {"level": 2, "text": "Tins", "anchor": "a"},
    ],
    "links": [{"url": "http://example.org/a/tins", "text": "the tins"}],
    "tables": [[["tin", "year"], ["A", "1911"]]],
    "fetched_at": "2023-11-14T22:13:20.250Z",
    "modified": None,
}


def page(*, text: str = TEXT) -> Page:
    return Page(
        id="",
        text=text,
        url="http://example.org/a/tea",
        title="Tea | Museum",
        body=HTML.format(words=WORDS).encode(),
        language="en",
        status=200,
        content_type="text/html",
        encoding="utf-8",
        fetched_at=1_700_000_000.25,
    )


def stored(folder: Path, *, keeps_bodies: bool, is_final: bool = True, text: str = TEXT) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "crawl.sqlite"
    with SqliteStore(path, keep_bodies=keeps_bodies) as store:
        found = page(text=text)
        if not keeps_bodies:
            kept = reduced(found, is_final=is_final)
            assert kept is not None
            found.take_reduced(kept.to_bytes())
        store.add(found, {})
        if text != TEXT:
            store.change_text(1, page())
    return path


def rows(path: Path, *names: str) -> list[dict[str, object]]:
    with SqliteStore(path, read_only=True) as store:
        return list(page_rows(store, names))


def test_fields_come_in_the_order_in_which_they_are_asked_for(tmp_path: Path) -> None:
    (row,) = rows(stored(tmp_path, keeps_bodies=True), *EXPECTED)
    assert list(row.items()) == list(EXPECTED.items())


@pytest.mark.parametrize(("is_final", "text"), [(True, TEXT), (False, "Home\nTea\nTins")])
def test_without_bodies_all_fields_are_the_same(tmp_path: Path, is_final: bool, text: str) -> None:
    bodies = rows(stored(tmp_path, keeps_bodies=True, text=text), *FIELDS)
    path = stored(tmp_path / "other", keeps_bodies=False, is_final=is_final, text=text)
    assert rows(path, *FIELDS) == bodies
    assert "# Tea" in str(bodies[0]["markdown"])


def test_what_is_kept_of_a_page_is_never_taken_for_its_body(tmp_path: Path) -> None:
    path = stored(tmp_path, keeps_bodies=False)
    with SqliteStore(path, read_only=True) as store:
        assert (store.body(1), store.page(1).body) == (None, None)
        assert list(store.report.stored_bodies()) == []
        assert store.exports.reduced(1) is not None
    with SqliteStore(stored(tmp_path / "x", keeps_bodies=True), read_only=True) as store:
        assert store.exports.reduced(1) is None
        assert [number for _, number, _ in store.report.stored_bodies()] == [1]


def test_damage_of_what_is_kept_is_told(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "crawl.sqlite", keep_bodies=False) as store:
        found = page()
        found.take_reduced(b"[1]")
        store.add(found, {})
        assert next(page_rows(store, ["url"]))["url"] == found.url
        with pytest.raises(DamageError, match="of the body of page 1 is damaged"):
            list(page_rows(store, ["author"]))


@pytest.mark.parametrize("data", [b"", b"{}", b'{"declared": {"x": 1}}', b"\xff", b"null"])
def test_only_what_was_kept_is_read_as_such(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Reduced.from_bytes(data)


def test_a_page_without_body_has_the_fields_of_its_text_alone() -> None:
    source = PageSource(Page(id="7", text=TEXT, language="en"))
    found = {name: FIELDS[name].of(source) for name in FIELDS if FIELDS[name].reads != "row"}
    assert {name for name, value in found.items() if value is not None} == {
        "language",
        "rendered",
        "text",
    }


def test_a_field_without_its_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    field = FIELDS["author"]._replace(module="no_such_module", extra="authors")
    monkeypatch.setitem(FIELDS, "author", field)  # type: ignore[arg-type] # it is a dict
    with pytest.raises(ModuleNotFoundError, match=r"author needs .* 'scrapy-dedup\[authors\]'"):
        checked(["url", "author"], of="--fields")


def export(path: Path, *options: str) -> int:
    return main(["export", str(path), *options])


def test_the_command_writes_the_columns(tmp_path: Path) -> None:
    path = stored(tmp_path, keeps_bodies=True)
    output = tmp_path / "p.jsonl"
    assert export(path, "-o", str(output), "--fields", "url, published,url,headings") == 0
    row = json.loads(output.read_text(encoding="utf-8"))
    assert list(row) == ["url", "published", "headings"]
    assert row["headings"] == EXPECTED["headings"]
    table = tmp_path / "p.csv"
    assert export(path, "-o", str(table), "--fields", "headings") == 0
    cell = table.read_text(encoding="utf-8").splitlines()[1]
    assert json.loads(cell[1:-1].replace('""', '"')) == EXPECTED["headings"]


def test_parquet_has_nested_columns_and_timestamps(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = stored(tmp_path, keeps_bodies=True)
    output = tmp_path / "p.parquet"
    assert export(path, "-o", str(output), "--fields", ",".join(EXPECTED)) == 0
    (row,) = parquet.read_table(output).to_pylist()
    fetched = row.pop("fetched_at")
    assert fetched.isoformat(timespec="milliseconds") == "2023-11-14T22:13:20.250+00:00"
    assert row == {name: value for name, value in EXPECTED.items() if name != "fetched_at"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "p.jsonl", "--fields", "url,autor"], "got 'autor'; did you mean author?"),
        (["-o", "p.jsonl", "--fields", ""], "got ''"),
        (["-o", "p.warc", "--fields", "url"], "which go to a web archive"),
        (["-d", "d.jsonl", "--fields", "url"], "which go to no file"),
    ],
)
def test_fields_that_cannot_be_written_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    path = stored(tmp_path, keeps_bodies=True)
    monkeypatch.chdir(tmp_path)
    assert export(path, *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert [each.name for each in tmp_path.glob("[pd].*")] == []
