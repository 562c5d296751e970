"""`dedup run --engine spark` on this machine: wall clock and CPU by stage; equal to `dedup run`?

Run: python benchmarks/measurements/collection_spark.py COLLECTION [--master 'local[2]'] [--compare]

COLLECTION is what `collection_rows.py` has made. CPU is that of the JVM and of all processes of
Python, by Linux's /proc. With `--compare` the same is done in one process, and the rows that stay
and the originals are compared.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

from dedup.cli import main as dedup
from dedup.collection.columns import Columns
from dedup.collection.rules import Rules

_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    from dedup.spark.engine import Engine
    from dedup.spark.files import Outputs, run
    from dedup.spark.reading import read_sources
    from dedup.spark.session import open_session

    session = open_session(options.master)
    folder = Path(tempfile.mkdtemp(prefix="dedup-spark-"))
    clock = Clock()
    try:
        rules = Rules()
        clock.begin("places")
        rows = read_sources(session, [str(options.collection)], Columns(), rules)
        clock.begin("reading")
        outputs = Outputs(unique=str(folder / "unique"), duplicates=str(folder / "duplicates"))
        account = run(rows, Engine(rules=rules, on_stage=clock.begin), outputs)
        clock.begin("end")
    finally:
        session.stop()
    dropped = sum(account.duplicates.values())
    print(f"{account.rows:,} rows, {account.rows - dropped:,} stay; load {os.getloadavg()[0]:.1f}")
    for stage, wall, cpu in clock.stages:
        print(f"{stage:20} {wall:8.1f} s wall {cpu:8.1f} s CPU")
    print(f"{'all':20} {sum(each[1] for each in clock.stages):8.1f} s wall", end=" ")
    print(f"{sum(each[2] for each in clock.stages):8.1f} s CPU")
    if options.compare:
        compare(options.collection, folder)
    shutil.rmtree(folder)


def compare(collection: Path, folder: Path) -> None:
    here = {"-o": folder / "here.jsonl", "-d": folder / "here-duplicates.jsonl"}
    arguments = [str(each) for pair in here.items() for each in pair]
    if dedup(["run", str(collection), "--processes", "1", *arguments]):
        raise SystemExit("dedup run failed")
    for name, path in (("unique", here["-o"]), ("duplicates", here["-d"])):
        parts = sorted((folder / name).glob("part-*"))
        lines = [line for part in parts for line in part.read_bytes().splitlines()]
        other = path.read_bytes().splitlines()
        different = len(set(lines) ^ set(other))
        print(f"{name}: {len(lines):,} on Spark, {len(other):,} here, {different:,} differ")


class Clock:
    """Wall clock and CPU of stages that follow each other."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float, float]] = []
        self._now: tuple[str, float, float] | None = None

    def begin(self, stage: str) -> None:
        now = time.monotonic(), cpu_seconds()
        if self._now is not None:
            name, wall, cpu = self._now
            self.stages.append((name, now[0] - wall, now[1] - cpu))
        self._now = (stage, *now)
        print(f"{stage} …", flush=True)


def cpu_seconds() -> float:
    """Of this process and all below it, those that have ended included."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(fields[1])
        used[number] = sum(map(int, fields[11:15])) / _TICKS
    total, below = 0.0, {os.getpid()}
    while below:
        total += sum(used[number] for number in below)
        below = {number for number, parent in parents.items() if parent in below}
    return total


if __name__ == "__main__":
    main()
