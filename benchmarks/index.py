"""`python -m benchmarks index`: permuted tables beside their peers, and by size."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import CONTENDERS, Contender, OurBatch
from benchmarks.measure import (
    Spread,
    in_child,
    installed_version,
    peak_bytes,
    resident_bytes,
    timed,
)
from benchmarks.workload import (
    Fingerprints,
    Workload,
    as_column,
    as_ints,
    random_workload,
    real_workload,
)
from dedup.index import Layout, PermutedTables
from dedup.store import store_path

MAX_DISTANCE = 3
_BATCH = 100_000
_LOOKUPS = 20_000
_SINGLE_ADDS = 1_000_000
_LOOKUPS_FOR_MEMORY = 1_000_000

Figures = dict[str, Any]


class WrongAnswerError(ValueError):
    """An index that must be exact was not; there is no point in telling how fast."""


def compare_peers(n_documents: int, seed: int) -> Iterator[Figures]:
    """Each contender in a process of its own, with the same fingerprints and lookups."""
    for place, contender in enumerate(CONTENDERS):
        if contender.package and installed_version(contender.package) == "missing":
            yield {"index": contender.name, "missing": contender.package}
        else:
            yield in_child(_contend, place, n_documents, seed)


def _contend(place: int, n_documents: int, seed: int) -> Figures:
    contender = CONTENDERS[place](MAX_DISTANCE)
    workload = random_workload(n_documents, MAX_DISTANCE, seed, n_lookups=_LOOKUPS)
    prepared = contender.prepare(workload.fingerprints)
    before = resident_bytes()
    start = time.perf_counter()
    contender.build(workload.fingerprints, prepared)
    seconds = time.perf_counter() - start
    memory = resident_bytes() - before
    recall, extras = _check(contender, workload)
    new, known = (_time_singles(contender, queries) for queries in (workload.new, workload.known))
    return {
        "index": contender.name,
        "inserts_per_second": n_documents / seconds,
        "find_new_seconds": asdict(new),
        "find_known_seconds": asdict(known),
        **_time_batches(contender, workload),
        "bytes_per_document": memory / n_documents,
        "recall": recall,
        "extras": extras,
    }


def _time_singles(contender: Contender, queries: Fingerprints) -> Spread:
    prepared = contender.prepare(queries[: contender.n_lookups])
    return timed(partial(_each, contender.finder(), prepared), len(prepared))


def _each(find: Callable[[Any], Any], queries: Sequence[Any]) -> None:
    for query in queries:
        find(query)


def _time_batches(contender: Contender, workload: Workload) -> Figures:
    if contender.find_batch(workload.checked) is None:
        return {}
    figures = {}
    for name, queries in (("new", workload.new), ("known", workload.known)):
        batch = np.resize(queries, (_BATCH, queries.shape[1]))
        timing = timed(partial(contender.find_batch, batch), len(batch))
        figures[f"batch_{name}_seconds"] = asdict(timing)
    return figures


def _check(contender: Contender, workload: Workload) -> tuple[float, int]:
    """Recall and extras, single and in a batch, against the linear scan."""
    if not contender.is_exact:
        known = contender.prepare(workload.known[:250])
        find = contender.finder()
        n_found = sum(bool(contender.numbers(find(query))) for query in known)
        return n_found / len(known), 0
    truth = workload.truth(MAX_DISTANCE)
    find = contender.finder()
    queries = contender.prepare(workload.checked)
    answers = [contender.numbers(find(query)) for query in queries]
    found = {(index, number) for index, answer in enumerate(answers) for number in answer}
    _require_exact(contender.name, found, truth)
    batch = contender.find_batch(workload.checked)
    if batch is not None:
        _require_exact(contender.name, contender.batch_pairs(batch), truth)
    return len(found & truth) / len(truth), len(found - truth)


def _require_exact(name: str, found: set[tuple[int, int]], truth: set[tuple[int, int]]) -> None:
    if found != truth:
        raise WrongAnswerError(
            f"{name} must find the same as a linear scan, got {len(truth - found)} pairs too few "
            f"and {len(found - truth)} too many"
        )


def check_layouts(
    n_bits: int, max_distance: int, workload: Workload, data: str
) -> Iterator[Figures]:
    """Each standard layout at each distance against the linear scan, then its time and memory."""
    chosen = Layout.automatic(n_bits, max_distance, len(workload.fingerprints)).name
    for name, layout in Layout.standard(n_bits, max_distance).items():
        index = PermutedTables(n_bits, max_distance, layout=layout)
        index.add_many(as_column(workload.fingerprints), np.arange(len(workload.fingerprints)))
        n_pairs = [
            _check_distance(index, workload, limit, f"{name} tables on {data}")
            for limit in range(max_distance + 1)
        ]
        yield {
            "data": data,
            "documents": len(workload.fingerprints),
            "bits": n_bits,
            "max_distance": max_distance,
            "tables": name,
            "chosen": name == chosen,
            "pairs_within_distance": n_pairs,
            "recall": 1.0,
            "extras": 0,
            "candidates": layout.candidates(len(index)),
            "bytes_per_document": index.size_bytes / len(index),
            **_time_index(index, workload, n_lookups=_LOOKUPS // 10),
        }


def _check_distance(index: PermutedTables, workload: Workload, limit: int, name: str) -> int:
    truth = workload.truth(limit)
    singles = {
        (place, number)
        for place, query in enumerate(as_ints(workload.checked))
        for number, _ in index.find(query, limit)
    }
    _require_exact(f"{name}, distance {limit}", singles, truth)
    indices, numbers, _ = index.find_many(as_column(workload.checked), limit)
    batch = set(zip(indices.tolist(), numbers.tolist(), strict=True))
    _require_exact(f"{name}, distance {limit}, as a batch", batch, truth)
    return len(truth)


def _time_index(index: PermutedTables, workload: Workload, n_lookups: int) -> Figures:
    figures = {}
    for name, queries in (("new", workload.new), ("known", workload.known)):
        singles = as_ints(queries[:n_lookups])
        timing = timed(partial(_each, index.find, singles), len(singles))
        figures[f"find_{name}_seconds"] = asdict(timing)
        batch = as_column(np.resize(queries, (_BATCH, queries.shape[1])))
        timing = timed(partial(index.find_many, batch), len(batch))
        figures[f"batch_{name}_seconds"] = asdict(timing)
    return figures


def layouts_on_random(n_bits: int, max_distance: int, n_documents: int, seed: int) -> list[Figures]:
    """`check_layouts` on random fingerprints; for a child process."""
    workload = random_workload(n_documents, max_distance, seed, n_bits=n_bits, n_lookups=_LOOKUPS)
    return list(check_layouts(n_bits, max_distance, workload, "random"))


def layouts_on_real(fingerprints: Fingerprints, name: str, seed: int) -> list[Figures]:
    """`check_layouts` on the fingerprints of real documents."""
    workload = real_workload(fingerprints, MAX_DISTANCE, seed)
    return list(check_layouts(64 * fingerprints.shape[1], MAX_DISTANCE, workload, name))


def measure_size(n_documents: int, seed: int) -> Figures:
    """What an index of so many documents costs, built at once and then added to; for a child."""
    workload = random_workload(n_documents, MAX_DISTANCE, seed, n_lookups=_LOOKUPS)
    before = resident_bytes()
    index = PermutedTables(expected_documents=n_documents)
    start = time.perf_counter()
    index.add_many(as_column(workload.fingerprints), np.arange(n_documents))
    seconds = time.perf_counter() - start
    memory = resident_bytes() - before
    _check_distance(index, workload, MAX_DISTANCE, f"{n_documents} documents")
    return {
        "documents": n_documents,
        "tables": index.layout.name,
        "build_seconds": seconds,
        "bytes_per_document": memory / n_documents,
        **_time_index(index, workload, n_lookups=_LOOKUPS),
        **_add_singles(index, n_documents, seed),
        "after_adds": _time_index(index, workload, n_lookups=_LOOKUPS),
        "peak_process_bytes": peak_bytes(),
    }


def _add_singles(index: PermutedTables, n_documents: int, seed: int) -> Figures:
    count = min(_SINGLE_ADDS, n_documents)
    added = np.random.default_rng(seed + 1).integers(0, 2**64, count, dtype=np.uint64).tolist()
    clock, add = time.perf_counter, index.add
    worst, start = 0.0, clock()
    for number, fingerprint in enumerate(added, start=n_documents):
        begun = clock()
        add(fingerprint, number)
        worst = max(worst, clock() - begun)
    return {
        "single_adds": count,
        "single_adds_per_second": count / (clock() - start),
        "worst_add_seconds": worst,
    }


def memory_of_lookups(n_documents: int, seed: int) -> Figures:
    """Memory before and after a million lookups, ours and PyPI simhash's; for a child process."""
    workload = random_workload(n_documents, MAX_DISTANCE, seed, n_lookups=_LOOKUPS)
    contender = OurBatch(MAX_DISTANCE)
    contender.build(workload.fingerprints, [])
    find = contender.finder()
    find(0)
    before, size_before = resident_bytes(), contender.index.size_bytes
    rng = np.random.default_rng(seed + 2)
    for _ in range(_LOOKUPS_FOR_MEMORY // 10_000):
        for query in rng.integers(0, 2**64, 10_000, dtype=np.uint64).tolist():
            find(query)
    return {
        "lookups": _LOOKUPS_FOR_MEMORY,
        "index_bytes_before": size_before,
        "index_bytes_after": contender.index.size_bytes,
        "process_bytes_before": before,
        "process_bytes_after": resident_bytes(),
    }


def rebuild(n_documents: int, seed: int, folder: Path) -> Figures:
    """How long the index takes to be rebuilt from a job's store; for a child process."""
    from benchmarks.store import fill_store, load_index

    path = store_path(folder)
    size_bytes = fill_store(path, n_documents, seed)
    before = resident_bytes()
    start = time.perf_counter()
    detector = load_index(path)
    seconds = time.perf_counter() - start
    return {
        "documents": n_documents,
        "store_bytes": size_bytes,
        "rebuild_seconds": seconds,
        "bytes_per_document": detector.size_bytes / n_documents,
        "process_bytes_per_document": (resident_bytes() - before) / n_documents,
        "peak_process_bytes": peak_bytes(),
    }
