"""`dedup run --job` killed twenty times, and then run to its end: is the output the same?

Run: python benchmarks/measurements/collection_kills.py COLLECTION [--kills 20] [--seed 1]

COLLECTION is what `collection_rows.py` has made; 100,000 rows last long enough. Each run is killed
with SIGKILL up to a quarter of a second, as a seeded draw decides, after the store has grown by a
part of what the whole takes: so the kills spread over all of the run. Prints how often it was
killed, how many rows were judged each time, and whether the outputs are those of a run that was
left alone, byte for byte.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dedup.errors import StateError
from dedup.store import STORE_NAME
from dedup.store.sqlite import SqliteStore

_CODE = "import sys; from dedup.cli import main; sys.exit(main())"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="dedup-kills-") as name:
        folder = Path(name)
        subprocess.run(command(options.collection, folder, "whole"), check=True)
        step = size_bytes(folder / "whole-job") / (1.4 * options.kills)
        at: list[int] = []
        while len(at) < options.kills:
            until = size_bytes(folder / "out-job") + step
            with subprocess.Popen(command(options.collection, folder, "out")) as run:
                while run.poll() is None and size_bytes(folder / "out-job") < until:
                    time.sleep(0.01)
                time.sleep(choose.random() / 4)
                if run.poll() is not None:
                    raise SystemExit(f"it ended after {len(at)} kills: the collection is too short")
                run.send_signal(signal.SIGKILL)
            at.append(records(folder / "out-job"))
            if any((folder / f"out.{end}").exists() for end in ("jsonl", "d.jsonl")):
                raise SystemExit(f"an output is there after kill {len(at)}")
        subprocess.run(command(options.collection, folder, "out"), check=True)
        same = [
            (folder / f"out.{end}").read_bytes() == (folder / f"whole.{end}").read_bytes()
            for end in ("jsonl", "d.jsonl")
        ]
        print(f"{len(at)} kills, rows judged by then: {at}; unique rows equal: {same[0]},", end=" ")
        print(f"duplicates equal: {same[1]}")


def command(collection: Path, folder: Path, name: str) -> list[str]:
    outputs = ["-o", str(folder / f"{name}.jsonl"), "-d", str(folder / f"{name}.d.jsonl")]
    job = ["--job", str(folder / f"{name}-job"), "--processes", "1"]
    return [sys.executable, "-c", _CODE, "run", str(collection), *outputs, *job]


def size_bytes(job: Path) -> int:
    """Of the store with its journal."""
    return sum(each.stat().st_size for each in job.glob(f"{STORE_NAME}*"))


def records(job: Path) -> int:
    """How many rows the job has judged."""
    if not (job / STORE_NAME).exists():
        return 0
    try:
        store = SqliteStore(job / STORE_NAME)  # takes back what the killed run had not finished
    except StateError:
        return 0
    try:
        return store.decisions.count()
    finally:
        store.close()


if __name__ == "__main__":
    main()
