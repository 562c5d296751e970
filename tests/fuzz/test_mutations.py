"""Mutated seeds through the targets of the fuzzer: the same ones each time, without atheris."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.running import SEEDS, WORDS, check, targets

pytestmark = pytest.mark.slow

_MAX_BYTES = 4_096  # as of the fuzzer
_N_EXAMPLES = 300
_FEWER = {
    **dict.fromkeys(("commands", "job_bytes", "job_files", "job_values"), 100),  # whole jobs
    "pages": 150,
    "texts": 200,
}


def _words(name: str) -> list[bytes]:
    """The words of the fuzzer's dictionary: a string between quotation marks in each line."""
    path = WORDS / name
    lines = path.read_text(encoding="latin-1").splitlines() if path.exists() else []
    quoted = [line[line.index('"') :] for line in lines if '"' in line and line[0] != "#"]
    return [ast.literal_eval(f"b{each}") for each in quoted]


def _mutations(name: str) -> st.SearchStrategy[bytes]:
    """A seed in which parts are replaced by other bytes, or by words that occur in such files."""
    seeds = [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]
    new = st.binary(max_size=8)
    if words := _words(name):
        times = st.sampled_from([1, 1, 1, 3, 500])
        new = st.builds(lambda word, n: word * n, st.sampled_from(words), times) | new
    change = st.tuples(st.floats(0, 1), st.integers(0, 16), new)

    def mutated(seed: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
        for place, n_cut, part in changes:
            start = int(place * len(seed))
            seed = seed[:start] + part + seed[start + n_cut :]
        return seed[:_MAX_BYTES]

    return st.builds(mutated, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=8))


@pytest.mark.parametrize("name", targets())
def test_mutations(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = targets()[name](tmp_path)

    @settings(
        max_examples=_FEWER.get(name, _N_EXAMPLES),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(_mutations(name))
    def one(data: bytes) -> None:
        check(run, data, again=False)

    one()
