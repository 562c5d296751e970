"""What every detector of the registry must do."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.evaluation.detectors import DETECTORS
from benchmarks.evaluation.terms import DocumentFrequencies, term_counts
from dedup import DedupConfig, Deduplicator, Document, MemoryStore
from dedup.detectors import SecondCheck, default_detectors

pytestmark = pytest.mark.slow


def made_up_text(seed, n_words=300, alphabet="abcdefgh"):
    choose = random.Random(seed)
    words = ["".join(choose.choices(alphabet, k=5)) for _ in range(n_words)]
    return ". ".join(" ".join(words[i : i + 10]) for i in range(0, n_words, 10))


CHINESE_WORDS = (
    "我们研究网页算法经济发展城市交通学校学生教师医院医生法律规定公司企业市场价格产品技术科学"
    "文化艺术音乐电影体育比赛天气环境保护能源农业粮食历史旅游飞机火车银行投资合同法院判决"
)
"""Words of two characters, one after the other."""


def chinese_text(seed, n_words=250):
    words = [CHINESE_WORDS[i : i + 2] for i in range(0, len(CHINESE_WORDS), 2)]
    chosen = random.Random(seed).choices(words, k=n_words)
    return "。".join("".join(chosen[i : i + 8]) for i in range(0, n_words, 8))


BAD_TEXTS = {
    "empty": "",
    "one character": "x",
    "one Chinese character": "好",
    "spaces": " \n\u3000",
    "10 MB": made_up_text(1, 1_000) * 1_680,
    "one word a million times": "word " * 1_000_000,
    "one Chinese character many times": "好" * 100_000,
    "lone surrogates": "\ud800 \udfff" * 300 + "a\udc00b 中" * 100,
    "lone surrogates in Chinese": "中文\udc00网页\ud800去重算法" * 60,
    "control characters": "".join(map(chr, range(32))) * 50,
    "right to left": "\u202eשלום עולם مرحبا بالعالم " * 60,
    "emoji": "😀👩‍👩‍👧‍👦🏳️‍🌈 " * 100,
    "mixed scripts": "word слово 文字 คำ 단어 λέξη " * 60,
    "marks": "a" + "\u0301\u0315" * 100_000,
    "NUL": "\x00" * 1_000,
}


def text_for(name, seed, make=None):
    """A text of the length that a detector is for."""
    return (make or made_up_text)(seed, 60 if name == "short-text" else 300)


class Originals(dict):
    def __call__(self, number):
        return self[number]


def new(name, originals, config=None):
    return DETECTORS[name](originals, config)


def add(detector, originals, number, document):
    originals[number] = replace(document, body=None)  # as a store gives it back
    detector.add(document, number)


@pytest.mark.parametrize("name", DETECTORS)
def test_name_is_stage_and_scheme_is_json(name):
    detector = new(name, Originals())
    assert detector.stage == name
    assert json.loads(json.dumps(detector.scheme)) == detector.scheme


def test_default_cascade_is_in_the_registry():
    for detector in default_detectors(Originals()):
        named = new(detector.stage, Originals())
        assert (type(named), named.scheme) == (type(detector), detector.scheme)


@pytest.mark.parametrize("make", [made_up_text, chinese_text])
@pytest.mark.parametrize("name", DETECTORS)
def test_a_copy_is_found_among_others(name, make):
    originals = Originals()
    detector = new(name, originals)
    for number in range(12):
        add(
            detector,
            originals,
            number + 1,
            Document("x", text_for(name, number, make), body=text_for(name, number, make).encode()),
        )
    match = detector.find(
        Document("y", text_for(name, 7, make), body=text_for(name, 7, make).encode())
    )
    assert (match.original, match.stage) == (8, name)
    assert match.resemblance in (1.0, None)


@pytest.mark.parametrize("make", [made_up_text, chinese_text])
@pytest.mark.parametrize("name", DETECTORS)
def test_an_unrelated_text_is_not_found(name, make):
    """But by Nilsimsa at its published threshold, which any two texts of one language pass."""
    originals = Originals()
    detector = new(name, originals)
    for number in range(12):
        add(
            detector,
            originals,
            number,
            Document("x", text_for(name, number, make), body=b"%d" % number),
        )
    found = detector.find(Document("y", text_for(name, 77, make), body=b"77"))
    assert (found is not None) == (name == "nilsimsa-unverified")


@pytest.mark.parametrize("n_batches", [1, 3])
@pytest.mark.parametrize("name", DETECTORS)
def test_loading_signatures_is_adding(name, n_batches):
    originals = Originals()
    added, loaded = new(name, originals), new(name, originals)
    documents = [
        Document("x", text_for(name, n), body=text_for(name, n).encode()) for n in range(90)
    ]
    for number, document in enumerate(documents):
        add(added, originals, number, document)
    for part in np.array_split(np.arange(90), n_batches):
        loaded.load(part, [added.signature(documents[number]) for number in part])
    assert loaded.find(documents[71]) == added.find(documents[71]) is not None
    assert loaded.size_bytes > 0


@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_works_alone_in_a_deduplicator(name):
    store = MemoryStore()
    deduplicator = Deduplicator([new(name, store.document)], store=store)
    texts = [text_for(name, 1), text_for(name, 1)]
    verdicts = [
        deduplicator.process(Document(str(place), text, body=text.encode()))
        for place, text in enumerate(texts)
    ]
    assert [verdict.is_duplicate for verdict in verdicts] == [False, True]
    assert verdicts[1].match.original == 0


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_no_text_makes_a_detector_raise(text):
    """Whatever has a signature finds itself again, but a text of white space alone."""
    document, original = (Document(name, text, title=text[:100], body=b"") for name in "ab")
    for name in DETECTORS:
        detector = new(name, Originals({1: original}))
        assert detector.find(document) is None
        signature = detector.signature(document)
        detector.add(document, 1)
        found = detector.find(document)
        assert (found is not None) == (signature is not None), name


@settings(deadline=None, max_examples=25)
@given(
    st.text(st.characters(codec=None), max_size=30),
    st.text(st.characters(codec=None), max_size=30),
    st.integers(1, 150),
)
def test_no_made_up_text_makes_a_detector_raise(text, other, repeat):
    for name in DETECTORS:
        originals = Originals()
        detector = new(name, originals)
        for number, document in enumerate((Document("a", text * repeat), Document("b", other))):
            detector.find(document)
            add(detector, originals, number, document)
        copy = Document("c", text * repeat)
        if detector.signature(copy) is not None and name != "file-simhash":
            assert detector.find(copy) is not None


@pytest.mark.parametrize("name", sorted(set(DETECTORS) - {"body", "nilsimsa-unverified"}))
def test_candidates_are_bounded(name):
    """Fifty pages with one text: as many originals are fetched as may be."""
    fetched = []
    originals = Originals({number: Document("x", text_for(name, 1)) for number in range(50)})

    def counted(number):
        fetched.append(number)
        return originals[number]

    detector = new(name, counted, DedupConfig(max_candidates=3))
    for number, document in originals.items():
        detector.add(document, number)
    assert detector.find(Document("y", text_for(name, 1))).original == 0
    assert len(set(fetched)) <= 3


def test_frequencies_are_part_of_the_scheme_of_those_that_weigh_by_them():
    counted = DocumentFrequencies.count([term_counts("to be", unspaced=False)[0]])
    concerned = {
        name
        for name, make in DETECTORS.items()
        if make(Originals()).scheme != make(Originals(), frequencies=counted).scheme
    }
    assert concerned == {
        "i-match",
        "short-text",
        "simhash-keywords",
        "simhash-levels",
        "simhash-tf-idf",
    }


def test_second_checks_decide_alike_in_the_registry():
    """A shared longest sentence alone: proposed by some, confirmed for none."""
    originals = Originals()
    common = "the longest sentence of all stands on every page of this site word for word."
    check = SecondCheck(originals, near_resemblance=0.8, short_shingles=50)
    first, second = (Document("x", common + made_up_text(seed)) for seed in (1, 2))
    for name in ("sentences", "shingling", "minhash-permutations", "minhash-bottom", "bloom"):
        detector = new(name, originals)
        add(detector, originals, 1, first)
        assert detector.find(second) is None
    assert check.nearest(second, [1]) is None
