import json

import pytest

from benchmarks.__main__ import main
from benchmarks.evaluation.detectors import DETECTORS

pytestmark = pytest.mark.slow

WORDS = [f"word{number}" for number in range(80)]
TEXTS = {"a": WORDS, "b": [*WORDS, "more"], "c": WORDS[::-1]}


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = (json.dumps({"id": name, "text": " ".join(words)}) for name, words in TEXTS.items())
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize("with_pairs", [True, False])
def test_eval_prints_json_for_machines(with_pairs, corpus, tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\t0.9873\n")
    assert main(["eval", str(corpus), *([str(pairs)] * with_pairs), "--json"]) == 0
    account = json.loads(capsys.readouterr().out)
    assert account["documents"] == 3
    assert account["true_pairs"] == {"0.5": 1, "0.8": 1, "0.9": 1}
    (row,) = (row for row in account["methods"] if row["method"] == "default cascade")
    assert (row["precision"], row["recall_near"], row["dropped"]) == (1, 1, 1)


def test_eval_prints_a_table(corpus, capsys):
    assert main(["eval", str(corpus)]) == 0
    out, _ = capsys.readouterr()
    rows = [line.split("  ")[0] for line in out.splitlines()]
    assert rows[2:-1] == [*DETECTORS, "default cascade"]
    assert "3 documents; pairs: 1 ≥ 0.5; 1 ≥ 0.8; 1 ≥ 0.9" in out


def test_eval_reports_invalid_input(tmp_path, capsys):
    for arguments in (["nothere"], [str(tmp_path), "nothere"]):
        assert main(["eval", *arguments]) == 2
        assert capsys.readouterr().err == "benchmarks: nothere: file not found\n"
    assert main(["eval", str(tmp_path)]) == 2
    assert "expected documents, found none" in capsys.readouterr().err
