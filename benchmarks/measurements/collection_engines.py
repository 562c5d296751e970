"""Do one process, two processes and Spark keep the same rows, for the same originals?

Run: python benchmarks/measurements/collection_engines.py COLLECTION... [--planted 200000]

COLLECTION is JSON Lines, or a folder of HTML files (also as .tar.xz), whose pages become rows of
markup. With `--planted` so many rows of families are made: groups of near copies, chains of
versions in order and shuffled, short texts and empty ones; each family has words of its own.
Each collection is judged by one process, by two, and on Spark in these ways:

    1 partition, adaptive execution off
    7 partitions, adaptive execution on, and one task of each partition's first try fails

Lines of both outputs are compared, all of them; of Spark's, the order too.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from dedup.cli import main as dedup
from dedup.collection.columns import Columns
from dedup.collection.rules import Rules

_FAMILY = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collections", type=Path, nargs="*")
    parser.add_argument("--planted", type=int, default=0)
    parser.add_argument("--ways", nargs="*", type=int, default=(1, 7), choices=(1, 7))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dedup-engines-") as name:
        folder = Path(name)
        for collection in options.collections:
            source = folder / f"{collection.name.partition('.')[0]}.jsonl"
            write(source, rows_of(collection))
            compare(source, folder, options.ways)
        if options.planted:
            source = folder / "planted.jsonl"
            write(source, planted(options.planted, 1))
            compare(source, folder, options.ways)


def write(path: Path, rows: Iterator[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def rows_of(collection: Path) -> Iterator[dict[str, object]]:
    if ".jsonl" in collection.name:
        from benchmarks.evaluation import read_corpus

        yield from ({"id": each.id, "text": each.text} for each in read_corpus(collection))
        return
    with tempfile.TemporaryDirectory(prefix="dedup-pages-") as name:
        folder = collection
        if collection.is_file():
            folder = Path(name)
            with tarfile.open(collection) as archive:
                archive.extractall(folder, filter="data")
        for page in sorted(folder.rglob("*.html")):
            place = page.relative_to(folder).as_posix()
            html = page.read_text(encoding="utf-8", errors="replace")
            yield {"id": place, "url": f"http://site.example/{place}", "html": html}


def planted(count: int, seed: int) -> Iterator[dict[str, object]]:
    """Families of 20 rows; four kinds in turn. What is shuffled is so within 100 families."""
    choose = random.Random(seed)
    number = 0
    for start in range(0, count, 100 * _FAMILY):
        scattered: list[str] = []
        in_order: list[str] = []
        for family in range(min(100, (count - start) // _FAMILY)):
            words = [f"w{seed}x{start + family}y{n}" for n in range(choose.choice([60, 90, 150]))]
            if family % 4 == 0:
                scattered += (" ".join(edited(choose, words, 1)) for _ in range(_FAMILY))
            elif family % 4 == 3:
                short = " ".join(words[:5])
                kinds = ["", " ", "?!", short, short.upper(), short + " end"]
                scattered += (choose.choice(kinds) for _ in range(_FAMILY))
            else:
                chain = scattered if family % 4 == 1 else in_order
                for _ in range(_FAMILY):
                    chain.append(" ".join(words))
                    words = edited(choose, words, max(len(words) // 40, 1))
        choose.shuffle(scattered)
        for text in [*scattered, *in_order]:
            yield {"id": number, "text": text}
            number += 1


def edited(choose: random.Random, words: list[str], changes: int) -> list[str]:
    found = list(words)
    for _ in range(changes):
        found[choose.randrange(len(found))] = f"new{choose.randrange(10**9)}"
    return found


def compare(source: Path, folder: Path, ways: tuple[int, ...]) -> None:
    rows = sum(1 for _ in source.open(encoding="utf-8"))
    print(f"{source.stem}: {rows:,} rows, load {os.getloadavg()[0]:.1f}", flush=True)
    here: dict[int, list[list[bytes]]] = {}
    for processes in (1, 2):
        out, dropped = folder / f"{processes}.jsonl", folder / f"{processes}-d.jsonl"
        command = ["run", str(source), "-o", str(out), "-d", str(dropped), "--overwrite"]
        if dedup([*command, "--processes", str(processes)]):
            raise SystemExit("dedup run failed")
        here[processes] = [path.read_bytes().splitlines() for path in (out, dropped)]
    told("2 processes", here[2], here[1])
    for partitions in ways:
        began = time.monotonic()
        found = on_spark(source, folder, partitions)
        told(f"Spark, {partitions} partitions", found, here[1])
        print(f"    {time.monotonic() - began:,.0f} s", flush=True)


def told(name: str, found: list[list[bytes]], wanted: list[list[bytes]]) -> None:
    kept, dropped = (len(set(a) ^ set(b)) for a, b in zip(found, wanted, strict=True))
    is_same = "equal" if found == wanted else "DIFFERENT"
    print(
        f"  {name}: {len(found[0]):,} stay, {len(found[1]):,} dropped; {is_same}"
        f" ({kept} and {dropped} lines differ)",
        flush=True,
    )


def on_spark(source: Path, folder: Path, partitions: int) -> list[list[bytes]]:
    from pyspark.sql import SparkSession

    from dedup.spark.engine import Engine
    from dedup.spark.files import Outputs, run
    from dedup.spark.reading import Rows, read_sources

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    is_adaptive = partitions > 1
    session = (
        SparkSession.builder.master("local[2, 4]")  # a task is tried four times
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "512")
        .config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.sql.adaptive.enabled", str(is_adaptive).lower())
        .getOrCreate()
    )
    outs = [folder / f"spark-{partitions}{end}" for end in ("", "-d")]
    marks = folder / f"failed-{partitions}"
    shutil.rmtree(marks, ignore_errors=True)
    marks.mkdir()
    try:
        read = read_sources(session, [str(source)], Columns(), Rules())
        frame = read.frame.repartition(partitions)
        if is_adaptive:
            frame = frame.mapInArrow(failing_once(str(marks)), frame.schema)
        rows = Rows(frame, is_parquet=False)
        unique, duplicates = map(str, outs)
        outputs = Outputs(unique=unique, duplicates=duplicates, is_overwritten=True)
        run(rows, Engine(rules=Rules()), outputs)
    finally:
        session.stop()
    if is_adaptive:
        print(f"    {len(list(marks.iterdir()))} tasks failed once and were run again", flush=True)
    return [
        [line for part in sorted(out.glob("part-*")) for line in part.read_bytes().splitlines()]
        for out in outs
    ]


def failing_once(folder: str):
    """A kernel that hands rows on, and fails once in each partition, in the middle of it."""

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()
        for batch in batches:
            yield batch
            try:
                os.close(os.open(f"{folder}/{partition}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            raise RuntimeError("once")

    return kernel


if __name__ == "__main__":
    main()
