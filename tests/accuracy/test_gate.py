"""The gate: no figure of the detectors may fall below the floors in `floors.toml`."""

import hashlib
import json
import tarfile
import tomllib
import zlib
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.evaluation import exact_truth, measure, methods, read_corpus, read_pairs

pytestmark = pytest.mark.slow

FLOORS = tomllib.loads(Path(__file__).with_name("floors.toml").read_text(encoding="utf-8"))
DATA = Path(__file__).parents[3] / "shared" / "data"


def failures(gate, documents, truth):
    """What is below its floor, or above its ceiling, a line each."""
    found = []
    floors, ceilings = gate.get("floors", {}), gate.get("ceilings", {})
    for name in floors.keys() | ceilings.keys():
        figures = asdict(measure(name, methods()[name], documents, truth))
        for figure, floor in floors.get(name, {}).items():
            if figures[figure] is None or figures[figure] < floor:
                found.append(f"{name}: {figure} is {figures[figure]}, its floor {floor}")
        for figure, ceiling in ceilings.get(name, {}).items():
            if figures[figure] > ceiling:
                found.append(f"{name}: {figure} is {figures[figure]}, its ceiling {ceiling}")
    return found


def checked_file(gate, name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no development data: {name} belongs in shared/data beside the repository")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    assert digest == gate["sha256"][name], f"{name} is not the file that the floors are for"
    return path


@pytest.mark.parametrize("name", ["bbc", "laws", "legal"])
def test_no_figure_is_below_its_floor(name):
    gate = FLOORS[name]
    documents = read_corpus(checked_file(gate, gate["corpus"]))
    truth = read_pairs(checked_file(gate, gate["pairs"]), documents)
    assert failures(gate, documents, truth) == []


def test_no_figure_is_below_its_floor_on_pages(tmp_path):
    gate = FLOORS["kafka"]
    with tarfile.open(checked_file(gate, gate["corpus"])) as archive:
        for member in archive:
            _, _, page = member.name.partition("/")
            if member.name.endswith(".html") and zlib.crc32(page.encode()) % 3 == 0:
                archive.extract(member, tmp_path, filter="data")
    documents = read_corpus(tmp_path)
    assert len({document.id[:2] for document in documents}) == 3
    assert failures(gate, documents, exact_truth(documents)) == []


def test_no_figure_is_below_its_floor_on_the_projects_own_corpus(own_corpus):
    rows = [[document.id, document.text] for document in own_corpus]
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    assert digest == FLOORS["own"]["sha256"], "the corpus is not the one that the floors are for"
    assert failures(FLOORS["own"], own_corpus, exact_truth(own_corpus)) == []


@pytest.mark.parametrize(
    ("floor", "ceiling", "expected"),
    [
        (0.7, 3, []),
        (1.1, 3, ["text: precision is 1.0, its floor 1.1"]),
        (0.7, -1, ["text: unique_dropped is 0, its ceiling -1"]),
    ],
)
def test_gate_names_what_failed(floor, ceiling, expected, own_corpus):
    gate = {
        "floors": {"text": {"precision": floor}},
        "ceilings": {"text": {"unique_dropped": ceiling}},
    }
    assert failures(gate, own_corpus, exact_truth(own_corpus)) == expected
