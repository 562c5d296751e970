"""Collections that make many pairs, and machines that go away, change no answer on Spark."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

from pyspark.sql import SparkSession

from dedup.collection.rules import Rules
from dedup.spark.engine import Engine
from tests.dedup.arrow.families import WORDS
from tests.dedup.spark.both_engines import frame_of, on_one_machine, on_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

SMALL_PARTS = Engine(rules=Rules(), bucket_pairs=50, compared_pairs=20, serial_pairs=0)


def hard_rows() -> list[dict[str, Any]]:
    choose = random.Random(3)

    def said(count: int) -> str:
        return " ".join(f"{choose.choice(WORDS)}{choose.randrange(99)}" for _ in range(count))

    def page(text: str, host: str = "", name: object = "", title: str = "") -> dict[str, Any]:
        url = f"http://{host}/{name}.html" if host else None
        return {"text": text, "url": url, "title": title, "group": "x"}

    often, shared, short = said(120), said(40), said(6)
    rows = [page(often, "a.example", number, "One") for number in range(150)]
    rows += [page(often, "a.example", number, f"Name {number}") for number in range(30)]
    rows += [page(often + f" {said(1)}", choose.choice(["", "b.example"])) for _ in range(40)]
    rows += [page(". ".join([said(60), shared, said(30)])) for _ in range(150)]
    rows += [page(" ".join([said(80), *["etc"] * 60])) for _ in range(150)]
    rows += [page(short if number % 3 else short.upper(), title=said(1)) for number in range(60)]
    for number in range(60):  # where sketches change from one part of the shingles to another
        text = said(choose.choice([380, 402, 430]))
        rows += [page(text), page(text + " " + said(20), "c.example", number)]
    choose.shuffle(rows)
    return [{"id": number, **row} for number, row in enumerate(rows)]


@pytest.mark.parametrize("engine", [Engine(rules=Rules()), SMALL_PARTS], ids=["whole", "split"])
def test_one_text_often_large_buckets_short_rows_and_names(
    session: SparkSession, engine: Engine
) -> None:
    rows = hard_rows()
    expected = on_one_machine(rows)
    assert 250 < sum(mark[1] is not None for mark in expected.values()) < 300
    before = kept_frames(session)
    assert on_spark(frame_of(session, rows, 3), engine) == expected
    assert len(kept_frames(session) - before) == 1  # the result's; frames between are released


def kept_frames(session: SparkSession) -> set[int]:
    return set(session._jsc.getPersistentRDDs().keySet())


_LOST = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from dedup.collection.rules import Rules
from dedup.spark.engine import Engine
from tests.dedup.spark.both_engines import TABLE, frame_of, on_one_machine, on_spark
from tests.dedup.spark.test_hard_collections import hard_rows

(folder,) = sys.argv[1:]
flag, marker = f"{folder}/begun", f"{folder}/killed"

def begin(name):
    if name == "verification":
        Path(flag).touch()

def killing(batches):
    yield from batches
    if os.path.exists(flag):
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        above = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(") ")[2].split()[1])
        assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{above}/cmdline").read_bytes()
        os.kill(above, signal.SIGKILL)

session = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.checkpoint.dir", f"file:{folder}/checkpoints")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.log.level", "FATAL")
    .getOrCreate()
)
rows = hard_rows()
frame = frame_of(session, rows, 4).mapInArrow(killing, TABLE)
found = on_spark(frame, Engine(rules=Rules(), on_stage=begin))
assert os.path.exists(marker)
assert found == on_one_machine(rows)
left = [path for path in Path(folder, "checkpoints").rglob("rdd-*")]
assert len(left) == 1, left
session.stop()
"""


def test_with_a_checkpoint_folder_a_lost_executor_changes_nothing(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(root),
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
    }
    command = [sys.executable, "-c", _LOST, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
