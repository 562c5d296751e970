"""`dedup run --passages` and `--contains`."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dedup.cli import main
from dedup.text import passages as kernel
from tests.json_lines import read, write

CHOOSE = random.Random(1)


def words(count: int) -> str:
    return " ".join(f"word{CHOOSE.randrange(10**6)}" for _ in range(count))


SHARED = words(80)


def characters(count: int) -> str:
    return "".join(chr(0x4E00 + CHOOSE.randrange(5_000)) for _ in range(count))


CHINESE, BEFORE, AFTER = characters(60), characters(90), characters(90)
PARTS = [words(60) for _ in range(6)]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "n": 1.5, "text": f"{PARTS[0]}. {SHARED}. {PARTS[1]}"},
    {"id": 2, "n": 2, "text": f"{PARTS[2]}. {SHARED.upper()}. {PARTS[3]}"},
    {"id": "c", "n": 3, "text": SHARED},
    {"id": "d", "n": 4, "text": f"{BEFORE}。{CHINESE}。"},
    {"id": "e", "n": 5, "text": f"另一段。{CHINESE}。{AFTER}"},
    {"id": "f", "n": 6, "text": f"{PARTS[4]} {SHARED.split(' ', 31)[31]} {PARTS[5]}"},
]
"""49 of the words are in the last row: one too few."""


def run(folder: Path, *options: object, rows: list[dict[str, Any]] = ROWS) -> list[dict[str, Any]]:
    source = write(folder / "in.jsonl", rows)
    out = folder / "out.jsonl"
    assert main(["run", str(source), "-o", str(out), "--overwrite", *map(str, options)]) == 0
    return read(out)


def test_all_but_the_first_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dropped = tmp_path / "dropped.jsonl"
    found = run(tmp_path, "-d", dropped, "--passages")
    assert found == [
        ROWS[0],
        {**ROWS[1], "text": f"{PARTS[2]}. {PARTS[3]}"},
        ROWS[3],
        {**ROWS[4], "text": f"另一段。{AFTER}"},
        ROWS[5],
    ]
    (record,) = read(dropped)
    assert (record["id"], record["duplicate_of"], record["stage"]) == ("c", "a", "passages")
    n_cut = sum(len(row["text"]) for row in ROWS) - sum(len(row["text"]) for row in found)
    told = capsys.readouterr().err
    assert f"3 repeated passages, {n_cut:,} characters" in told
    assert "duplicates: passages" in told


def test_marks_list_them_and_leave_the_text_whole(tmp_path: Path) -> None:
    found = run(tmp_path, "--passages", 50, "--mark")
    assert [row["text"] for row in found] == [row["text"] for row in ROWS]
    listed = {row["id"]: row["passages"] for row in found}
    second = [row["text"] for row in ROWS][1]
    assert listed == {
        "a": [],
        2: [[second.index(SHARED.upper()), second.index(". " + PARTS[3]), "a"]],
        "c": [[0, len(SHARED), "a"]],
        "d": [],
        "e": [[4, 64, "d"]],
        "f": [],
    }
    assert [row["id"] for row in found if row["stage"] == "passages"] == ["c"]


def test_shorter_passages_can_be_asked_for(tmp_path: Path) -> None:
    last = run(tmp_path, "--passages=49")[-1]
    assert last["text"] == f"{PARTS[4]} {PARTS[5]}"
    assert run(tmp_path, "--passages", "81", rows=ROWS[:3]) == ROWS[:3]


@pytest.mark.parametrize("options", [["--keep", "longest"], ["--processes", 2], ["--within", "n"]])
def test_they_are_cut_however_rows_are_judged(tmp_path: Path, options: list[object]) -> None:
    assert run(tmp_path, "--passages", *options) == run(tmp_path, "--passages")


def test_rows_that_are_dropped_have_no_passages(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[0], "id": "copy"}, ROWS[1]]
    assert [row["id"] for row in run(tmp_path, "--passages", rows=rows)] == ["a", 2]
    marked = run(tmp_path, "--passages", 50, "--mark", rows=rows)
    assert [row["passages"] and row["passages"][0][2] for row in marked] == [[], None, "a"]


def test_an_original_may_be_anywhere_in_the_input(tmp_path: Path) -> None:
    """Ids of rows that have none are their numbers, broken rows counted."""
    rows = [{"id": "broken"}, {"text": ROWS[0]["text"]}, {"id": 9, "text": None}, ROWS[1]]
    marked = run(tmp_path, "--passages", 50, "--mark", rows=rows)
    assert marked[-1]["passages"][0][2] == 2
    assert [row["passages"] for row in marked[:-1]] == [None, [], None]  # two have no text


def test_jobs_and_passages(tmp_path: Path) -> None:
    whole = run(tmp_path, "--passages", 50)
    job = ["--job", tmp_path / "job"]
    assert run(tmp_path, *job) == ROWS
    assert run(tmp_path, *job, "--passages") == whole  # all is judged; passages are found anew
    assert run(tmp_path, *job, "--passages", 81) == ROWS


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_keep_their_columns(tmp_path: Path, ending: str) -> None:
    rows = [{**row, "id": str(row["id"]), "n": float(row["n"])} for row in ROWS]
    source, table = write(tmp_path / "rows.jsonl", rows), tmp_path / f"table.{ending}"
    cut, again = tmp_path / f"cut.{ending}", tmp_path / "again.jsonl"
    assert main(["run", str(source), "-o", str(table)]) == 0
    assert main(["run", str(table), "-o", str(cut), "--passages"]) == 0
    assert main(["run", str(cut), "-o", str(again)]) == 0
    expected = run(tmp_path, "--passages", rows=rows)
    found = [{**row, "n": float(row["n"])} for row in read(again)]
    assert found == expected
    marked = tmp_path / f"marked.{ending}"
    assert main(["run", str(table), "-o", str(marked), "--mark", "--passages"]) == 0
    if ending == "csv":
        with marked.open(newline="") as file:
            listed = [row["passages"] for row in csv.DictReader(file)]
        assert json.loads(listed[4]) == [[4, 64, "d"]]


def test_rows_of_markup_are_told_and_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"id": "page", "html": f"<title>x</title><p>{SHARED}</p><p>{PARTS[1]}</p>"}
    assert run(tmp_path, "--passages", rows=[*ROWS, page])[-1] == page
    assert "1 rows of markup were not searched" in " ".join(capsys.readouterr().err.split())


def test_archives_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", ROWS)
    out = tmp_path / "out.warc"
    assert main(["run", str(source), "-o", str(out), "--passages"]) == 2
    assert "--passages" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("given", ["1", "0", "x.jsonl", "-3", "1.5"])
def test_a_number_of_words_is_checked(
    tmp_path: Path, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(SystemExit):
        main(["run", str(source), f"--passages={given}", "-o", str(tmp_path / "out.jsonl")])
    told = " ".join(capsys.readouterr().err.split())
    assert f"must be a whole number from 2 to 1,000,000, got '{given}'" in told


def test_equal_hashes_of_different_words_cut_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        kernel, "hash_pieces", lambda codes, starts, ends: np.zeros(len(starts), np.uint64)
    )
    assert run(tmp_path, "--passages", rows=[ROWS[0], ROWS[3], ROWS[5]]) == [
        ROWS[0],
        ROWS[3],
        ROWS[5],
    ]


QUESTION = " ".join(SHARED.split()[20:33])
EVALUATION = [
    {"id": "q1", "text": f"What is {QUESTION.upper()}?"},
    {"id": "q2", "text": "too short"},
    {"id": "q3", "text": " ".join(PARTS[4].split()[5:14])},
]


def test_rows_with_a_passage_of_an_evaluation_set_are_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = write(tmp_path / "eval.jsonl", EVALUATION)
    dropped = tmp_path / "dropped.jsonl"
    found = run(tmp_path, "--contains", evaluation, "-d", dropped)
    assert [row["id"] for row in found] == ["d", "e"]
    told = [(row["id"], row["duplicate_of"], row["stage"]) for row in read(dropped)]
    assert told == [(name, "q1", "contains") for name in ("a", 2, "c")] + [("f", "q3", "contains")]
    told_text = capsys.readouterr().err
    assert "duplicates: contains" in told_text
    assert "--contains: 1 rows have fewer than 8 words" in told_text


def test_a_row_that_holds_a_passage_is_nobodys_original(tmp_path: Path) -> None:
    """The second one stays: it is near the first, but without the question."""
    other = SHARED.replace(QUESTION.split()[6], "else")
    rows = [{"id": 1, "text": f"{PARTS[0]} {SHARED}"}, {"id": 2, "text": f"{PARTS[0]} {other}"}]
    evaluation = write(tmp_path / "eval.jsonl", EVALUATION)
    assert [row["id"] for row in run(tmp_path, rows=rows)] == [1]
    for options in ([], ["--keep", "longest"], ["--processes", 2]):
        found = run(tmp_path, "--contains", evaluation, *options, rows=rows)
        assert [row["id"] for row in found] == [2]
        marked = run(tmp_path, "--contains", evaluation, "--mark", *options, rows=rows)
        assert [(row["duplicate_of"], row["stage"]) for row in marked] == [
            ("q1", "contains"),
            (None, None),
        ]


def test_evaluation_sets_may_be_jobs_and_several(tmp_path: Path) -> None:
    first = write(tmp_path / "one.jsonl", EVALUATION[2:])
    job = tmp_path / "eval-job"
    source = write(tmp_path / "two.jsonl", EVALUATION[:2])
    assert main(["run", str(source), "--job", str(job)]) == 0
    both = ["--contains", first, "--contains", job]
    assert [row["id"] for row in run(tmp_path, *both)] == ["d", "e"]
    assert [row["id"] for row in run(tmp_path, "--contains", job)] == ["d", "e", "f"]


def test_the_number_of_words_can_be_given(tmp_path: Path) -> None:
    evaluation = write(tmp_path / "eval.jsonl", EVALUATION[:1])
    options = ["--contains", evaluation, "--contains-words"]
    assert len(run(tmp_path, *options, 14)) == len(ROWS)
    assert len(run(tmp_path, *options, 13)) == len(ROWS) - 3


def test_a_job_goes_on_only_with_the_same_evaluation_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = write(tmp_path / "eval.jsonl", EVALUATION)
    options = ["--job", tmp_path / "job", "--contains", evaluation]
    once = run(tmp_path, *options)
    assert run(tmp_path, *options) == once
    write(evaluation, EVALUATION[:1])
    arguments = ["run", str(tmp_path / "in.jsonl"), *map(str, options)]
    assert main(arguments) == 2
    assert "different contains" in capsys.readouterr().err


def test_an_evaluation_set_is_never_an_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = write(tmp_path / "eval.jsonl", EVALUATION)
    source = write(tmp_path / "in.jsonl", ROWS)
    arguments = ["run", str(source), "-o", str(evaluation), "--overwrite"]
    assert main([*arguments, "--contains", str(evaluation)]) == 2
    assert "--contains" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([], ["--contains", "eval.jsonl"], "--contains must have a row with a text"),
        (EVALUATION, ["--contains-words", "5"], "--contains-words needs --contains EVAL"),
    ],
)
def test_looking_for_nothing_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rows: list[dict[str, Any]],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "eval.jsonl", rows)
    write(tmp_path / "in.jsonl", ROWS)
    assert main(["run", "in.jsonl", "-o", "out.jsonl", *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out.jsonl").exists()
