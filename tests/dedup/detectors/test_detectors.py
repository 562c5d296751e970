import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup import DedupConfig, Document, default_detectors
from dedup.detectors import (
    BodyDetector,
    MinHashDetector,
    SecondCheck,
    SentencesDetector,
    SimhashDetector,
    TextDetector,
)
from dedup.detectors.minhash import band_keys

STAGES = ["body", "text", "sentences", "simhash", "minhash"]


def made_up_text(seed, n_words=200, alphabet="abcdefgh"):
    choose = random.Random(seed)
    words = ["".join(choose.choices(alphabet, k=6)) for _ in range(n_words)]
    return ". ".join(" ".join(words[i : i + 10]) for i in range(0, n_words, 10))


def chinese_text(seed, length=400):
    characters = random.Random(seed).choices(
        "的一是在不了有和人这中大为上个国我以要他时来用们生到作地", k=length
    )
    return "。".join("".join(characters[i : i + 20]) for i in range(0, length, 20))


def edited(text):
    """One word or sentence of some twenty differs."""
    return text[: len(text) // 2] + "新x " + text[len(text) // 2 + 3 :]


class Originals(dict):
    def __call__(self, number):
        return self[number]


@pytest.fixture
def originals():
    return Originals()


@pytest.fixture
def check(originals):
    return SecondCheck(originals, near_resemblance=0.8, short_shingles=50)


@pytest.fixture
def detectors(originals):
    return {detector.stage: detector for detector in default_detectors(originals)}


def add(detector, originals, number, document):
    originals[number] = replace(document, body=None)  # as a store gives it back
    detector.add(document, number)


def test_default_cascade_has_its_order(detectors):
    assert list(detectors) == STAGES


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("make", [made_up_text, chinese_text])
def test_each_detector_finds_a_copy_and_nothing_else(stage, make, detectors, originals):
    detector = detectors[stage]
    for number in range(20):
        add(detector, originals, number + 1, Document("x", make(number), body=b"%d" % number))
    match = detector.find(Document("y", make(7), body=b"7"))
    assert (match.original, match.stage, match.resemblance) == (8, stage, 1.0)
    assert match.distance == (0 if stage == "simhash" else None)
    assert detector.find(Document("z", make(77), body=b"77")) is None


@pytest.mark.parametrize("stage", ["sentences", "minhash"])
@pytest.mark.parametrize("make", [made_up_text, chinese_text])
def test_an_edit_is_found_with_its_exact_resemblance(stage, make, detectors, originals):
    first, second = Document("a", make(1)), Document("b", edited(make(1)))
    add(detectors[stage], originals, 5, first)
    shared = np.intersect1d(first.shingles, second.shingles).size
    expected = shared / np.union1d(first.shingles, second.shingles).size
    assert 0.8 <= expected < 1
    assert detectors[stage].find(second).resemblance == expected


def test_the_most_alike_original_wins_then_the_earliest(check, originals):
    detector = SentencesDetector(check)
    text = made_up_text(1, 400)
    for number, original in enumerate([edited(text), text, text]):
        add(detector, originals, number, Document("x", original))
    assert detector.find(Document("y", text)).original == 1


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("batches", [1, 3])
def test_loading_signatures_is_adding(stage, batches, originals):
    added, loaded = ({d.stage: d for d in default_detectors(originals)}[stage] for _ in range(2))
    documents = [Document("x", made_up_text(n), body=b"%d" % n) for n in range(30)]
    for number, document in enumerate(documents):
        add(added, originals, number, document)
    for part in np.array_split(np.arange(30), batches):
        loaded.load(part, [added.signature(documents[number]) for number in part])
    assert loaded.find(documents[11]) == added.find(documents[11]) is not None
    assert loaded.size_bytes == added.size_bytes


def test_shared_simhash_without_resemblance_is_no_match(check, originals):
    """Words in another order: the same words as often, hardly a shingle in common."""
    words = made_up_text(1).replace(".", "").split()
    detector = SimhashDetector(check)
    add(detector, originals, 1, Document("a", " ".join(words)))
    other = Document("b", " ".join(sorted(words)))
    assert detector.signature(other) == detector.signature(originals[1])
    assert detector.find(other) is None


def test_shared_sentence_without_resemblance_is_no_match(check, originals):
    common = "the longest sentence of all stands on every page of this site word for word."
    detector = SentencesDetector(check)
    add(detector, originals, 1, Document("a", common + made_up_text(1)))
    assert detector.find(Document("b", common + made_up_text(2))) is None


def test_short_documents_must_be_equal_with_their_titles(check, originals):
    for detector in (TextDetector(check), SentencesDetector(check)):
        add(detector, originals, 1, Document("a", "Page not found.", title="Blue shoes"))
        assert detector.find(Document("b", "PAGE  not found.", title="blue shoes"))
        assert detector.find(Document("b", "Page not found.", title="Red shoes")) is None
        assert detector.find(Document("b", "Page not found!", title="Blue shoes")) is None


def test_long_documents_may_differ_in_their_titles(check, originals):
    detector = TextDetector(check)
    add(detector, originals, 1, Document("a", made_up_text(1), title="a"))
    assert detector.find(Document("b", made_up_text(1).upper(), title="b")).original == 1


@pytest.mark.parametrize("text", ["", " \n\u3000", "\u200b" * 0])
def test_empty_text_matches_only_by_body(text, detectors, originals):
    for stage, detector in detectors.items():
        add(detector, originals, 1, Document("a", text, body=b"%PDF"))
        found = detector.find(Document("b", text, body=b"%PDF"))
        assert (found is not None) == (stage == "body")


def test_equal_bodies_need_equal_texts(originals):
    """So 64 equal bits of a digest alone drop nothing that has a text."""
    detector = BodyDetector(originals)
    add(detector, originals, 1, Document("a", "one text", body=b"bytes"))
    assert detector.find(Document("b", "another text", body=b"bytes")) is None
    assert detector.find(Document("b", "one text", body=b"")) is None


@pytest.mark.parametrize("distance", [0, 3])
def test_simhash_of_128_bits_reports_its_distance(distance, check, originals):
    detector = SimhashDetector(check, n_bits=128, max_distance=20)
    add(detector, originals, 1, Document("a", made_up_text(1, 2_000)))
    text = made_up_text(1, 2_000)
    match = detector.find(Document("b", text if distance == 0 else edited(text)))
    assert (match.distance > 0) == (distance > 0)
    assert len(detector.signature(originals[1])) == 16


def test_candidates_are_bounded_and_the_most_promising_come_first(originals):
    """A hundred pages of one template, and one that is a near duplicate."""
    config = DedupConfig(max_candidates=4)
    detector = default_detectors(originals, config)[4]
    template = made_up_text(0, 120)
    for number in range(100):
        add(detector, originals, number, Document("x", template + made_up_text(number + 1, 80)))
    page = Document("y", edited(template + made_up_text(90, 80)))
    assert detector.find(page).original == 89


def keys_of_set(shingles):
    return band_keys(shingles, np.zeros(len(shingles), np.intp), 1, bands=11, rows=4)


def test_keys_of_sets_are_those_of_each():
    random = np.random.default_rng(5)
    sets = [np.sort(random.integers(0, 2**64, size, np.uint64)) for size in (60, 1, 2_000, 51)]
    owners = np.repeat(np.arange(4), list(map(len, sets)))
    keys = band_keys(np.concatenate(sets), owners, 4, bands=11, rows=4)
    assert np.array_equal(keys, np.concatenate(list(map(keys_of_set, sets))))


@pytest.mark.parametrize("resemblance", [0.5, 0.8, 0.9])
def test_bands_are_shared_as_often_as_theory_says(resemblance):
    """4 equal rows of 44: r**4 on average. 40 pairs x 11 bands: three standard errors are 0.07."""
    random = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        both = round(1_000 * 2 * resemblance / (1 + resemblance))
        hashes = random.integers(0, 2**64, 2_000 - both, np.uint64)
        first, second = hashes[:1_000], hashes[-1_000:]
        keys = [keys_of_set(np.sort(part)) for part in (first, second)]
        shares.append(np.mean(keys[0] == keys[1]))
    assert np.mean(shares) == pytest.approx(resemblance**4, abs=0.07)


def test_few_shingles_fill_all_bands_alike():
    """Of 51 shingles in 44 bins a third is empty; bins that borrow still agree by resemblance."""
    random = np.random.default_rng(4)
    shares = []
    for _ in range(200):
        hashes = random.integers(0, 2**64, 56, np.uint64)
        keys = [keys_of_set(np.sort(part)) for part in (hashes[:51], hashes[5:])]
        shares.append(np.mean(keys[0] == keys[1]))
    assert np.mean(shares) == pytest.approx((46 / 56) ** 4, abs=0.07)
    assert keys_of_set(np.array([7], np.uint64)).shape == (1, 11)


BAD_TEXTS = {
    "empty": "",
    "one character": "x",
    "10 MB": made_up_text(1, 1_000) * 1_430,
    "one word a million times": "word " * 1_000_000,
    "one character a million times": "好" * 1_000_000,
    "lone surrogates": "\ud800 \udfff" * 300 + "a\udc00b 中" * 100,
    "control characters": "".join(map(chr, range(32))) * 50,
    "right to left": "\u202eשלום עולם مرحبا بالعالم " * 60,
    "emoji": "😀👩‍👩‍👧‍👦🏳️‍🌈 " * 100,
    "mixed scripts": "word слово 文字 คำ 단어 λέξη " * 60,
    "marks": "a" + "\u0301\u0315" * 100_000,
    "NUL": "\x00" * 1_000,
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_no_text_makes_a_detector_raise(name, detectors, originals):
    document = Document("a", BAD_TEXTS[name], title=BAD_TEXTS[name][:100], body=b"")
    for detector in detectors.values():
        detector.find(document)
        signature = detector.signature(document)
        add(detector, originals, 1, document)
        found = detector.find(Document("b", document.text, title=document.title))
        assert (found is not None) == (signature is not None)


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(codec=None), max_size=30), st.integers(1, 200))
def test_no_made_up_text_makes_a_detector_raise(text, repeat):
    originals = Originals()
    for detector in default_detectors(originals):
        document = Document("a", text * repeat, body=b"body")
        assert detector.find(document) is None
        add(detector, originals, 1, document)
        if detector.signature(document) is not None:
            assert detector.find(replace(document)).resemblance == 1


def test_minhash_and_simhash_leave_short_documents_out(check):
    short = Document("a", made_up_text(1, 51))  # 49 shingles
    assert SimhashDetector(check).signature(short) is None
    assert MinHashDetector(check).signature(short) is None
    assert MinHashDetector(check).signature(Document("a", made_up_text(1, 52))) is not None
