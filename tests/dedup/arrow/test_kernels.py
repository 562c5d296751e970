"""The kernels, joined in memory by plain dicts, keep the rows that one machine keeps."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import dedup  # noqa: E402 -- the next ones need pyarrow
from dedup.arrow.batches import GIVEN  # noqa: E402 -- after importorskip
from dedup.arrow.first_come import first_come  # noqa: E402 -- after importorskip
from dedup.arrow.pairing import NO_DISTANCE, PAIRED, paired  # noqa: E402 -- after importorskip
from dedup.arrow.rows import numbered, read  # noqa: E402 -- after importorskip
from dedup.arrow.scattering import scattered  # noqa: E402 -- after importorskip
from dedup.arrow.signing import SIGNED, signed  # noqa: E402 -- after importorskip
from dedup.arrow.sketching import sketch_many  # noqa: E402 -- after importorskip
from dedup.arrow.verifying import COMPARED, comparable, verified  # noqa: E402 -- after importorskip
from dedup.batch import Batch  # noqa: E402 -- after importorskip
from dedup.collection.columns import Columns  # noqa: E402 -- after importorskip
from dedup.collection.rules import Rules  # noqa: E402 -- after importorskip
from dedup.detectors import EXACT_STAGES, STAGES  # noqa: E402 -- after importorskip
from dedup.document import Document  # noqa: E402 -- after importorskip
from dedup.similarity import resemblance  # noqa: E402 -- after importorskip
from tests.dedup.arrow.families import planted  # noqa: E402 -- after importorskip


def batches(rows: list[dict[str, Any]], parts: int, *, within: bool) -> Iterator[Any]:
    """Rows as they come from so many partitions, in an order of their own."""
    for part in range(parts):
        found = [
            {**row, "number": row["id"], "group": repr(row["group"]) if within else None}
            for row in rows[part::parts]
        ]
        yield pa.Table.from_pylist(found, GIVEN).combine_chunks().to_batches()[0]


def pairs_of(keyed: list[dict[str, Any]], rules: Rules, parts: int, blocks: int) -> list[Any]:
    """The pairs that all partitions of buckets propose, each once; all buckets in `blocks`."""
    large = {} if blocks == 1 else {key: blocks for row in keyed for key in row["keys"]}
    signatures = pa.Table.from_pylist(keyed, SIGNED)
    found = pa.Table.from_batches(scattered(iter(signatures.to_batches(40)), parts, large))
    pairs: dict[tuple[int, int], dict[str, Any]] = {}
    for part in range(parts):
        block = found.filter(pa.compute.equal(found.column("part"), part))
        for row in paired(block, rules).to_pylist() if block.num_rows else ():
            known = pairs.setdefault((row["a"], row["b"]), row)
            known["stages"] |= row["stages"]
            known["distance"] = min(known["distance"], row["distance"])
    return list(pairs.values())


def kept(rows: list[dict[str, Any]], rules: Rules, parts: int, blocks: int) -> list[int]:
    def given_rows() -> Iterator[Any]:
        return batches(rows, parts, within=rules.within is not None)

    keyed = [row for batch in signed(given_rows(), rules) for row in batch.to_pylist()]
    first: dict[bytes, int] = {}
    for row in keyed:
        first[row["digest"]] = min(row["number"], first.get(row["digest"], row["number"]))
    firsts = [row for row in keyed if first[row["digest"]] == row["number"]]
    pairs = pairs_of(firsts, rules, parts, blocks)
    compared = pa.Table.from_batches(comparable(given_rows()), COMPARED)
    found = verified(pa.Table.from_pylist(pairs, PAIRED), compared, rules).to_pylist()
    found = [row for row in found if row["drops_later"]]
    earlier, later = (np.array([row[side] for row in found], np.int64) for side in ("a", "b"))
    dropped = set(first_come(earlier, later).tolist())
    dropped |= {row["number"] for row in keyed if first[row["digest"]] != row["number"]}
    return [row["id"] for row in rows if row["id"] not in dropped]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    parts=st.sampled_from([1, 7]),
    threshold=st.sampled_from([0.5, 0.8, 0.95]),
    within=st.sampled_from([None, "group"]),
    blocks=st.sampled_from([1, 3]),
)
def test_the_rows_of_one_machine_are_kept(
    seed: int, parts: int, threshold: float, within: str | None, blocks: int
) -> None:
    rows = planted(seed)
    rules = Rules(threshold=threshold, within=within)
    table = pa.Table.from_pylist(rows)
    marked = dedup.deduplicate(
        table, id="id", url="url", title="title", threshold=threshold, within=within
    )
    here = [row["id"] for row in marked.to_pylist() if row["duplicate_of"] is None]
    assert kept(rows, rules, parts, blocks) == here
    assert len(here) < len(rows)


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: pair[0] < pair[1])
    )
)
def test_first_come_is_the_serial_rule(pairs: list[tuple[int, int]]) -> None:
    stays: list[int] = []
    for number in range(31):
        if not any((other, number) in pairs for other in stays):
            stays.append(number)
    earlier, later = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    dropped = first_come(earlier, later).tolist()
    assert sorted(set(range(31)) - set(dropped)) == stays


@given(
    seed=st.integers(0, 10**6),
    parts=st.sampled_from([1, 3]),
    blocks=st.sampled_from([1, 2, 5]),
    threshold=st.sampled_from([0.5, 0.8]),
)
def test_pairs_are_those_of_buckets_that_can_be_near(
    seed: int, parts: int, blocks: int, threshold: float
) -> None:
    """Against a look at all pairs: none that is near is lost, and none is there without a key."""
    rules = Rules(threshold=threshold)
    keyed = random_rows(np.random.default_rng(seed), rules)
    found = {(row["a"], row["b"]): row for row in pairs_of(keyed, rules, parts, blocks)}
    for one, other in combinations(sorted(keyed, key=lambda row: row["number"]), 2):
        stages, distance = 0, NO_DISTANCE
        for key in set(one["keys"]) & set(other["keys"]):
            stages |= 1 << (key % 2**64 >> 61)
        apart = (one["fingerprint"] ^ other["fingerprint"]) % 2**64
        if stages & SIMHASH and apart.bit_count() <= 3:
            distance = apart.bit_count()
        else:
            stages &= ~SIMHASH
        pair = found.pop((one["number"], other["number"]), None)
        if resemblance(one["shingles"], other["shingles"]) >= threshold and stages:
            assert pair is not None
            assert (pair["stages"], pair["distance"]) == (stages, distance)
        elif pair is not None:
            assert pair["stages"] & ~stages == 0
            assert pair["stages"] & EXACT == stages & EXACT
        else:
            assert not stages & EXACT
    assert not found


SIMHASH = 1 << STAGES.index("simhash")
EXACT = (1 << len(EXACT_STAGES)) - 1


def random_rows(draws: np.random.Generator, rules: Rules) -> list[dict[str, Any]]:
    """Rows of one to a few hundred shingles, some around the sizes where parts of sketches change,
    in few buckets."""
    whole = np.unique(draws.integers(0, 2**64, 900, np.uint64))
    rows = []
    for number in draws.permutation(30).tolist():
        size = int(draws.choice([1, 49, 60, 390, 402, 420, 800, 810]))
        shingles = np.sort(
            whole[:size] if draws.random() < 0.5 else draws.choice(whole, size, False)
        )
        document = Document("", "")
        document.take(shingles=shingles)
        (sketches,) = sketch_many(Batch([document]), rules)
        keys = draws.integers(0, 3, 3) + (draws.integers(0, len(STAGES), 3) << 61)
        rows.append(
            {
                "number": number,
                "size": size,
                "fingerprint": int(draws.integers(0, 2)) << 62 | int(draws.integers(0, 16)),
                "sketches": sketches,
                "keys": np.unique(keys.view(np.int64)).tolist(),
                "shingles": shingles,
            }
        )
    return rows


def test_lines_keep_their_places_when_a_task_is_run_again() -> None:
    block = pa.RecordBatch.from_pylist(
        [{"input": 0, "file": "f", "block": 64, "value": f"line {n}"} for n in range(5)]
    )
    runs = [
        [row for batch in numbered(iter(parts), {(0, "f", 64): 100}) for row in batch.to_pylist()]
        for parts in ([block], [block.slice(0, 2), block.slice(2)])
    ]
    assert runs[0] == runs[1]
    assert [row["place"] for row in runs[0]] == [100, 101, 102, 103, 104]


# A line, and its reason for being no document, or else its name as JSON.
LINES = [
    ('{"id": 7, "text": "a"}', "7"),
    ('\ufeff{"id": "7", "text": "a"}', '"7"'),
    ('{"url": "http://a.example/", "text": ""}', '"http://a.example/"'),
    ('{"text": "\\ud800"}', None),  # half of a surrogate pair; the row's number names it
    ("[1]", "expected a JSON object, found list"),
    ("{", "invalid JSON: Expecting property name enclosed in double quotes, at character 2"),
    ('{"text": null}', "`text` is empty (null)"),
    (
        '{"txt": "a"}',
        "expected a field `text` or `html` that is a string; the nearest is `txt` (all: `txt`)",
    ),
    ('{"id": 8, "html": "<p>a"}', "8"),
]


def test_lines_are_read_or_reported() -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"place": place, "value": line} for place, (line, _) in enumerate(LINES)]
    )
    (found,) = read(iter([batch]), Columns(), Rules())
    told = [row["name"] if row["reason"] is None else row["reason"] for row in found.to_pylist()]
    assert told == [expected for _, expected in LINES]


def test_a_file_of_another_machine_is_copied_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which file systems Arrow knows is Arrow's; here one of this machine is called by its name."""
    from dedup.arrow import files

    (tmp_path / "a b.csv").write_text('id,text\n7,"one\ntwo"\n8\n')
    rows = {}
    for scheme in ("file:", "local://"):
        batch = pa.RecordBatch.from_pylist([{"input": 0, "file": f"{scheme}{tmp_path}/a b.csv"}])
        monkeypatch.setattr(files, "_SCHEMES", {"local": "file"})
        found = files.opened(iter([batch]), Columns(), Rules())
        rows[scheme] = [
            (row["index"], row["name"], row["text"], row["value"], row["reason"])
            for part in found
            for row in part.to_pylist()
        ]
    assert rows["file:"] == rows["local://"]
    line = '{"id": "7", "text": "one\\ntwo"}'
    assert rows["file:"] == [
        (0, '"7"', "one\ntwo", line, None),
        (1, None, None, None, "expected 2 fields, found 1"),
    ]
    batch = pa.RecordBatch.from_pylist([{"input": 0, "file": "nowhere:/a.csv"}])
    with pytest.raises(OSError, match=r"nowhere:/a\.csv: "):
        list(files.opened(iter([batch]), Columns(), Rules()))
