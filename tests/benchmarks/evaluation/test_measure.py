from types import SimpleNamespace

import pytest

from benchmarks.evaluation import CASCADE, Truth, measure, methods
from dedup import Document, Match
from dedup.detectors.proposals import Proposals

pytestmark = pytest.mark.slow


class Scripted:
    """Answers for each document, by its id, with the original that it is told to, if kept."""

    stage, scheme, size_bytes = "scripted", {}, 120

    def __init__(self, answers):
        self.answers, self.numbers = answers, {}

    def find(self, document):
        number = self.numbers.get(self.answers.get(document.id))
        return None if number is None else Match(number, self.stage)

    def propose(self, batch, is_asked, is_candidate):
        return Proposals(len(batch), is_open=is_asked)

    def signature(self, document):
        return document.id.encode()

    def add(self, document, number):
        self.numbers[document.id] = number

    def add_many(self, batch, places, numbers):
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            self.add(batch.documents[place], number)

    def load(self, numbers, signatures):
        self.numbers |= zip([each.decode() for each in signatures], numbers.tolist(), strict=True)


def figures(answers, pairs, count):
    documents = [Document(str(place), "text") for place in range(count)]
    method = lambda originals: [Scripted(answers)]  # noqa: E731 -- a method is any such callable
    return measure("scripted", method, documents, Truth(pairs, n_documents=count))


CASES = [
    # Answers, pairs of the truth, what is expected, why.
    ({"1": "0"}, {(0, 1): 0.9}, {"precision": 1, "recall_near": 1, "f1": 1}, "found"),
    ({"1": "0"}, {(0, 1): 0.5}, {"precision": 1, "recall_near": None}, "0.5 is no mistake"),
    ({"1": "0"}, {}, {"precision": 0, "unique_dropped": 1, "unique_dropped_share": 1 / 4}, "wrong"),
    ({}, {(0, 1): 0.8}, {"precision": None, "recall_near": 0, "caught_near": 0}, "missed"),
    ({}, {(0, 1): 0.8}, {"recall_very_near": None, "f1": None}, "nothing to count"),
    (
        {"1": "0", "2": "0"},
        {(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.9},
        {"recall_near": 1, "caught_near": 1},
        "a pair of two copies is found by their common original",
    ),
    (
        {"1": "0", "2": "3"},
        {(0, 1): 0.9, (1, 2): 0.9},
        {"recall_near": 1 / 2, "caught_near": 1 / 2},
        "of two, one is missed",
    ),
    (
        {"2": "0"},
        {(1, 2): 0.9},
        {"precision": 0, "recall_near": 0, "caught_near": 1, "unique_dropped": 0},
        "flagged for the wrong original: not found, but nothing was lost",
    ),
    (
        {"1": "0", "2": "1"},
        {(0, 1): 0.8, (1, 2): 0.8},
        {"recall_near": 1, "dropped": 1, "caught_near": 1 / 2},
        "in the stream, an original that was dropped is found no more",
    ),
]


@pytest.mark.parametrize(("answers", "pairs", "expected", "why"), CASES)
def test_figures(answers, pairs, expected, why):
    found = figures(answers, pairs, 4)
    assert {name: getattr(found, name) for name in expected} == expected, why


def test_memory_is_that_of_the_documents_kept():
    assert figures({"1": "0"}, {(0, 1): 0.9}, 4).bytes_per_document == 120 / 3


def test_each_detector_and_the_cascade_are_measured():
    made = {name: method(SimpleNamespace) for name, method in methods().items()}
    assert {"text", "sentences", "simhash", "minhash"} < made.keys()
    assert [detector.stage for detector in made[CASCADE]] == [
        "body",
        "text",
        "sentences",
        "simhash",
        "minhash",
    ]
    assert all(len(detectors) == 1 for name, detectors in made.items() if name != CASCADE)
