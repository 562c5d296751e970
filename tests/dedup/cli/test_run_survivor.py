"""`dedup run`: who stays by several criteria, and the groups that `--clusters` writes."""

import csv
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from dedup.cli import main
from tests.json_lines import read, write

TEXT = " ".join(f"Letter {number} came by the evening post." for number in range(30))


def kept(folder: Path, rows: list[dict[str, Any]], keep: str, *options: str) -> list[Any]:
    source, out = write(folder / "in.jsonl", rows), folder / "out.jsonl"
    arguments = ["run", str(source), "-o", str(out), "--overwrite", "--keep", keep, *options]
    assert main(arguments) == 0
    return [row["id"] for row in read(out)]


# Criteria, values of `date` and `rank` of rows with one text, blanks behind it, and who stays.
ORDERS = {
    "second decides": (
        "newest:date,lowest:rank",
        [("2024", 3, 0), ("2024", 2, 0), ("2023", 1, 0)],
        1,
    ),
    "first decides": (
        "lowest:rank,newest:date",
        [("2024", 3, 0), ("2024", 2, 0), ("2023", 1, 0)],
        2,
    ),
    "longest before": ("longest,lowest:rank", [(None, 1, 0), (None, 9, 5), (None, 8, 5)], 2),
    "longest behind": ("highest:rank,longest", [(None, 9, 0), (None, 9, 5), (None, 8, 9)], 1),
    "highest": ("highest:rank", [(None, 9, 0), (None, 10, 0), (None, -1, 0)], 1),
    "lowest": ("lowest:rank", [(None, 9, 0), (None, 10, 0), (None, -1, 0)], 2),
    "oldest": ("lowest:date", [("2024-01-02", 0, 0), ("2024-01-01", 0, 0), (None, 0, 0)], 1),
    "missing last": ("lowest:rank", [(None, None, 0), (None, "", 0), (None, 10**30, 0)], 2),
    "unreadable last": ("lowest:rank", [(None, "high", 0), (None, [1], 0), (None, "12", 0)], 2),
    "ties go to the first": ("newest:date,lowest:rank,first", [("2024", 1, 0), ("2024", 1, 0)], 0),
    "numbers, a date among them": ("newest:date", [("2024-01-01", 0, 0), (7, 0, 0), (8, 0, 0)], 2),
    "dates, a number among them": (
        "newest:date",
        [(7, 0, 0), ("2024-01-01", 0, 0), ("2023-01-01", 0, 0)],
        1,
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_criteria_decide_in_their_order(tmp_path: Path, name: str) -> None:
    keep, values, wanted = ORDERS[name]
    rows = [
        {"id": number, "text": TEXT + " " * blanks, "date": date, "rank": rank}
        for number, (date, rank, blanks) in enumerate(values)
    ]
    assert kept(tmp_path, rows, keep) == [wanted]


@pytest.mark.parametrize("seed", range(8))
def test_who_stays_is_the_best_by_all_criteria(tmp_path: Path, seed: int) -> None:
    """Against a sort of each group of equal texts."""
    choose = random.Random(seed)
    rows = [
        {
            "id": number,
            "group": choose.randrange(6),
            "day": choose.choice(["2024-03-01", "2024-03-01T10:00:00+02:00", "", None, "soon"]),
            "rank": choose.choice([1, 2.5, "2.5", "1e1", None, "low"]),
            "blanks": choose.randrange(3),
        }
        for number in range(60)
    ]
    for row in rows:
        row["text"] = f"{row['group']} {TEXT}" * (row["group"] + 1) + " " * row["blanks"]

    def day(row: dict[str, Any]) -> float:
        known = {"2024-03-01": 0, "2024-03-01T10:00:00+02:00": 8}
        hour = known.get(row["day"])
        infinite = float("-inf")
        return infinite if hour is None else datetime(2024, 3, 1, hour, tzinfo=UTC).timestamp()

    def rank(row: dict[str, Any]) -> float:
        return {1: 1, 2.5: 2.5, "2.5": 2.5, "1e1": 10}.get(row["rank"], float("inf"))

    criteria = {
        "newest:day": lambda row: -day(row),
        "lowest:rank": rank,
        "longest": lambda row: -len(row["text"]),
    }
    order = choose.sample(sorted(criteria), 3)
    best = {
        min(
            (row for row in rows if row["group"] == group),
            key=lambda row: tuple(criteria[name](row) for name in order),
        )["id"]
        for group in {row["group"] for row in rows}
    }
    assert set(kept(tmp_path, rows, ",".join(order), "--stages", "text")) == best


def test_values_that_cannot_be_read_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": n, "text": TEXT, "date": date} for n, date in enumerate(["soon", "2024-01-01"])]
    assert kept(tmp_path, rows, "longest,newest:date") == [1]
    said = capsys.readouterr().err
    assert "newest:date: 1 values are no dates or times of ISO 8601, and rank last" in said


@pytest.mark.parametrize("keep", ["", "best", "first,longest", "longest,", "newest", "lowest:"])
def test_other_criteria_are_refused(
    tmp_path: Path, keep: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": TEXT}])
    assert main(["run", str(source), "--keep", keep]) == 2
    assert "keep must be first, or longest, newest:COLUMN" in capsys.readouterr().err


FAMILY = [
    {"id": "a", "url": "http://a.example/1", "text": TEXT},
    {"id": 2, "text": "A note."},
    {"id": 3, "text": TEXT + " One came late, on its own."},
    {"id": 4, "text": None},
]


def clusters(folder: Path, ending: str, *options: str) -> list[dict[str, Any]]:
    path = folder / f"clusters{ending}"
    source = write(folder / "in.jsonl", FAMILY)
    assert main(["run", str(source), "--clusters", str(path), *options]) == 0
    if ending == ".parquet":
        return list(parquet.read_table(path).to_pylist())
    if ending == ".jsonl":
        return read(path)
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if ending == ".tsv" else ","))


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_each_document_is_told_with_its_group(tmp_path: Path, ending: str) -> None:
    found = clusters(tmp_path, ending)
    assert list(found[0]) == ["id", "url", "group", "duplicate_of", "stage", "resemblance"]
    assert [str(row["id"]) for row in found] == ["a", "2", "3"]
    assert [str(row["group"]) for row in found] == ["a", "2", "a"]
    assert [row["duplicate_of"] or None for row in found] == [None, None, "a"]
    assert [row["url"] or None for row in found] == ["http://a.example/1", None, None]
    assert float(found[2]["resemblance"]) > 0.8
    assert found[2]["stage"] in ("sentences", "simhash", "minhash")


def test_groups_are_those_of_the_marks(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    found = clusters(tmp_path, ".jsonl", "--keep", "longest", "--mark", "-o", str(out))
    names = ("id", "group", "duplicate_of", "stage", "resemblance")
    marked = [{name: row[name] for name in names} for row in read(out)[:3]]
    assert [{name: row[name] for name in names} for row in found] == marked
    assert found[0]["group"] == 3


def test_a_group_may_be_of_an_earlier_collection(tmp_path: Path) -> None:
    old = write(tmp_path / "old.jsonl", [{"id": "old", "text": "A note."}])
    found = clusters(tmp_path, ".jsonl", "--against", str(old))
    assert [row["group"] for row in found] == ["a", "old", "a"]


def test_groups_in_an_archive_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", FAMILY)
    assert main(["run", str(source), "--clusters", str(tmp_path / "x.warc")]) == 2
    assert "--clusters must end in .jsonl, .csv, .tsv or .parquet" in capsys.readouterr().err
