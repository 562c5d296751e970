"""What the kernels of `dedup.arrow` cost: CPU a row and a pair, and bytes that are shuffled.

Run: python benchmarks/measurements/collection_kernels.py COLLECTION [--rows 20000] [--parts 4]

COLLECTION is what `collection_rows.py` or `collection_spark.py` has made. From these figures
docs/scaling.md computes what larger collections cost.
"""

import argparse
import json
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from dedup.arrow.batches import GIVEN
from dedup.arrow.pairing import PAIRED, paired
from dedup.arrow.scattering import scattered
from dedup.arrow.signing import signed
from dedup.arrow.sketching import RowSketches
from dedup.arrow.verifying import comparable, verified
from dedup.collection.rules import Rules


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--parts", type=int, default=4)
    options = parser.parse_args()
    with options.collection.open() as file:
        lines = [json.loads(line) for line in islice(file, options.rows)]
    rules = Rules()
    rows = [
        {"number": n, **{name: each.get(name) for name in ("text", "url", "title")}}
        for n, each in enumerate(lines)
    ]
    given = pa.Table.from_pylist(rows, GIVEN).combine_chunks().to_batches()
    keyed = measured("signed", len(rows), lambda: joined(signed(iter(given), rules)))
    digests = keyed.column("digest").to_pylist()
    places = sorted({digest: n for n, digest in reversed(list(enumerate(digests)))}.values())
    firsts = keyed.take(places)
    keys = sum(map(len, firsts.column("keys").to_pylist())) / len(places)
    print(f"{keys:.1f} keys a row that goes on; {len(places) / len(rows):.2f} of the rows go on")
    blocks = measured(
        "scattered",
        len(places),
        lambda: joined(scattered(iter(firsts.to_batches()), options.parts, {})),
    )
    print(f"{blocks.nbytes / len(places):,.0f} bytes a row, for {options.parts} partitions")
    pairs = measured("paired", len(places), lambda: proposed(blocks, rules))
    print(f"{pairs.num_rows / len(rows):.2f} pairs a row")
    wanted = {*pairs.column("a").to_pylist(), *pairs.column("b").to_pylist()}
    some = pa.Table.from_batches(given).take(sorted(wanted)).combine_chunks().to_batches()
    rows_compared = measured("comparable", len(wanted), lambda: joined(comparable(iter(some))))
    print(f"{rows_compared.nbytes / len(wanted):,.0f} bytes a row in a pair")
    measured("verified", pairs.num_rows, lambda: verified(pairs, rows_compared, rules))


def proposed(blocks: pa.Table, rules: Rules) -> pa.Table:
    """The pairs of all partitions, each once; tells how many of them sketches rule out."""
    asked, left = 0, 0
    compare = RowSketches.may_resemble

    def counted(sketches: RowSketches, first: Any, second: Any) -> Any:
        nonlocal asked, left
        found = compare(sketches, first, second)
        asked, left = asked + len(found), left + int(found.sum())
        return found

    found: dict[tuple[int, int], dict[str, Any]] = {}
    with patch.object(RowSketches, "may_resemble", counted):
        for part in sorted(set(blocks.column("part").to_pylist())):
            here = blocks.filter(pa.compute.equal(blocks.column("part"), part))
            for row in paired(here, rules).to_pylist():
                known = found.setdefault((row["a"], row["b"]), row)
                known["stages"] |= row["stages"]
    print(f"sketches rule out {1 - left / max(asked, 1):.1%} of {asked:,} pairs in buckets")
    return pa.Table.from_pylist(list(found.values()), PAIRED)


def joined(batches: Any) -> pa.Table:
    return pa.Table.from_batches(list(batches))


def measured(name: str, count: int, work: Callable[[], pa.Table]) -> pa.Table:
    began = time.process_time()
    table = work()
    seconds = time.process_time() - began
    print(f"{name}: {1e6 * seconds / max(count, 1):,.0f} µs of CPU each, of {count:,}")
    return table


if __name__ == "__main__":
    main()
