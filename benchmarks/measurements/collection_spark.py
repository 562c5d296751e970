"""`dedup run --engine spark` on this machine: time, shuffles, disk by stage; equal to one process?

Run: python benchmarks/measurements/collection_spark.py COLLECTION [--rows 200000] [--compare]

With `--rows`, COLLECTION is made first if it is not there, the same for the same number: texts of
1.1 kB, of which every tenth is a copy of an earlier one (half of them equal but for case and white
space, half with 1 to 5% of the words replaced), and among them

    2,000 times one text, on as many pages of one host;
    5,000 texts that share their longest sentence and nothing else;
    5,000 texts of which a third is one token, so that their simhashes agree.

Of fewer than 100,000 rows these are fewer, too. CPU is that of the JVM and of all processes of
Python, by Linux's /proc; memory the most they held at once; disk the most that Spark's own folder
held; shuffled bytes are those that tasks wrote, by Spark's event log. With `--compare` the same is
done in one process, and the rows that stay and the originals are compared. `--partitions` sets
`spark.sql.shuffle.partitions`.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from dedup.cli import main as dedup
from dedup.collection.columns import Columns
from dedup.collection.rules import Rules

_TICKS = os.sysconf("SC_CLK_TCK")
_WORDS = 180
_VOCABULARY = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--scratch", type=Path, help="for Spark's files and the outputs")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.rows and not options.collection.exists():
        with options.collection.open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows(options.rows))
    folder = Path(tempfile.mkdtemp(prefix="dedup-spark-", dir=options.scratch))
    try:
        measure(options, folder)
        if options.compare:
            compare(options.collection, folder)
    finally:
        shutil.rmtree(folder)


def measure(options: argparse.Namespace, folder: Path) -> None:
    (folder / "events").mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": str(options.partitions),
    }
    given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{given} pyspark-shell"
    from dedup.spark.engine import Engine
    from dedup.spark.files import Outputs, run
    from dedup.spark.reading import read_sources
    from dedup.spark.session import open_session

    clock = Clock(folder / "local")
    session = open_session(options.master)
    try:
        rules = Rules()
        clock.begin("places")
        found = read_sources(session, [str(options.collection)], Columns(), rules)
        clock.begin("reading")
        outputs = Outputs(unique=str(folder / "unique"), duplicates=str(folder / "duplicates"))
        account = run(found, Engine(rules=rules, on_stage=clock.begin), outputs)
        clock.begin("end")
    finally:
        session.stop()
        clock.stop()
    dropped = sum(account.duplicates.values())
    print(f"{account.rows:,} rows, {account.rows - dropped:,} stay; load {os.getloadavg()[0]:.1f}")
    shuffled = shuffled_bytes(folder / "events", [began for _, began, *_ in clock.stages])
    lines = [("stage", "wall, s", "CPU, s", "disk, MB", "memory, MB", "shuffled, bytes a row")]
    for (name, _, wall, cpu, disk, memory), size in zip(clock.stages, shuffled, strict=True):
        each = (wall, cpu, disk / 1e6, memory / 1e6, size / account.rows)
        lines.append((name, *(f"{value:,.0f}" for value in each)))
    wall, cpu = (sum(each[place] for each in clock.stages) for place in (2, 3))
    disk, memory = (max(each[place] for each in clock.stages) / 1e6 for place in (4, 5))
    each = (wall, cpu, disk, memory, sum(shuffled) / account.rows)
    lines.append(("all", *(f"{value:,.0f}" for value in each)))
    for line in lines:
        print(f"{line[0]:20}", *(f"{cell:>22}" for cell in line[1:]))


def rows(count: int) -> Iterator[dict[str, object]]:
    choose = random.Random(count)
    words = [f"{choose.choice('bcdfghklmnprst')}{number:x}" for number in range(_VOCABULARY)]
    weights = list(accumulate(1 / (rank + 20) for rank in range(_VOCABULARY)))

    def said(length: int) -> list[str]:
        return choose.choices(words, cum_weights=weights, k=length)

    repeated, shared = " ".join(said(_WORDS)), " ".join(said(50))
    scale = min(count / 100_000, 1)
    kinds = ["often"] * int(2_000 * scale) + ["shared", "token"] * int(5_000 * scale)
    places = dict(zip(choose.sample(range(count), len(kinds)), kinds, strict=True))
    earlier = [said(_WORDS)]
    for number in range(count):
        row: dict[str, object] = {"id": number}
        kind = places.get(number)
        if kind == "often":
            url = f"http://a.example/{number}.html"
            yield {**row, "kind": kind, "text": repeated, "url": url, "title": "One"}
        elif kind == "shared":
            own = [" ".join(said(10)) for _ in range(13)]
            yield {**row, "kind": kind, "text": ". ".join([*own, shared])}
        elif kind == "token":
            own = said(_WORDS * 2 // 3)
            yield {**row, "kind": kind, "text": " ".join(own + ["etc"] * (_WORDS // 3))}
        elif choose.random() < 0.1:
            text = list(choose.choice(earlier))
            is_equal = choose.random() < 0.5
            if not is_equal:
                for place in choose.sample(range(_WORDS), choose.randint(2, 9)):
                    text[place] = f"x{choose.randrange(10**6)}"
            joined = "  ".join(text).upper() if is_equal else " ".join(text)
            yield {**row, "kind": "copy" if is_equal else "near", "text": joined}
        else:
            text = said(choose.randint(_WORDS // 2, _WORDS * 3 // 2))
            if len(earlier) < 5_000:
                earlier.append(text[:_WORDS] + said(max(_WORDS - len(text), 0)))
                text = earlier[-1]
            yield {**row, "kind": "own", "text": " ".join(text)}


def shuffled_bytes(events: Path, begins: list[float]) -> list[int]:
    """What tasks wrote for others to read, by stage of the run."""
    sizes = [0] * len(begins)
    for file in events.rglob("events_*"):
        for line in file.open():
            if '"SparkListenerTaskEnd"' not in line:
                continue
            event = json.loads(line)
            written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
            launched = event["Task Info"]["Launch Time"] / 1000
            at = max((n for n, began in enumerate(begins) if began <= launched), default=0)
            sizes[at] += written.get("Shuffle Bytes Written", 0)
    return sizes


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
        is_same = "equal" if lines == other else f"{different:,} differ"
        print(f"{name}: {len(lines):,} on Spark, {len(other):,} here: {is_same}")


class Clock:
    """Wall clock, CPU, and the most of disk and memory, of stages that follow each other."""

    def __init__(self, scratch: Path) -> None:
        self.stages: list[tuple[str, float, float, float, int, int]] = []
        self._now: tuple[str, float, float] | None = None
        self._scratch = scratch
        self._disk = self._memory = 0
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()

    def begin(self, stage: str) -> None:
        now = time.time(), usage()[0]
        if self._now is not None:
            name, wall, cpu = self._now
            most = self._disk, self._memory
            self.stages.append((name, wall, now[0] - wall, now[1] - cpu, *most))
        self._now = (stage, *now)
        self._disk = self._memory = 0
        print(f"{stage} …", flush=True)

    def stop(self) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(1):
            self._memory = max(self._memory, usage()[1])
            size = 0
            for place, _, names in os.walk(self._scratch):
                for name in names:
                    try:
                        size += Path(place, name).stat().st_size
                    except OSError:
                        continue  # it was removed meanwhile
            self._disk = max(self._disk, size)


def usage() -> tuple[float, int]:
    """Seconds of CPU and memory of this process and all below it; CPU of ended ones, too."""
    parents, used, held = {}, {}, {}
    page = os.sysconf("SC_PAGE_SIZE")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(fields[1])
        used[number] = sum(map(int, fields[11:15])) / _TICKS
        held[number] = int(fields[21]) * page
    cpu, memory, below = 0.0, 0, {os.getpid()}
    while below:
        cpu += sum(used[number] for number in below)
        memory += sum(held[number] for number in below)
        below = {number for number, parent in parents.items() if parent in below}
    return cpu, memory


if __name__ == "__main__":
    main()
