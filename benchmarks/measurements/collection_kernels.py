"""What the kernels of `dedup.arrow` cost: CPU a row and a pair, and bytes that are shuffled.

Run: python benchmarks/measurements/collection_kernels.py COLLECTION [--rows 5000]

COLLECTION is what `collection_rows.py` has made. From these figures docs/scaling.md computes what
larger collections cost. Pairs are those of all buckets of up to 1,000 rows.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from dedup.arrow.batches import GIVEN
from dedup.arrow.pairing import paired
from dedup.arrow.signing import signed
from dedup.arrow.verifying import comparable, verified
from dedup.collection.rules import Rules


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--rows", type=int, default=5_000)
    options = parser.parse_args()
    with options.collection.open() as file:
        lines = [json.loads(line) for line in islice(file, options.rows)]
    rules = Rules()
    rows = [{"number": n, "text": each["text"]} for n, each in enumerate(lines)]
    given = pa.Table.from_pylist(rows, GIVEN).combine_chunks().to_batches()
    keyed = measured("signed", lambda: signed(iter(given), rules), len(rows))
    shown = measured("comparable", lambda: comparable(iter(given)), len(rows))
    first: dict[bytes, int] = {}
    for row in keyed:
        first.setdefault(row["digest"], row["number"])
    buckets = defaultdict(list)
    for row in keyed:
        if first[row["digest"]] == row["number"]:
            for key in row["keys"]:
                buckets[key].append(row)
    print(f"{sum(map(len, buckets.values())) / len(first):.1f} keys a row that goes on;", end=" ")
    print(f"{len(first) / len(rows):.2f} of the rows go on")
    buckets = {key: found for key, found in buckets.items() if 1 < len(found) <= 1_000}
    columns = {
        "key": list(buckets),
        "numbers": [[row["number"] for row in found] for found in buckets.values()],
        "sizes": [[row["size"] for row in found] for found in buckets.values()],
        "fingerprints": [[row["fingerprint"] for row in found] for found in buckets.values()],
    }
    batch = pa.RecordBatch.from_pydict(columns)
    found = measured("paired", lambda: paired(iter([batch]), rules), len(first))
    pairs = {(row["a"], row["b"]): row for row in found}
    print(f"{len(pairs) / len(rows):.2f} pairs a row")
    by_number = {row["number"]: row for row in shown}
    size = sum(len(row["shingles"]) for row in shown) / len(shown)
    print(f"{size:,.0f} bytes of shingles a row")
    joined = [
        {
            **row,
            **{f"a_{name}": value for name, value in by_number[a].items()},
            **{f"b_{name}": value for name, value in by_number[b].items()},
        }
        for (a, b), row in pairs.items()
    ]
    table = pa.RecordBatch.from_pylist(joined)
    measured("verified", lambda: verified(iter([table]), rules), len(joined))


def measured(name: str, work: Callable[[], Iterator[pa.RecordBatch]], count: int) -> list[dict]:
    began = time.process_time()
    batches = list(work())
    seconds = time.process_time() - began
    print(f"{name}: {1e6 * seconds / count:,.0f} µs of CPU each, of {count:,}")
    return [row for batch in batches for row in batch.to_pylist()]


if __name__ == "__main__":
    main()
