import json
from functools import partial

import numpy as np
import pytest

from benchmarks import index, measure, whole_index
from benchmarks.__main__ import _job_fingerprints, main
from benchmarks.contenders import CONTENDERS, LinearScan, OurBatch, OurSingles
from benchmarks.store import fill_store
from benchmarks.workload import random_workload, real_workload, scan
from dedup.index import PermutedTables
from tests.benchmarks.collecting import little_to_collect
from tests.dedup.index.in_files import small_parts

pytestmark = pytest.mark.slow


def call(function, *arguments):
    return function(*arguments)


@pytest.fixture
def small(monkeypatch):
    """Everything in this process, and little of it."""
    monkeypatch.setattr("benchmarks.index.in_child", call)
    monkeypatch.setattr("benchmarks.__main__.in_child", call)
    monkeypatch.setattr("benchmarks.whole_index.in_child", call)
    monkeypatch.setattr(whole_index, "_LOOKUPS", 50)
    monkeypatch.setattr(index, "_BATCH", 100)
    monkeypatch.setattr(index, "_LOOKUPS", 60)
    monkeypatch.setattr(index, "_LOOKUPS_FOR_MEMORY", 10_000)
    for module in (index, whole_index):
        monkeypatch.setattr(module, "timed", partial(measure.timed, runs=2))
    with little_to_collect():
        yield


def test_workload_has_neighbours_at_every_distance_and_one_beyond():
    workload = random_workload(2_000, 3, 1, n_lookups=100)
    assert [len(workload.truth(limit)) for limit in range(4)] == [40, 80, 120, 160]
    assert len(workload.checked) == 250


def test_workload_of_real_fingerprints_looks_up_what_it_does_not_index():
    fingerprints = np.arange(100, dtype=np.uint64).reshape(-1, 1)
    workload = real_workload(fingerprints, 3, 1)
    assert workload.new.ravel().tolist() == list(range(4, 100, 5))
    assert not set(workload.new.ravel()) & set(workload.fingerprints.ravel())


def test_scan_adds_the_bits_of_both_words():
    fingerprints = np.array([[0, 1], [1, 1], [0, 0]], np.uint64)
    numbers, bits = scan(fingerprints, np.zeros(2, np.uint64), 1)
    assert (numbers.tolist(), bits.tolist()) == ([0, 2], [1, 0])


@pytest.mark.parametrize("contender", [OurBatch, OurSingles, LinearScan])
def test_contenders_are_exact(contender, small):
    figures = index._contend(CONTENDERS.index(contender), 3_000, 1)
    assert (figures["recall"], figures["extras"]) == (1.0, 0)
    assert figures["find_new_seconds"]["median"] > 0
    assert ("batch_new_seconds" in figures) == (contender is not LinearScan)


@pytest.mark.parametrize("answer", [[], [(0, 0), (1, 9), (10**6, 1)]])
def test_wrong_answer_has_no_time(answer, small, monkeypatch):
    monkeypatch.setattr(PermutedTables, "find", lambda *_: answer)
    with pytest.raises(index.WrongAnswerError, match="must find the same as a linear scan, got"):
        index._contend(0, 3_000, 1)
    with pytest.raises(index.WrongAnswerError, match="4 tables on random, distance 0 must find"):
        index.layouts_on_random(64, 3, 3_000, 1)


def test_a_missing_peer_is_reported(monkeypatch, small):
    monkeypatch.setattr(index, "installed_version", lambda name: "missing")
    rows = list(index.compare_peers(1_000, 1))
    assert {row["missing"] for row in rows if "missing" in row} == {"simhash", "gaoya", "faiss-cpu"}
    assert [row["recall"] for row in rows if "recall" in row] == [1.0, 1.0, 1.0]


def test_all_sections_as_json(small, tmp_path, capsys):
    lines = [{"id": str(i), "text": " ".join(f"{i}w{j}" for j in range(60))} for i in range(3_100)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, lines)))
    arguments = ["index", "--documents", "3000", "--corpus", str(corpus), "--json"]
    assert main(arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["environment"]["versions"]["numpy"] == np.__version__
    (size,) = figures["our index by size"]
    assert size["single_adds"] == 3_000
    real = figures["layouts on real fingerprints"]
    assert [row["tables"] for row in real] == ["4", "10", "16", "20"]
    assert {row["documents"] for row in real} == {2_480}
    (memory,) = figures["memory of lookups"]
    assert memory["index_bytes_before"] == memory["index_bytes_after"]
    (rebuilt,) = figures["rebuild from a job's store"]
    assert rebuilt["documents"] == 3_000


def test_the_whole_index_is_measured_in_memory_and_in_files(small, capsys):
    with small_parts():
        assert main(["index", "--documents", "30000", "--only", "whole", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    in_memory, in_files = figures["the index of all stages"]
    # 8 for each of 17 keys, 44 in the permuted tables; so few documents share their directories.
    assert 180 < in_memory["index_bytes_per_document"] < 190
    assert in_memory["file_bytes"] == 0
    assert in_files["file_bytes"] > 160 * 30_000
    assert in_files["find_known_seconds"]["median"] > 0


def test_what_cannot_be_found_has_no_time(small, monkeypatch):
    monkeypatch.setattr(PermutedTables, "find", lambda *_: [])
    with pytest.raises(ValueError, match="document 0 must be found in all stages"):
        list(whole_index.by_size([1_000], 1))


def test_too_few_real_fingerprints(tmp_path, capsys, small):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "1", "text": "few"}\n')
    assert main(["index", "--documents", "1000", "--corpus", str(corpus)]) == 2
    assert "expected 3000 fingerprints or more, got 0" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["999", "1e3.5", "1000.5"])
def test_rejects_a_number_of_documents(count, capsys):
    with pytest.raises(SystemExit):
        main(["index", "--documents", count])
    assert "--documents" in capsys.readouterr().err


def test_timing_has_a_median_and_a_spread():
    timing = measure.timed(lambda: sum(range(1_000)), 10)
    assert 0 < timing.least <= timing.median <= timing.most


def test_fingerprints_of_a_job_are_those_in_its_store(tmp_path):
    fill_store(tmp_path / "crawl.sqlite", 3_000, 1)
    fingerprints = _job_fingerprints(tmp_path)
    assert fingerprints.shape == (3_000, 1)
    assert fingerprints[0, 0] == int.from_bytes(np.random.default_rng(1).bytes(8 * 3_000)[:8])
