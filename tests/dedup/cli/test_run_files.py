"""`dedup run`: nothing is lost or overwritten, and bad input is one clear sentence."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from tests.json_lines import read, write

ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "One text."},
    {"id": 2, "text": "ONE  text."},
    {"id": 3, "text": "Another."},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", ROWS)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What is said when a command is refused: one line, no traceback."""
    assert main(["run", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.startswith("dedup: ") or "\ndedup: " in said
    return said.rpartition("dedup: ")[2]


@pytest.mark.parametrize("option", ["-o", "-d", "--broken"])
@pytest.mark.parametrize("way", ["same", "dotted", "symlink", "hardlink"])
def test_input_as_output_is_refused(
    source: Path, option: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = source.read_bytes()
    other = source.with_name("other.jsonl")
    if way == "symlink":
        other.symlink_to(source)
    elif way == "hardlink":
        os.link(source, other)
    path = {"same": str(source), "dotted": f"{source.parent}/./in.jsonl"}.get(way, str(other))
    said = refusal(capsys, source, option, path, "--overwrite")
    assert f"{option} must not be the same file as IN" in said
    assert source.read_bytes() == before


def test_file_compared_against_is_never_replaced(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = write(source.with_name("old.jsonl"), ROWS)
    before = old.read_bytes()
    said = refusal(capsys, source, "--against", old, "-o", old, "--overwrite")
    assert "-o must not be the same file as --against" in said
    assert old.read_bytes() == before


def test_two_outputs_in_one_file_are_refused(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = source.with_name("x.jsonl")
    assert "-o and -d must be two files" in refusal(capsys, source, "-o", path, "-d", path)
    link = source.with_name("link.jsonl")
    link.symlink_to(path)  # dangling
    assert "must be two files" in refusal(capsys, source, "-o", path, "-d", link)
    assert not path.exists()


def test_existing_output_is_kept_without_overwrite(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = source.with_name("x.jsonl")
    path.write_text("mine")
    assert "already exists; --overwrite replaces it" in refusal(capsys, source, "-o", path)
    assert path.read_text() == "mine"
    assert main(["run", str(source), "-o", str(path), "--overwrite"]) == 0
    assert read(path) == [ROWS[0], ROWS[2]]


def test_an_overwritten_link_stays_a_link(source: Path) -> None:
    path, link = source.with_name("x.jsonl"), source.with_name("link.jsonl")
    path.write_text("old")
    link.symlink_to(path)
    assert main(["run", str(source), "-o", str(link), "--overwrite"]) == 0
    assert link.is_symlink()
    assert read(path) == [ROWS[0], ROWS[2]]


def test_a_failed_run_leaves_no_output_and_the_old_one(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, bad = source.with_name("x.jsonl"), source.with_name("y.jsonl")
    path.write_text("old")
    bad.write_text("no JSON\n")
    refusal(capsys, source, bad, "-o", path, "-d", source.with_name("d.jsonl"), "--overwrite")
    assert path.read_text() == "old"
    assert sorted(each.name for each in source.parent.iterdir()) == [
        "in.jsonl",
        "x.jsonl",
        "y.jsonl",
    ]


def test_a_device_is_written_to_and_not_replaced(source: Path) -> None:
    assert main(["run", str(source), "-o", "/dev/null", "-d", "/dev/null"]) == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_sentence(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, source, "-o", "/dev/full")
    assert said == "/dev/full: the disk is full; nothing was written\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of file sizes")
def test_a_full_temporary_folder_names_the_folder(source: Path) -> None:
    """A file may be no larger than 64 kB: what the store writes does not fit."""
    code = (
        "import resource, signal, sys; from dedup.cli import main;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16));"
        "sys.exit(main(['run', sys.argv[1]]))"
    )
    write(source, [{"id": n, "text": os.urandom(3000).hex()} for n in range(600)])
    done = subprocess.run([sys.executable, "-c", code, str(source)], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert "set TMPDIR to use another folder" in done.stderr


def test_broken_rows_go_to_a_file_of_their_own(source: Path) -> None:
    source.write_text('{"id": 1}\n{"text": "x"}\n[1]\n{"text": 5}\n')
    broken = source.with_name("broken.jsonl")
    assert main(["run", str(source), "--broken", str(broken)]) == 0
    found = read(broken)
    assert [row["place"] for row in found] == ["line 1", "line 3", "line 4"]
    assert {row["file"] for row in found} == {str(source)}
    assert found[1] == {
        "file": str(source),
        "place": "line 3",
        "reason": "expected a JSON object, found list",
        "row": "[1]",
    }
    assert found[2]["reason"] == "expected a string in `text`, found int"


# What stands in a file, and what is said of it.
HOPELESS = {
    "prose.jsonl": ("no JSON\nat all\n", "none of 2 rows is valid; the first, line 1"),
    "wide.jsonl": (
        "\ufeff{}".encode("utf-16-le").decode("latin-1"),
        "it is UTF-16; --encoding utf-16 reads it",
    ),
    "half.jsonl": ('{"id": 1, "text":\n', "invalid JSON: Expecting value, at character 18"),
    "other.jsonl": ('{"id": 1, "Text": "x"}\n', "expected a field `text` or `html`"),
    "near.jsonl": ('{"id": 1, "Text": "x"}\n', "the nearest is `Text`"),
    "array.json": (
        '[\n{"text" "x"},\n{"text": 5}\n]\n',
        "none of 2 rows is valid; the first, item 1",
    ),
    "cut.json": ('[{"text": "x', "the array is cut off"),
    "x.csv": ("id,body\n1,x\n", "expected a field `text` or `html`"),
    "twice.csv": ("text,text\n1,x\n", "column names must be unique"),
    "x.warc": ("no archive\n", "expected an archive that begins with WARC/"),
    "x.parquet": ("no Parquet\n", "not a Parquet file"),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_file_without_documents_says_what_was_expected(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, wanted = HOPELESS[name]
    path = tmp_path / name
    path.write_text(content, "latin-1")
    said = refusal(capsys, path, "-o", tmp_path / "out.jsonl")
    assert wanted in said
    assert str(path) in said
    assert not (tmp_path / "out.jsonl").exists()


def test_unknown_column_names_the_nearest(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no row has column `idd`" in refusal(capsys, source, "--id", "idd")
    rows = [{"text": "x"}, {"text": "y", "sku": 1}, {"text": "z"}]
    said = refusal(capsys, write(source.with_name("some.jsonl"), rows), "--id", "sqk")
    assert "no row has column `sqk`; the nearest is `sku` (all: `text`, `sku`)" in said
    table = source.with_name("x.csv")
    table.write_text("ident,text\n1,x\n")
    said = refusal(capsys, table, "--id", "idend")
    assert said == f"{table}: no column `idend`; the nearest is `ident` (all: `ident`, `text`)\n"


def test_a_folder_without_files_says_which_it_looks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert "the folder has no .jsonl" in refusal(capsys, tmp_path)
    assert "no file matches" in refusal(capsys, tmp_path / "*.jsonl")
    assert "file not found" in refusal(capsys, tmp_path / "x.jsonl")


def test_folder_as_output_is_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = source.with_name("folder.jsonl")
    folder.mkdir()
    assert "must be a file, got the folder" in refusal(capsys, source, "-o", folder)


def test_a_file_named_twice_is_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, source, source.parent / "*.jsonl")
    assert "IN must name each file once" in said


def test_ids_keep_their_types(source: Path) -> None:
    rows = [*ROWS, {"id": "1", "text": "one TEXT."}, {"text": "Fifth."}, {"text": "FIFTH."}]
    dropped = source.with_name("d.jsonl")
    assert main(["run", str(write(source, rows)), "-d", str(dropped)]) == 0
    found = [(row["id"], row["duplicate_of"]) for row in read(dropped)]
    assert found == [(2, 1), ("1", 1), (6, 5)]  # a row without a name: its number


def test_a_line_too_long_is_broken_and_the_next_is_read(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("json_rows", "delimited"):
        monkeypatch.setattr(f"dedup.collection.{module}.MAX_ROW_BYTES", 2**20)
    write(source, [{"id": 1, "text": "x" * 2**21}, {"id": 2, "text": "short"}])
    out = source.with_name("out.jsonl")
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert [row["id"] for row in read(out)] == [2]
    assert "line 1: it is longer than 1 MiB" in capsys.readouterr().err
    table = source.with_name("in.csv")
    table.write_text(f"id,text\n1,{'x' * 2**21}\n2,short\n")
    assert main(["run", str(table), "-o", str(out), "--overwrite"]) == 0
    assert [row["id"] for row in read(out)] == ["2"]
    assert "line 2: a cell or line is longer than 1 MiB" in capsys.readouterr().err


def test_repeated_ids_are_reported(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(source)]) == 0
    assert "share an id with another row" not in capsys.readouterr().err
    write(source, [*ROWS, {"id": 3, "text": "Third."}, {"id": "3", "text": "Fourth."}])
    assert main(["run", str(source)]) == 0
    assert "1 rows share an id with another row" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 30])
def test_missing_column_is_reported_once(
    source: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    write(source, [{"id": n, "text": "x"} for n in range(count)])
    assert refusal(capsys, source, "--text", "txt") == (
        f"{source}: none of {count} rows is valid; the first, line 1: expected a field `txt`"
        " or `html` that is a string; the nearest is `text` (all: `id`, `text`)\n"
    )


def test_each_reason_of_broken_rows_is_reported_once(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = source.with_name("z.jsonl")
    source.write_text('[1]\n[2]\n{"text": 5}\n{"text": "x"}\n[3]\n{"text": []}\n')
    other.write_text('[4]\n{"text": "y"}\n' + "".join(f'{{"t{n}": 1}}\n' for n in range(20)))
    assert main(["run", str(source), str(other)]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if ", line " in line]
    assert [line.removeprefix(str(source.parent)) for line in told[:4]] == [
        "/in.jsonl, line 1: expected a JSON object, found list",
        "/in.jsonl, line 3: expected a string in `text`, found int",
        "/in.jsonl, line 6: expected a string in `text`, found list",
        "/z.jsonl, line 3: expected a field `text` or `html` that is a string; columns: `t0`",
    ]
    assert len(told) == 10


def test_an_empty_file_is_a_collection_without_rows(tmp_path: Path) -> None:
    """Whatever the format; a header says which columns there are, and is checked."""
    for name, content in (
        ("a.csv", ""),
        ("b.csv", "\n\n"),
        ("c.csv", "id,text\n"),
        ("d.jsonl", ""),
    ):
        path, out = tmp_path / name, tmp_path / f"out-{name}"
        path.write_text(content)
        assert main(["run", str(path), "-o", str(out)]) == 0
        assert read_back(out) == []


def read_back(path: Path) -> list[Any]:
    """The rows of an output, as another run reads them."""
    again = path.with_name("again.jsonl")
    assert main(["run", str(path), "-o", str(again), "--overwrite"]) == 0
    return read(again)


# What follows a sound row on line 2, the place of its last broken row, in which line the quote was
# opened, and the ids of the rows that stay.
UNCLOSED = {
    "the row itself": ('3,"open\n4,four\n5,five\n', "line 3", 3, "is never closed", "245"),
    "a later line of it": ('3,"two\nlines","open\n4,four\n', "line 3", 4, "is never closed", "24"),
    "the last line": ('3,three\n4,"open', "line 4", 4, "is never closed", "23"),
    "a mark in a cell": ('3,5" disk\n4,"open\n', "line 4", 4, "is never closed", "23"),
    "marks in a later cell": (
        '3,"open\n4,four\n5,"five"\n6,x\n',
        "line 3",
        3,
        "not closed",
        "2456",
    ),
    "a second one": ('3,"open\n4,four\n5,"open\n6,six\n', "line 5", 5, "is never closed", "246"),
}


@pytest.mark.parametrize("name", UNCLOSED)
def test_unclosed_quote_costs_its_row_alone(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, place, opened, why, kept = UNCLOSED[name]
    table, broken, out = (tmp_path / each for each in ("x.csv", "broken.jsonl", "out.jsonl"))
    table.write_text(f"id,text\n2,two\n{content}")
    assert main(["run", str(table), "--broken", str(broken), "-o", str(out)]) == 0
    found = read(broken)
    assert found[-1]["place"] == place
    assert f"the quote opened in line {opened} " in found[-1]["reason"]
    assert why in found[-1]["reason"]
    assert '"open' in found[-1]["row"]
    assert "".join(row["id"] for row in read(out)) == kept
    assert f"{table}, {place}: the quote" in capsys.readouterr().err


def test_a_parquet_file_with_damaged_pages_is_named(tmp_path, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "damaged.parquet"
    rows = {"id": ["1", "2"], "text": ["one text of some words", "another text"]}
    parquet.write_table(pyarrow.table(rows), path)
    stored = bytearray(path.read_bytes())
    stored[4:40] = bytes([0xFF]) * 36  # the first page's header, behind the magic number
    path.write_bytes(stored)
    assert main(["run", str(path), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "damaged.parquet: the file is damaged" in capsys.readouterr().err


def test_path_with_a_colon_is_no_address(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(source.parent)
    assert main(["run", "in.jsonl", "-o", "c:out.jsonl", "-d", "c:/dropped.jsonl"]) == 0
    assert {path.name for path in source.parent.iterdir()} == {"in.jsonl", "c:out.jsonl", "c:"}
