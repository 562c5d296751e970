"""Measures what `dedup run --passages` takes, on rows whose passages are known.

Run: python benchmarks/measurements/collection_passages.py FOLDER --rows 100000

Writes rows of some 1 kB of random words to FOLDER. Each tenth has a passage of 50 to 100 words out
of a pool of one for each hundred rows, in another case and with other spaces. Checks that exactly
these passages are cut, all but the first time, and prints the CPU seconds, the time and the peak
memory of `dedup run --stages text --processes 1` without and with `--passages`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "nu", "pe") for b in "bcdfghjk" for c in
          ("ra", "se", "ti", "vo", "zu", "nel", "dor", "fim")]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    source, expected = options.folder / "rows.jsonl", options.folder / "expected.jsonl"
    with source.open("w") as file, expected.open("w") as cut:
        for number, (text, rest) in enumerate(rows(options.rows)):
            file.write(json.dumps({"id": number, "text": text}) + "\n")
            cut.write(json.dumps({"id": number, "text": rest}) + "\n")
    out = options.folder / "out.jsonl"
    for more in ([], ["--passages", "50"]):
        took = run(source, out, more)
        is_right = out.read_bytes() == (expected if more else source).read_bytes()
        print(" ".join(more) or "without", *took, "as expected" if is_right else "WRONG")


def rows(count: int) -> Iterator[tuple[str, str]]:
    """Yield texts, and each without the passages that stand before."""
    choose = random.Random(1)
    pool = [_text(choose, choose.randrange(50, 101)) for _ in range(max(1, count // 100))]
    seen: set[int] = set()
    for number in range(count):
        before, after = _text(choose, 75), _text(choose, 75)
        if number % 10:
            yield (f"{before} {after}",) * 2
            continue
        at = choose.randrange(len(pool))
        shown = pool[at].upper().replace(" ", "  ") if at in seen else pool[at]
        around = f"{before} a{number}. ", f"b{number} {after}"  # no word beside it is repeated
        text = f"{around[0]}{shown}. {around[1]}"
        yield text, "".join(around) if at in seen else text
        seen.add(at)


def _text(choose: random.Random, words: int) -> str:
    return " ".join(choose.choices(_WORDS, k=words))


def run(source: Path, out: Path, more: list[str]) -> list[str]:
    command = [sys.executable, "-m", "dedup.cli", "run", str(source), "-o", str(out)]
    options = ["--overwrite", "--stages", "text", "--processes", "1", *more]
    began = time.monotonic()
    child = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return [
        f"{seconds:.1f} CPU seconds",
        f"{time.monotonic() - began:.1f} s",
        f"{usage.ru_maxrss / 1024:.0f} MB",
    ]


if __name__ == "__main__":
    main()
