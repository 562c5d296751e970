import json

import pytest

from benchmarks.evaluation import read_corpus
from benchmarks.measurements.judged_pairs import (
    Pair,
    class_of_dropped,
    class_of_kept,
    main,
    read_judged,
)
from dedup import DedupConfig, Document

pytestmark = pytest.mark.slow

WORDS = [f"{chr(97 + number % 26)}word{number}" for number in range(200)]


def with_every(step, change):
    """The text, with each word at a multiple of `step` changed."""
    return " ".join(change(w) if n % step == 0 else w for n, w in enumerate(WORDS))


def pair_of(second, first=None, grade=3):
    first = " ".join(WORDS) if first is None else first
    return Pair(Document("first", first), Document("second", second), grade)


HALVES = " ".join(WORDS[100:] + WORDS[:100])


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (pair_of("one two three four", "one two three five"), "short"),
        (pair_of(HALVES), "missed"),  # had nobody proposed it
        (pair_of(with_every(9, lambda w: w[:2] + "\u0301" + w[2:])), "marks"),
        (pair_of(with_every(9, lambda w: w[:2] + "\u00ad" + w[2:])), "invisible characters"),
        (pair_of(with_every(9, lambda w: w[:2] + "\u2019" + w[2:])), "apostrophes"),
        (pair_of(with_every(9, lambda w: w[:2] + "-\n" + w[2:])), "hyphens"),
        (pair_of(with_every(9, lambda w: w[:2] + " " + w[2:])), "word breaks"),
        (pair_of(" ".join(reversed(WORDS))), "order"),
        (pair_of(" ".join(WORDS[:120])), "held"),
        (pair_of(with_every(12, lambda w: "another")), "threshold"),
        (pair_of(with_every(3, lambda w: "another")), "other words"),
    ],
)
def test_a_pair_that_was_not_found_has_the_class_that_explains_it(pair, expected):
    assert class_of_kept(pair, DedupConfig()) == expected


def test_wrong_drop_differs_from_doubtful_judgement():
    assert class_of_dropped(pair_of("One  text\n", "One text")) == "equal text"
    assert class_of_dropped(pair_of(HALVES)) == "threshold"


@pytest.fixture
def files(tmp_path):
    corpus, judged = tmp_path / "corpus.jsonl", tmp_path / "judged.tsv"
    texts = {
        "a": " ".join(WORDS),
        "copy": HALVES,
        "edited": with_every(18, lambda w: "another"),
        "other": with_every(3, lambda w: "another"),
    }
    rows = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    corpus.write_text("\n".join(rows))
    judged.write_text("a\tcopy\t0\na\tedited\t3\na\tother\t0\ncopy\ta\t3\n")
    return corpus, judged


def test_the_curve_and_the_errors_of_judged_pairs(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["judged_pairs.py", *map(str, files), "--list"])
    main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["4", "pairs:", "grades", "{0:", "2,", "3:", "2}"] in lines
    assert ["0.80", "2", "0.500", "0.500", "0.500", "0"] in lines
    assert ["0.60", "3", "0.667", "1.000", "1.000", "0"] in lines
    assert ["1", "dropped:", "threshold"] in lines
    assert ["1", "not", "found:", "threshold"] in lines
    assert ["a", "edited", "grade", "3,", "resemblance"] in [line[:5] for line in lines]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tnobody\t1", "line 1: unknown id 'nobody'"),
        ("a\tcopy\tyes", "line 1: expected id, id and a whole grade"),
        ("a\tcopy", "line 1: expected id, id and a whole grade"),
    ],
)
def test_line_without_judgement_is_refused_with_its_place(files, line, message):
    corpus, judged = files
    judged.write_text(line)
    with pytest.raises(SystemExit, match=message):
        list(read_judged(judged, read_corpus(corpus)))
