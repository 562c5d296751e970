"""The same verdicts, whatever stands between the documents, and however the tables are cut."""

import random
from functools import partial
from itertools import product

import pytest

from dedup import Deduplicator, Document
from dedup.index import PermutedTables

WORDS = ["".join(letters) for letters in product("bdfklmnprst", "aeiou", "glmnrstvz", "aeo")]
HAN = [chr(code) for code in range(0x4E00, 0x5200)]


def page(choose, *, chinese=False):
    """Twenty sentences of 26 to 45 words, or characters."""
    vocabulary, space = (HAN, "") if chinese else (WORDS, " ")
    lengths = choose.sample(range(26, 46), 20)
    return [space.join(choose.choices(vocabulary, k=length)) for length in lengths]


def text(sentences):
    return "".join(f"{sentence}.\n" for sentence in sentences)


def edited(sentences, count):
    """The longest `count` sentences with two characters more at the start."""
    longest = sorted(sentences, key=len)[len(sentences) - count :]
    return [f"xy{sentence}" if sentence in longest else sentence for sentence in sentences]


def duplicate(sentences, kind):
    """A text as it was, in capitals, with its shortest sentence or its longest ones edited."""
    if kind == 1:
        return [sentence.upper() for sentence in sentences]
    if kind == 5:
        shortest = min(sentences, key=len)
        return [f"xy{each}" if each == shortest else each for each in sentences]
    return edited(sentences, 3 * kind)


def related_pairs():
    """Each first document and the second, which is a duplicate of it."""
    choose = random.Random(11)
    pairs = []
    for number in range(60):
        first = page(choose, chinese=number % 2 == 0)
        kind = number // 2 % 6
        second = duplicate(first, kind)
        body = b"%d" % number if kind == 0 else None
        pair = ("first", first), ("second", second)
        pairs.append([Document(f"{role} {number}", text(each), body=body) for role, each in pair])
    return pairs


def unrelated_documents():
    choose = random.Random(12)
    return [
        Document(f"other {number}", text(page(choose, chinese=number % 3 == 0)))
        for number in range(150)
    ]


def shuffled(pairs, others, seed):
    """All documents in a random order, but each first one before its second."""
    choose = random.Random(seed)
    places = {id(document): choose.random() for pair in pairs for document in pair}
    for first, second in pairs:
        places[id(first)], places[id(second)] = sorted((places[id(first)], places[id(second)]))
    places |= {id(document): choose.random() for document in others}
    everything = [document for pair in pairs for document in pair] + others
    return sorted(everything, key=lambda document: places[id(document)])


def found_in(documents, *, at_once=False):
    """For each duplicate its original, both by their names, and all that the match tells."""
    deduplicator, names = Deduplicator(), {}
    verdicts = (
        deduplicator.process_many(documents) if at_once else map(deduplicator.process, documents)
    )
    found = {}
    for document, verdict in zip(documents, verdicts, strict=True):
        if verdict.match is None:
            names[verdict.number] = document.id
        else:
            match = verdict.match
            original = names[match.original]
            found[document.id] = (original, match.stage, match.distance, match.resemblance)
    return found


@pytest.fixture(scope="module")
def pairs():
    return related_pairs()


@pytest.fixture(scope="module")
def alone(pairs):
    """What is found where there are no other documents at all."""
    return found_in([document for pair in pairs for document in pair])


def test_every_second_document_is_found_and_every_stage_finds_some(alone, pairs):
    originals = {name: original for name, (original, *_) in alone.items()}
    assert originals == {second.id: first.id for first, second in pairs}
    stages = {stage for _, stage, *_ in alone.values()}
    assert stages == {"body", "text", "sentences", "simhash", "minhash"}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_unrelated_documents_between_change_no_verdict(seed, at_once, pairs, alone):
    documents = shuffled(pairs, unrelated_documents(), seed)
    assert found_in(documents, at_once=at_once) == alone


@pytest.mark.parametrize("layout", ["4", "10", "16", "20"])
def test_the_layout_of_the_tables_changes_no_verdict(layout, pairs, alone, monkeypatch):
    tables = partial(PermutedTables, layout=layout)
    monkeypatch.setattr("dedup.detectors.simhash.PermutedTables", tables)
    assert found_in(shuffled(pairs, unrelated_documents(), 5)) == alone
