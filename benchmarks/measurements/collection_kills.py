"""`dedup run --job` killed twenty times, and then run to its end: is the output the same?

Run: python benchmarks/measurements/collection_kills.py COLLECTION [--kills 20] [--seed 1]

COLLECTION is what `collection_rows.py` has made; 40,000 rows last long enough. Each run is killed
with SIGKILL at a time drawn from the first 1 to 90% of what the whole takes, or sooner, where it
would end before. Prints how often it was killed, how far the store was each time, and whether the
outputs are those of a run that was left alone, byte for byte.
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
        began = time.monotonic()
        subprocess.run(command(options.collection, folder, "whole"), check=True)
        seconds = time.monotonic() - began
        killed, at = 0, []
        while killed < options.kills:
            with subprocess.Popen(command(options.collection, folder, "out")) as run:
                try:
                    run.wait(timeout=choose.uniform(0.01, 0.9) * seconds)
                    raise SystemExit(f"it ended after {killed} kills: the collection is too short")
                except subprocess.TimeoutExpired:
                    run.send_signal(signal.SIGKILL)
                killed += 1
            at.append(records(folder / "out-job"))
            seconds = min(seconds, max(seconds * 0.8, 3.0))
            if any((folder / f"out.{end}").exists() for end in ("jsonl", "d.jsonl")):
                raise SystemExit(f"an output is there after kill {killed}")
        subprocess.run(command(options.collection, folder, "out"), check=True)
        same = [
            (folder / f"out.{end}").read_bytes() == (folder / f"whole.{end}").read_bytes()
            for end in ("jsonl", "d.jsonl")
        ]
        print(f"{killed} kills, rows judged by then: {at}; unique rows equal: {same[0]},", end=" ")
        print(f"duplicates equal: {same[1]}")


def command(collection: Path, folder: Path, name: str) -> list[str]:
    outputs = ["-o", str(folder / f"{name}.jsonl"), "-d", str(folder / f"{name}.d.jsonl")]
    job = ["--job", str(folder / f"{name}-job"), "--processes", "1"]
    return [sys.executable, "-c", _CODE, "run", str(collection), *outputs, *job]


def records(job: Path) -> int:
    """How many rows the job has judged."""
    if not (job / STORE_NAME).exists():
        return 0
    try:
        store = SqliteStore(job / STORE_NAME)  # takes back what the killed run had not finished
    except StateError:
        return 0
    try:
        return store.count_records()
    finally:
        store.close()


if __name__ == "__main__":
    main()
