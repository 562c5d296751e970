"""Who stays, by criteria in their order, groups, and rows without text: as on one machine."""

import datetime
import json
import os
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

import dedup
from dedup.cli import main
from dedup.collection.survivor import Criterion, readings_of
from dedup.spark import deduplicate
from dedup.spark.ranking import readings_column
from tests.dedup.arrow.families import planted
from tests.dedup.spark.both_engines import told
from tests.json_lines import read, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_session"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

SPARK = ["--engine", "spark", "--master", "local[2]"]
DATES = [
    "2024-05-01",
    None,
    "2024-05-01T00:00:00Z",
    "soon",
    "2023-01-01",
    "",
    "2024-05-02T01:00+02:00",
]
RANKS: list[Any] = [3, "3", 2.5, None, "high", 10**30, True, [1], -0.0, "1e3", 0]


def parts(folder: Path) -> list[dict[str, Any]]:
    return [row for part in sorted(folder.glob("part-*")) for row in read(part)]


def both(folder: Path, *arguments: str) -> dict[str, list[dict[str, Any]]]:
    """What each engine writes for the options, in the same order."""
    found: list[dict[str, list[dict[str, Any]]]] = []
    for ending, engine in ((".jsonl", ["--processes", "1"]), ("", SPARK)):
        paths = {name: folder / f"{name}{ending}" for name in ("-o", "--clusters", "--broken")}
        options = [str(each) for pair in paths.items() for each in pair]
        assert main(["run", *arguments, *options, *engine]) == 0
        found.append({key: (read if ending else parts)(path) for key, path in paths.items()})
    here, there = found
    assert there["-o"] == here["-o"]
    assert there["--clusters"] == here["--clusters"]
    assert [row["reason"] for row in there["--broken"]] == [
        row["reason"] for row in here["--broken"]
    ]
    return here


def test_criteria_groups_and_rows_without_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[Any] = [
        {**row, "date": DATES[n % 7], "rank": RANKS[n * 5 % 11]}
        for n, row in enumerate(planted(11))
    ]
    rows[3:3] = [{"id": "null", "text": None}, {"id": "none"}, {"id": "number", "text": 5}, [1]]
    source = write(tmp_path / "in.jsonl", rows)
    found = both(tmp_path, str(source), "--mark", "--keep", "newest:date,lowest:rank,longest")
    by_id = {row["id"]: row for row in found["-o"]}
    assert len(by_id) == len(rows) - 1
    assert (by_id["null"]["group"], by_id["null"]["stage"]) == ("null", None)
    assert {row["id"] for row in found["--clusters"]} == by_id.keys() - {"null", "none", "number"}
    assert len(found["--broken"]) == 4
    dropped = [row for row in found["--clusters"] if row["duplicate_of"] is not None]
    assert dropped
    assert all(row["group"] == row["duplicate_of"] for row in dropped)
    said = capsys.readouterr().err
    assert said.count("newest:date: ") == 2
    assert said.count("values are no dates or times of ISO 8601, and rank last") == 2
    assert said.count("  without text ") == 2


def test_each_type_of_parquet_is_read_as_on_one_machine(tmp_path: Path) -> None:
    naive = datetime.datetime(2024, 5, 1, 12, 0, 0, 123456)
    columns: dict[str, list[Any]] = {
        "day": [datetime.date(2024, 5, 1), None, datetime.date(1969, 12, 31)],
        "local": [naive, None, naive.replace(year=1950)],
        "zoned": [
            naive.replace(tzinfo=datetime.UTC),
            None,
            naive.replace(1960, tzinfo=datetime.UTC),
        ],
        "price": [Decimal("1.50"), Decimal("-1.49"), None],
        "score": [float("nan"), 0.1, None],
        "count": [2**53 + 1, None, -1],
        "flag": [True, False, None],
        "word": ["2", "2024-05-01", "x"],
        "empty": ["", None, "nan"],
        "binary": [b"1", None, b"x"],
        "list": [[1], None, []],
    }
    source = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(pa.table(columns), source)
    session = SparkSession.builder.master("local[2]").getOrCreate()
    frame = session.read.parquet(str(source))
    criteria = [Criterion("highest", name) for name in columns]
    there = frame.select(readings_column(frame, criteria, F.col)).collect()
    for row, (found,) in zip(pyarrow.parquet.read_table(source).to_pylist(), there, strict=True):
        wanted = [float(each) for name in columns for each in readings_of(row[name])]
        assert np.array_equal(found, wanted, equal_nan=True)


def test_a_frame_is_ranked_and_parted_by_its_columns(tmp_path: Path) -> None:
    rows = [
        {
            **row,
            "day": datetime.date(2024, 1, 1 + n % 3),
            "price": Decimal(n * 7 % 5),
            "part": row["group"],  # `group` is among the columns that are added
        }
        for n, row in enumerate(planted(12))
    ]
    options: dict[str, Any] = {"within": "part", "id": "id", "keep": "newest:day,lowest:price"}
    source = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), source)
    session = SparkSession.builder.master("local[2]").getOrCreate()
    frame = session.read.parquet(str(source))
    there = deduplicate(frame, order="id", **options).collect()
    here = dedup.deduplicate(pa.Table.from_pylist(rows), **options).to_pylist()
    assert told([row.asDict() for row in there]) == told(here)
    every = dedup.deduplicate(pa.Table.from_pylist(rows), id="id", keep=options["keep"])
    assert told(every.to_pylist()) != told(here)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--strict"], "first row without text, 2: `text` is empty (null); --strict allows no"),
        (["--max-broken", "1"], "--max-broken 1 allows 1 such row"),
        (["--keep", "newest:day"], "newest:day must be a column of numbers or of ISO 8601 dates"),
    ],
)
def test_what_is_refused_writes_nothing(
    options: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": "A text.", "day": "Monday"}, {"text": None}, {"id": 3}]
    source = write(tmp_path / "in.jsonl", rows)
    arguments = [str(source), "-o", str(tmp_path / "out"), *options, *SPARK]
    assert main(["run", *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    assert json.loads(source.read_text().splitlines()[0])["day"] == "Monday"
