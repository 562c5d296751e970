"""On Spark the same rows stay, for the same originals, as on one machine."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dedup.arrow.first_come import first_come
from dedup.cli import main
from dedup.collection.rules import Rules
from dedup.spark import deduplicate, rounds
from dedup.spark.engine import Engine
from dedup.spark.rounds import dropped_rows
from dedup.spark.session import memory_bytes, sentence_of
from dedup.store import STORE_NAME
from tests.dedup.arrow.families import WORDS, planted
from tests.dedup.spark.both_engines import TABLE, frame_of, on_one_machine, on_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_session"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]


def test_rows_and_originals_are_those_of_one_machine(session: SparkSession) -> None:
    """Everything by the ways of large collections: buckets split, rounds, components."""
    rows = planted(3, families=24)
    session.conf.set("spark.sql.adaptive.enabled", "false")
    engine = Engine(rules=Rules(), bucket_pairs=3, compared_pairs=2, serial_pairs=0)
    assert on_spark(frame_of(session, rows, 7), engine) == on_one_machine(rows)


def test_frequent_sentence_hides_no_pair(session: SparkSession) -> None:
    """Of 100 rows in one bucket, the near copies are found, and no others, by splitting it."""
    choose = random.Random(7)
    shared = " ".join(choose.choices(WORDS, k=30)) + "."
    rows = []
    for number in range(500):
        words = [f"{choose.choice(WORDS)}{number}" for _ in range(90)]
        text = " ".join(words) + (f". {shared}" if number % 5 == 0 else ".")
        rows.append({"id": number, "text": text, "url": None, "title": "", "group": "x"})
    for row in rows[50::50]:  # in the bucket, too
        rows.append({**row, "id": len(rows), "text": "start " + row["text"]})
    expected = on_one_machine(rows)
    assert sum(mark[1] is not None for mark in expected.values()) == 9
    session.conf.set("spark.sql.adaptive.enabled", "true")
    frame = frame_of(session, rows, 3)
    assert on_spark(frame, Engine(rules=Rules(), bucket_pairs=1_000)) == expected


def test_failed_task_is_retried(session: SparkSession, tmp_path: Path) -> None:
    rows = planted(5)
    marker = str(tmp_path / "failed")

    def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            raise RuntimeError("once")

    session.conf.set("spark.sql.adaptive.enabled", "true")
    frame = frame_of(session, rows, 1).mapInArrow(fail_once, TABLE)
    assert on_spark(frame, Engine(rules=Rules())) == on_one_machine(rows)
    assert Path(marker).exists()


def test_chains_in_order_are_decided_by_their_components(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 versions, each like its next three, need 20 rounds; there are two."""
    monkeypatch.setattr(rounds, "ROUNDS", 2)
    chain = [(a, a + step) for a in range(80) for step in (1, 2, 3)]
    choose = random.Random(2)
    others = [tuple(sorted(choose.sample(range(300, 600), 2))) for _ in range(200)]
    pairs = sorted({*chain, *others})
    dropped = dropped_rows(session.createDataFrame(pairs, "a bigint, b bigint"), serial_pairs=0)
    earlier, later = (np.array(side) for side in zip(*pairs, strict=True))
    assert sorted(row[0] for row in dropped.collect()) == first_come(earlier, later).tolist()


def test_order_with_repeated_rows_is_refused(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, "a"), (1, "b")], "id bigint, text string")
    with pytest.raises(ValueError, match="order must be unique per row, got 1 values for 2 rows"):
        deduplicate(frame, order="id")
    with pytest.raises(ValueError, match="whole numbers, got `text` of type string"):
        deduplicate(frame, order="text")
    with pytest.raises(ValueError, match="no column `txt`; the nearest is `text`"):
        deduplicate(frame, order="id", text="txt")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def parts(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*")))


SPARK = ["--engine", "spark", "--master", "local[2]"]


# What Spark itself does first for a session; the rest takes longer.
_MEMORY = """
import sys
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from dedup.spark.session import open_session

def begin(builder):
    gateway = launch_gateway(SparkConf().setAll(builder._options.items()))
    print(gateway.jvm.java.lang.Runtime.getRuntime().maxMemory())
    sys.exit()

SparkSession.Builder.getOrCreate = begin
open_session("local[1]")
"""


@pytest.mark.parametrize("own", ["", "600m"], ids=["by default", "as the environment says"])
def test_spark_on_this_machine_has_half_of_its_memory(own: str) -> None:
    environment = {**os.environ, "SPARK_DRIVER_MEMORY": own}
    if not own:
        del environment["SPARK_DRIVER_MEMORY"]
    command = [sys.executable, "-c", _MEMORY]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    expected = 600 << 20 if own else memory_bytes() // 2
    assert int(done.stdout) == pytest.approx(expected, rel=0.1)


def test_memory_is_that_of_the_container(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    whole = memory_bytes(limit)  # there is no such file
    limit.write_text("max\n")
    assert memory_bytes(limit) == whole
    limit.write_text("1048576\n")
    assert memory_bytes(limit) == 1 << 20


def test_a_failure_of_a_task_names_its_cause(session: SparkSession) -> None:
    def failing(batches: Iterator[pa.RecordBatch], failure: Exception) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise failure

    frame = session.createDataFrame([(1,)], "id bigint")
    for failure, cause in ((KeyError("number"), "KeyError: 'number'"), (EOFError(), "EOFError")):
        with pytest.raises(PySparkException) as told:
            frame.mapInArrow(partial(failing, failure=failure), "id bigint").collect()
        assert sentence_of(told.value) == f"Spark: {cause}"
    assert sentence_of(ValueError("x")) is None
    lost = PySparkException("[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_114_0")
    assert "with spark.checkpoint.dir they are kept" in str(sentence_of(lost))


def test_files_are_those_of_one_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Byte for byte: two inputs, in the order given, blank and broken lines, and many options."""
    rows = planted(4)
    first = write(tmp_path / "b.jsonl", rows[:50])
    second = write(tmp_path / "a.jsonl", rows[50:])
    not_utf8 = [b'{"id": "1", "text": "M\xe4rz"}\n', b'{"id": "2", "text": "M\xf6rz"}\n']
    second.write_bytes(b"\n  \nbroken\n" + b"".join(not_utf8) + second.read_bytes())
    options = [str(first), str(second), "--mark", "--within", "group", "--keep", "longest"]
    out, dropped, broken = tmp_path / "out", tmp_path / "dropped", tmp_path / "broken"
    out.mkdir()  # an earlier output
    for name in ("_SUCCESS", "part-00007-old.jsonl"):
        (out / name).touch()
    outputs = ["-o", str(out), "-d", str(dropped), "--broken", str(broken), "--overwrite"]
    assert main(["run", *options, *SPARK, *outputs]) == 0
    told = capsys.readouterr().err
    assert "first broken row, 51: invalid JSON: Expecting value, at character 1" in told
    reasons = [json.loads(line)["reason"] for line in parts(broken).splitlines()]
    assert reasons[1:] == ["it is not UTF-8"] * 2  # not a text with another letter, twice
    # On one machine a file is read in one encoding, and these rows are texts.
    second.write_bytes(second.read_bytes().replace(b"".join(not_utf8), b""))
    whole, told_of = tmp_path / "whole.jsonl", tmp_path / "told.jsonl"
    assert main(["run", *options, "-o", str(whole), "-d", str(told_of)]) == 0
    assert parts(out) == whole.read_bytes()
    assert sorted(parts(dropped).splitlines()) == sorted(told_of.read_bytes().splitlines())
    for folder in (out, dropped):
        names = {path.name for path in folder.iterdir() if path.name[0] != "."}
        assert "_SUCCESS" in names
        assert all(name.startswith("part-") for name in names - {"_SUCCESS"})
        assert all(name.endswith(".jsonl") for name in names - {"_SUCCESS"})
    assert main(["run", *options, "--engine", "spark", "-o", str(out), "--job", "x"]) == 2


# Options that Spark has no answer to, and what is said.
REFUSED = [
    (["--job", "j"], "--job cannot be used with --engine spark"),
    (
        ["--against", "old-job"],
        "--against must be files with --engine spark, got the job 'old-job'",
    ),
    (["--encoding", "latin-1"], "--encoding cannot be used with --engine spark"),
    (["--processes", "2"], "--processes cannot be used with --engine spark"),
    (["-d", "out.csv"], "-d must be a folder of jsonl on Spark, got 'out.csv'"),
    (["--clusters", "x.parquet"], "--clusters must be a folder of jsonl on Spark"),
    (["-o", "-"], "reads and writes files and folders, not standard input"),
    (["-o", "out.parquet"], "-o must be a folder of jsonl for rows of JSON Lines, CSV and web"),
    (["more.parquet"], "reads either Parquet or other formats, not both"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED, ids=lambda value: str(value)[:30])
def test_option_unsupported_by_spark_is_one_sentence(
    options: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old-job").mkdir()
    Path("old-job", STORE_NAME).touch()
    assert main(["run", "in.jsonl", *options, "--engine", "spark"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("home", ["/nowhere", ""])
def test_without_java_one_sentence_says_what_to_do(
    home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["run", "in.jsonl", "--engine", "spark"]) == 2
    said = capsys.readouterr().err
    assert "Spark needs Java 17 or later" in said
    assert "apt-get install openjdk-17-jre-headless" in said
    assert len(said.splitlines()) == 1


def test_old_java_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["run", "in.jsonl", "--engine", "spark"]) == 2
    assert "Spark needs Java 17 or later, found 11.0.2" in capsys.readouterr().err


def test_master_is_for_spark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "in.jsonl", "--master", "local[2]"]) == 2
    assert "--master needs --engine spark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["-o", "in.jsonl"], "-o and IN must be different folders"),
        (["-o", "data/../in.jsonl"], "-o and IN must be different folders"),
        (["data/more.jsonl", "-o", "data"], "-o and IN must be different folders"),
        (["-o", "out/kept", "-d", "out"], "-d and -o must be different folders"),
        (["-o", "data"], "'data' was not written by an earlier run"),
    ],
)
def test_no_output_replaces_what_is_not_an_earlier_output(
    options: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for path in (Path("in.jsonl"), Path("data/more.jsonl")):
        path.write_text('{"id": 1, "text": "A text."}\n')
    inputs = [] if options[0] != "data/more.jsonl" else options[:1]
    rest = options[len(inputs) :]
    assert main(["run", "in.jsonl", *inputs, *rest, "--engine", "spark", "--overwrite"]) == 2
    assert sentence in capsys.readouterr().err
    assert Path("in.jsonl").read_text() == Path("data/more.jsonl").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere://a/b.csv"],
        ["{folder}/in.jsonl", "-o", "nowhere://a/b"],
        ["{folder}/in.jsonl", "-o", "{folder}/out", "--against", "nowhere://a/b.jsonl"],
    ],
)
def test_an_unknown_file_system_is_one_sentence(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "A text."}\n')
    given = [each.format(folder=tmp_path) for each in arguments]
    assert main(["run", *given, "--engine", "spark", "--master", "local[1]"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == 'dedup: Spark: No FileSystem for scheme "nowhere"'
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
