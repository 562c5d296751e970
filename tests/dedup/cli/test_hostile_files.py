"""JSON Lines, CSV, Parquet and compressed files that are made to harm."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dedup import files
from dedup.cli import main
from dedup.collection import Broken, Columns, Source, parquet, read_documents, read_rows
from dedup.collection.formats import format_of
from tests.fuzz.running import SEEDS

pytestmark = pytest.mark.slow

SOUND = [b'{"id": 1, "text": "first"}', b'{"id": 3, "text": "third"}']


def read(path: Path, data: bytes) -> tuple[list[str], list[str]]:
    """The texts of a file, and why the others are broken."""
    path.write_bytes(data)
    found = list(read_documents(path))
    texts = [each[1].text for each in found if not isinstance(each, Broken)]
    return texts, [each.reason for each in found if isinstance(each, Broken)]


# The second of three lines, and why it is broken.
LINES = {
    "deep": (b'{"text": "x", "d": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    "digits": (
        b'{"text": "x", "n": ' + b"9" * 100_000 + b"}",
        "has too many digits",
    ),
    "NUL": (b'{"text": "a\0b"}', "invalid JSON: Invalid control character"),
    "UTF-16": (b"\xff\xfe{\0}\0", "it is UTF-16; --encoding utf-16 reads it"),
    "keys": (json.dumps({"k" * 100_000: 1}).encode(), "expected a field `text`"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_hostile_line_is_broken(tmp_path: Path, name: str) -> None:
    line, why = LINES[name]
    texts, broken = read(tmp_path / "x.jsonl", b"\n".join([SOUND[0], line, SOUND[1]]))
    assert texts == ["first", "third"]
    assert len(broken) == 1
    assert why in broken[0]
    assert len(broken[0]) < 1_000


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (rb'{"text": "a\u0000b"}', "a\0b"),
        (rb'{"text": "\ud800"}', "\ud800"),
        (rb'{"text": "x", "\ud801": {"\ud802": "\ud803"}}', "x"),
        (b'{"text": "x", "n": NaN, "m": -Infinity, "e": 1e999}', "x"),
        (b'{"text": "x", "text": "y"}', "y"),  # as Python reads it: the last of equal keys
    ],
)
def test_an_odd_line_is_read_and_written_as_it_came(tmp_path: Path, line: bytes, text: str) -> None:
    source = tmp_path / "x.jsonl"
    assert read(source, line + b"\n") == ([text], [])
    for ending in ("jsonl", "csv", "parquet"):
        assert main(["run", str(source), "-o", str(tmp_path / f"out.{ending}")]) == 0
    assert (tmp_path / "out.jsonl").read_bytes() == line + b"\n"


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_line_without_an_end_takes_bounded_memory(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("json_rows", "delimited"):
        monkeypatch.setattr(f"dedup.collection.{module}.MAX_ROW_BYTES", 2**20)
    path = tmp_path / f"x.{ending}"
    start = b"id,text\r\n" if ending == "csv" else b""
    end = b"\r\n2,sound\r\n" if ending == "csv" else b'\n{"text": "sound"}\n'
    path.write_bytes(start + b"a" * (2**26 + 7) + end)
    source = Source(path, "x", format_of(path), 0)
    tracemalloc.start()
    found = list(read_rows(source, Columns()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    first, second = found
    assert isinstance(first, Broken)
    assert "longer than 1 MiB" in first.reason
    assert second.place == ("line 3" if ending == "csv" else "line 2")
    assert peak < 2**24


def test_a_csv_file_of_many_columns_is_read(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(50_000))
    assert read(tmp_path / "x.csv", f"{names},text\n{',' * 50_000}x\n".encode()) == (["x"], [])


def test_nul_in_csv_is_a_character(tmp_path: Path) -> None:
    assert read(tmp_path / "x.csv", b"id,text\n\0,a\0b\n") == (["a\0b"], [])


BOMB = SOUND[0] + b"\n" + bytes(2**26) + b"\n" + SOUND[1]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lzma.compress])
def test_a_bomb_is_refused_in_a_sentence(
    tmp_path: Path,
    compress: Callable[[bytes], bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(files, "_UNPACKED_FREE_BYTES", 2**22)
    path, out = tmp_path / "x.jsonl.gz", tmp_path / "out.jsonl"
    path.write_bytes(compress(BOMB))
    assert main(["run", str(path), "-o", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"dedup: {path}: the compressed file holds more than 200 times its size;"
        " if it is meant to, unpack it first\n"
    )
    assert not out.exists()


def table(rows: list[dict[str, Any]], **options: Any) -> bytes:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet as writing

    file = io.BytesIO()
    writing.write_table(arrow.Table.from_pylist(rows), file, **options)
    return file.getvalue()


def test_invalid_utf8_in_parquet_is_a_broken_row(tmp_path: Path) -> None:
    rows = [{"text": "first"}, {"text": "XXXX"}, {"text": "third"}]
    data = table(rows, compression="none", use_dictionary=False, write_statistics=False)
    texts, broken = read(tmp_path / "x.parquet", data.replace(b"XXXX", b"\xff\xfe\xfd\xfc"))
    assert texts == ["first", "third"]
    assert broken == ["a text in it is not UTF-8 (invalid start byte)"]


def test_dictionary_encoded_value_is_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand rows of the same 64 KiB, in a file of some kilobytes."""
    data = table([{"text": "w " * 2**15}] * 1_000, dictionary_pagesize_limit=2**30)
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 2**18)
    monkeypatch.setattr(files, "_UNPACKED_FREE_BYTES", 2**21)
    path = tmp_path / "x.parquet"
    path.write_bytes(data)
    sizes: list[int] = []
    rows = read_rows(Source(path, str(path), "parquet", len(data)), Columns())
    with pytest.raises(OSError, match=r"x\.parquet: the compressed file holds more than 200"):
        sizes.extend(row.batch.nbytes for row in rows)  # type: ignore[union-attr]
    assert len(sizes) > 4
    assert max(sizes) < 2**19


def test_too_long_parquet_row_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_ROW_BYTES", 2**20)
    data = table([{"text": "first"}, {"text": "x" * 2**21}, {"text": "third"}])
    assert read(tmp_path / "x.parquet", data) == (
        ["first", "third"],
        ["it is longer than 1 MiB"],
    )


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet as writing

    path = tmp_path / "x.parquet"
    writing.write_table(arrow.table([["a"], ["b"]], names=["text", "text"]), path)
    with pytest.raises(ValueError, match="column names must be unique"):
        list(read_documents(path))


def test_parquet_with_flipped_bits_is_read_or_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": number, "text": f"words of {number}", "tags": ["a"]} for number in range(300)]
    whole = table(rows, compression="none")
    path = tmp_path / "x.parquet"
    for seed in range(100):
        chosen = random.Random(seed)
        data = bytearray(whole)
        for _ in range(chosen.choice((1, 1, 4))):
            data[-chosen.randrange(1, len(data) if seed % 2 else 1_000)] ^= 1 << chosen.randrange(8)
        try:
            read(path, bytes(data))
        except (OSError, ValueError) as error:
            assert str(path) in str(error), seed  # noqa: PT017 -- what it says is tested


def test_statistics_of_parquet_that_are_damaged_end_no_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """pyarrow ends the process that asks for what a row group says of its columns."""
    source = tmp_path / "in.parquet"
    source.write_bytes((SEEDS / "parquet" / "find-histogram").read_bytes())
    assert main(["run", str(source), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "in.parquet: the file is damaged" in capsys.readouterr().err
