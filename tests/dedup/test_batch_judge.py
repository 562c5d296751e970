"""Verdicts of batches are those of one document after the other, also where limits bind."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup import DedupConfig, Deduplicator, Document, Match
from dedup.batch import Batch
from dedup.batch_judge import BatchJudge
from dedup.detectors import proposals

WORDS = [f"w{number}" for number in range(400)]
SENTENCE = " ".join(WORDS[:40]) + ". "


def crowd(seed: int, count: int) -> list[Document]:
    """Few texts, many times: copies, edits, boilerplate, short ones, names and keys that differ."""
    choose = random.Random(seed)
    bases = [" ".join(choose.choices(WORDS, k=choose.choice([5, 60, 90]))) for _ in range(4)]
    found = []
    for number in range(count):
        words = choose.choice(bases).split()
        for _ in range(choose.choice([0, 0, 1, 2, 30])):
            words[choose.randrange(len(words))] = choose.choice(WORDS)
        text = choose.choice(["", SENTENCE]) + " ".join(words)
        url = choose.choice([None, f"https://a.example/{number}", f"https://b.example/{number}"])
        found.append(
            Document(
                str(number),
                choose.choice([text, text, text.upper(), text.replace(" ", "  ")]),
                url=url,
                title=choose.choice(["", "one", "two"]),
                heading=choose.choice(["", "one"]),
                body=choose.choice([None, text.encode()]),
                source=choose.choice(["given", "given", "page"]),
                key=choose.choice(["", "", "k"]),
            )
        )
    return found


def judged(
    documents: Sequence[Document], batch: int, config: DedupConfig, *, has_sketches: bool
) -> tuple[list[Match | None], int]:
    deduplicator = Deduplicator(config=config, has_sketches=has_sketches)
    found = []
    for start in range(0, len(documents), batch):
        part = Batch(documents[start : start + batch])
        found += [verdict.match for verdict in deduplicator.process_batch(part)]
    return found, deduplicator.limit_reached


@settings(max_examples=12)
@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 7, 64, 200]),
    st.sampled_from([1, 2, 5, 64]),
    st.booleans(),
)
def test_batches_of_any_size_give_the_verdicts_of_single_documents(
    seed: int, batch: int, max_candidates: int, has_sketches: bool
) -> None:
    config = DedupConfig(max_candidates=max_candidates)
    expected = judged(crowd(seed, 120), 1, config, has_sketches=has_sketches)
    assert judged(crowd(seed, 120), batch, config, has_sketches=has_sketches) == expected


@pytest.mark.parametrize("seed", range(4))
def test_single_documents_get_the_verdicts_of_process(seed: int) -> None:
    one = Deduplicator()
    expected = [one.process(document).match for document in crowd(seed, 120)]
    assert judged(crowd(seed, 120), 120, DedupConfig(), has_sketches=False)[0] == expected
    assert {match.stage for match in expected if match} >= {"body", "text"}


@pytest.mark.parametrize("max_candidates", [1, 64])
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_that_keeps_nothing_gets_what_find_returns(seed: int, max_candidates: int) -> None:
    deduplicator = Deduplicator(config=DedupConfig(max_candidates=max_candidates))
    for document in crowd(seed, 60):
        deduplicator.process(document)
    asked = crowd(seed, 120)  # half of them are new, and have copies in the batch
    expected = [deduplicator.find(document) for document in crowd(seed, 120)]
    judge = BatchJudge(deduplicator.detectors, deduplicator.check, Batch(asked), keeps=False)
    assert [judge.find(place) for place in range(len(asked))] == expected
    assert None in expected


@pytest.mark.parametrize("seed", range(4))
def test_keys_that_many_share_are_looked_up_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = DedupConfig()
    expected = judged(crowd(seed, 120), 1, config, has_sketches=True)
    monkeypatch.setattr(proposals, "_MOST_SHARING", 3)
    assert judged(crowd(seed, 120), 120, config, has_sketches=True) == expected


def test_no_documents_are_a_batch() -> None:
    assert judged([], 5, DedupConfig(), has_sketches=True) == ([], 0)
    assert list(Deduplicator().process_batch(Batch([]))) == []
