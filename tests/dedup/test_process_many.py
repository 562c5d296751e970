import random

import pytest

from dedup import DedupConfig, Deduplicator, Document
from dedup.batch import Batch
from dedup.collection.deciding import Decider
from dedup.collection.rules import Rules
from dedup.collection.spool import SpoolStore
from dedup.detectors.proposals import Proposals
from tests.dedup.index.in_files import small_parts

WORDS = [f"word{number}" for number in range(60)] + ["café", "naïve", "Ｗｉｄｅ", "…", "©", "(c)"]
CHINESE = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地。；"


def mixed_texts(seed, count=700):
    """Pages of many kinds, a third of them copies with or without an edit."""
    choose = random.Random(seed)
    texts = ["", " \n", "one", "one two three", "word " * 5_000, "\ud800 x" * 60]
    while len(texts) < count:
        if choose.random() < 0.35:
            text = choose.choice(texts)
            place = choose.randrange(len(text) + 1)
            texts.append(text[:place] + choose.choice(["", "", " x", "新"]) + text[place:])
        elif choose.random() < 0.3:
            texts.append("".join(choose.choices(CHINESE, k=choose.randint(1, 400))))
        else:
            words = choose.choices(WORDS, k=choose.randint(1, 200))
            texts.append(" ".join(word + choose.choice(["", "", "", ".", "\n"]) for word in words))
    return texts


def documents(texts):
    bodies = {n: b"%d" % (n % 300) for n in range(0, len(texts), 2)}
    return [Document(str(n), text, title="t", body=bodies.get(n)) for n, text in enumerate(texts)]


@pytest.mark.parametrize("batch", [1, 7, 512, 2_000])
def test_a_batch_changes_no_verdict(batch, monkeypatch):
    monkeypatch.setattr("dedup.deduplicator._BATCH_DOCUMENTS", batch)
    texts = mixed_texts(batch)
    one_by_one, many = Deduplicator(), Deduplicator()
    expected = [one_by_one.process(document) for document in documents(texts)]
    assert list(many.process_many(documents(texts))) == expected
    assert many.store.duplicates == one_by_one.store.duplicates
    assert {verdict.match.stage for verdict in expected if verdict.match} >= {"text", "sentences"}
    for stage in ("body", "text", "sentences", "simhash", "minhash"):
        stored = [list(deduplicator.store.signatures(stage)) for deduplicator in (one_by_one, many)]
        assert [part[1] for part in stored[0]] == [part[1] for part in stored[1]]


@pytest.mark.parametrize("index_bytes", [0, 9_000])
def test_an_index_in_files_changes_no_verdict(index_bytes, tmp_path):
    texts = mixed_texts(index_bytes, 1_500)
    expected = list(Deduplicator().process_many(documents(texts)))
    config = DedupConfig(index_bytes=index_bytes, index_folder=tmp_path)
    with small_parts():
        deduplicator = Deduplicator(config=config)
        assert list(deduplicator.process_many(documents(texts))) == expected
        again = Deduplicator(config=config, store=deduplicator.store)  # loaded from the store
        found = [again.find(document) for document in documents(texts)]
    arrays = {id(each._index.arrays) for each in (*again.detectors, again.keys)}
    assert len(arrays) == 1
    assert again.keys._index.arrays.has_files
    assert all(found[place] for place, verdict in enumerate(expected) if verdict.match)


def test_detectors_may_leave_all_to_be_asked_one_by_one():
    class Plain:
        def __init__(self, detector):
            self.stage, self.scheme = detector.stage, detector.scheme
            self.find, self.add = detector.find, detector.add
            self.signature, self.load = detector.signature, detector.load
            self.add_many = detector.add_many

        def propose(self, batch, is_asked, is_candidate):
            return Proposals(len(batch), is_open=is_asked)

    deduplicator = Deduplicator()
    deduplicator.detectors = tuple(map(Plain, deduplicator.detectors))
    texts = mixed_texts(3, 100)
    expected = [
        Deduplicator.process(one, each) for one in [Deduplicator()] for each in documents(texts)
    ]
    assert list(deduplicator.process_many(documents(texts))) == expected


def test_verdicts_come_as_the_stream_is_read(monkeypatch):
    monkeypatch.setattr("dedup.deduplicator._BATCH_DOCUMENTS", 2)
    read = []
    stream = (read.append(n) or Document(str(n), f"text {n}") for n in range(9))
    assert next(Deduplicator().process_many(stream)).number == 0
    assert read == [0, 1]


def test_wide_fingerprints_and_other_checks_may_be_batched():
    """128 bits are looked up one by one; the verdicts are the same."""
    config = DedupConfig(simhash_bits=128, simhash_distance=6)
    texts = mixed_texts(8, 120)
    expected = [Deduplicator(config=config)]
    verdicts = [expected[0].process(document) for document in documents(texts)]
    assert list(Deduplicator(config=config).process_many(documents(texts))) == verdicts


@pytest.mark.parametrize("portion", [40, 512])
def test_sketches_change_no_verdict(portion, tmp_path):
    """Of rows that share sentences, most are ruled out for a batch at once."""
    choose = random.Random(portion)
    sentences = [" ".join(choose.choices(WORDS, k=40)) + f" {n}." for n in range(60)]
    texts = mixed_texts(portion, 300)
    texts += [" ".join(choose.sample(sentences, choose.randint(2, 9))) for _ in range(300)]
    texts += [text.replace("word1", "word2", 1) for text in choose.sample(texts, 60)]
    plain = Deduplicator(config=DedupConfig(max_candidates=10_000))
    expected = [plain.process(document).match for document in documents(texts)]
    answers = [decided(documents(texts), size, tmp_path) for size in (1, portion)]
    assert answers[0] == answers[1]
    assert answers[0][0] == expected
    assert sum(match is not None and match.stage == "sentences" for match in expected) > 50


def decided(given, portion, folder):
    """The matches of documents that are judged in portions, and how often the limit was reached."""
    store = SpoolStore(folder)
    decider = Decider(Rules(), store)
    found = []
    for start in range(0, len(given), portion):
        part = given[start : start + portion]
        found += decider.decide(Batch(part), [0] * len(part))
    store.close()
    return found, decider.limit_reached
