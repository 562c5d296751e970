"""`dedup run` in one process and in two, beside datasketch: rows a second, CPU, peak memory.

Run: python benchmarks/measurements/collection_run.py COLLECTION [--only NAME...]

COLLECTION is what `collection_rows.py` has made. Each contender is a process of its own. datasketch
takes texts by `MinHash.update_batch` over the set of shingles and `MinHashLSH` at 0.8, with 128
permutations, drops what shares a bucket, and checks nothing. *Recall* is the share of the rows of
an exact resemblance of at least 0.8 to what they were made of that were dropped; *wrong* are the
rows below that, and the bases, that were.
The wall clock says little where the machine is busy; CPU says what it costs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_CONTENDERS = ("dedup, 1 process", "dedup, 2 processes", "datasketch")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--only", nargs="*", default=_CONTENDERS, choices=_CONTENDERS)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], options.collection, Path(options.worker[1]))
        return
    with options.collection.open() as file:
        made = [(row["kind"], row["resemblance"]) for row in map(json.loads, file)]
    print(f"{len(made):,} rows, {options.collection.stat().st_size / 1e6:,.0f} MB;", end=" ")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="dedup-measure-") as folder:
            kept = Path(folder) / "kept"
            start = time.monotonic()
            command = [sys.executable, __file__, str(options.collection), "--worker", name, kept]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            report(name, made, time.monotonic() - start, json.loads(done.stdout), kept)


def report(name: str, made: list, seconds: float, used: dict, kept: Path) -> None:
    stays = set(map(int, kept.read_text().split()))
    alike = [n for n, (_, resemblance) in enumerate(made) if (resemblance or 0) >= 0.8]
    other = [n for n, (kind, r) in enumerate(made) if kind == "base" or (r is not None and r < 0.8)]
    found = sum(number not in stays for number in alike)
    wrong = sum(number not in stays for number in other)
    cpu = used["self"] + used["children"]
    print(
        f"{name:20} {len(made) / seconds:7,.0f} rows/s wall, {len(made) / cpu:7,.0f} rows/s CPU"
        f" ({used['self']:.0f} s here, {used['children']:.0f} s in others),"
        f" peak {used['peak']:,.0f} MB (largest other {used['peak_other']:,.0f}),"
        f" {len(stays):,} kept, recall {found / len(alike):.4f}, wrong {wrong} of {len(other):,}",
        flush=True,
    )


def work(name: str, collection: Path, kept: Path) -> None:
    if name == "datasketch":
        datasketch(collection, kept)
    else:
        from dedup.cli import main as dedup

        out = kept.with_suffix(".jsonl")
        status = dedup(["run", str(collection), "-o", str(out), "--processes", name.split()[1]])
        if status:
            sys.exit(status)
        with out.open() as file:
            kept.write_text("\n".join(str(json.loads(line)["id"]) for line in file))
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    used = {
        "self": own.ru_utime + own.ru_stime,
        "children": others.ru_utime + others.ru_stime,
        "peak": own.ru_maxrss / 1024,
        "peak_other": others.ru_maxrss / 1024,
    }
    print(json.dumps(used))


def datasketch(collection: Path, kept: Path) -> None:
    from cascade import shingles
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=0.8, num_perm=128)
    numbers = []
    with collection.open() as file:
        for line in file:
            row = json.loads(line)
            sketch = MinHash(num_perm=128)
            sketch.update_batch([shingle.encode() for shingle in shingles(row["text"])])
            if not lsh.query(sketch):
                lsh.insert(row["id"], sketch)
                numbers.append(str(row["id"]))
    kept.write_text("\n".join(numbers))


if __name__ == "__main__":
    main()
