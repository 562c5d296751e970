"""What is particular to each method that is not in the default cascade."""

import random
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.evaluation.detectors.bloom import BloomDetector
from benchmarks.evaluation.detectors.checks import ContainmentCheck, CosineCheck, Unverified, cosine
from benchmarks.evaluation.detectors.file_simhash import FileSimhashDetector
from benchmarks.evaluation.detectors.i_match import IMatchDetector
from benchmarks.evaluation.detectors.minwise import BottomDetector, PermutationsDetector
from benchmarks.evaluation.detectors.nilsimsa import NilsimsaDetector
from benchmarks.evaluation.detectors.sentences import (
    JoinedSentencesDetector,
    SharedSentencesDetector,
)
from benchmarks.evaluation.detectors.shingling import ShinglingDetector
from benchmarks.evaluation.detectors.short_text import ShortTextDetector
from benchmarks.evaluation.detectors.weighted_simhash import WeightedSimhashDetector
from benchmarks.evaluation.fingerprints.nilsimsa import INDEPENDENT_SCORE
from benchmarks.evaluation.terms import DocumentFrequencies, jieba_frequencies, term_counts
from benchmarks.evaluation.weighting import Keywords, Levels, TfIdf
from dedup import Document
from dedup.detectors import SecondCheck, SentencesDetector, SimhashDetector

pytestmark = pytest.mark.slow


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
def frequencies():
    """In every text `the`, `of`, `page`; in half of 100 `market` and `season`; in one `zyx`."""
    texts = ["the of page market season"] * 50 + ["the of page"] * 49 + ["zyx the of page"]
    return DocumentFrequencies.count(term_counts(text, unspaced=False)[0] for text in texts)


def made_up_words(seed, n_words=300):
    choose = random.Random(seed)
    return ["".join(choose.choices("abcdefgh", k=6)) for _ in range(n_words)]


def with_edits(text, count):
    """So many words replaced, evenly spread."""
    words = text.split()
    for place in range(count):
        words[(2 * place + 1) * len(words) // (2 * count)] = "edited"
    return " ".join(words)


def add(detector, originals, number, document):
    originals[number] = replace(document)
    detector.add(document, number)


def is_found(detector, originals, first, second):
    add(detector, originals, 1, Document("a", first))
    return detector.find(Document("b", second)) is not None


LONG = ["the longest sentence is this one here", "this one is nearly as long", "and a third one"]

# (sentences changed of the longest three, found by: one shared, two shared, all joined)
SENTENCES = [(0, (True, True, True)), (1, (True, True, False)), (2, (True, False, False))]


@pytest.mark.parametrize(("n_changed", "found"), SENTENCES)
def test_sentences_by_how_many_are_shared(n_changed, found, originals):
    check = Unverified(short_shingles=50)
    first = ". ".join(LONG)
    changed = [sentence.replace("one", "two") for sentence in LONG[:n_changed]]
    second = ". ".join(changed + LONG[n_changed:])
    detectors = (
        SentencesDetector(check),
        SharedSentencesDetector(check, min_shared=2),
        JoinedSentencesDetector(check),
    )
    assert tuple(is_found(each, originals, first, second) for each in detectors) == found


def test_a_text_of_one_sentence_shares_all_it_has(originals):
    detector = SharedSentencesDetector(Unverified(short_shingles=50), min_shared=2)
    assert is_found(detector, originals, LONG[0], LONG[0])


def test_joined_sentences_are_not_confused_by_where_they_meet(originals):
    detector = JoinedSentencesDetector(Unverified(short_shingles=50))
    assert not is_found(detector, originals, "aaaa! bbb", "aaaabbb!")


def test_without_a_second_check_a_fingerprint_is_believed(check, originals):
    """The same words in another order: the same simhash, and hardly a shingle in common."""
    words = made_up_words(1)
    first, second = " ".join(words), " ".join(sorted(words))
    assert not is_found(SimhashDetector(check), originals, first, second)
    detector = SimhashDetector(Unverified(short_shingles=50))
    assert is_found(detector, originals, first, second)
    match = detector.find(Document("b", second))
    assert (match.distance, match.resemblance) == (0, None)


@pytest.mark.parametrize("weigh", [TfIdf, Keywords, lambda table: Levels(Keywords(table))])
def test_simhash_of_other_weights_is_another_one(weigh):
    """And another scheme: a store filled with the one is not read as the other."""
    text = "网页去重算法研究，比较各种网页去重算法的准确率和速度。" * 5 + "研究人员发布了结果"
    check = Unverified(short_shingles=1)
    plain = SimhashDetector(check)
    other = WeightedSimhashDetector(check, weigh(jieba_frequencies()))
    document = Document("a", text)
    assert plain.scheme != other.scheme
    assert plain.signature(document) != other.signature(document) is not None


@pytest.mark.parametrize("make", [ShinglingDetector, PermutationsDetector, BottomDetector])
@pytest.mark.parametrize("n_edits", [1, 5, 9])
def test_samples_of_shingles_find_edited_texts(make, n_edits, check, originals):
    """9 edits of 1,500 words change 27 shingles each way: resemblance 0.96."""
    text = " ".join(made_up_words(2, 1_500))
    assert is_found(make(check), originals, text, with_edits(text, n_edits))


@pytest.mark.parametrize("make", [BloomDetector, NilsimsaDetector])
def test_scanned_signatures_find_edited_texts(make, check, originals):
    text = " ".join(made_up_words(2, 1_500))
    assert is_found(make(check), originals, text, with_edits(text, 9))


def test_most_alike_come_first_among_scanned(originals):
    detector = NilsimsaDetector(Unverified(short_shingles=50))
    text = " ".join(made_up_words(3, 600))
    for number, n_edits in enumerate([20, 5, 0, 0, 10]):
        add(detector, originals, number, Document("x", with_edits(text, n_edits)))
    assert detector.find(Document("y", text)).original == 2


def test_nilsimsa_at_its_published_threshold_believes_anything_in_one_language(originals):
    check = Unverified(short_shingles=50)
    first, second = (" ".join(made_up_words(seed)) for seed in (1, 2))
    published = NilsimsaDetector(check, min_score=INDEPENDENT_SCORE)
    assert is_found(published, originals, first, second)
    assert not is_found(NilsimsaDetector(check), originals, first, second)


def test_containment_finds_the_page_that_holds_a_part(check, originals):
    words = made_up_words(4, 2_000)
    whole, part = " ".join(words), " ".join(words[500:1_500])
    assert not is_found(ShinglingDetector(check), originals, whole, part)
    by_containment = ContainmentCheck(originals, min_containment=0.8, short_shingles=50)
    assert is_found(ShinglingDetector(by_containment), originals, whole, part)
    assert not is_found(ShinglingDetector(by_containment), originals, part, whole)


def test_containment_reports_resemblance(originals):
    words = made_up_words(4, 2_000)
    by_containment = ContainmentCheck(originals, min_containment=0.8, short_shingles=50)
    originals[7] = Document("a", " ".join(words))
    number, resemblance = by_containment.nearest(Document("b", " ".join(words[:1_001])), [7])
    assert (number, resemblance) == (7, 999 / 1_998)


# (text, found, why); the original is "the market of this season"
I_MATCH = [
    ("season of the the market this page", True, "order, number and frequent words do not count"),
    ("the market of this season zyx", True, "nor does what is too rare"),
    ("the market of this", False, "one term of the band less"),
]


@pytest.mark.parametrize(("text", "found", "why"), I_MATCH)
def test_i_match_compares_the_terms_of_a_band(text, found, why, originals, frequencies):
    """IDF over that of an unknown word: `the` 0, `market` 0.15, `zyx` 0.85."""
    detector = IMatchDetector(Unverified(short_shingles=50), frequencies, min_idf=0.1, max_idf=0.5)
    assert is_found(detector, originals, "the market of this season", text) == found, why


def test_i_match_passes_over_what_has_no_term_in_the_band(originals, frequencies):
    detector = IMatchDetector(Unverified(short_shingles=50), frequencies)
    assert detector.signature(Document("a", "the of page")) is None


# (text, found, why); the original is "网页去重算法的研究"
SHORT = [
    ("网页去重算法之研究！", True, "a particle and punctuation"),
    ("网页 去重 算法 研究", True, "spaces"),
    ("网页去重算法的应用", False, "another keyword"),
    ("天气很好", False, "nothing in common"),
]


@pytest.mark.parametrize(("text", "found", "why"), SHORT)
def test_short_texts_are_the_same_by_keywords_and_cosine(text, found, why, originals):
    table = jieba_frequencies()
    check = CosineCheck(originals, table, min_cosine=0.9)
    detector = ShortTextDetector(check, Keywords(table, 5))
    assert is_found(detector, originals, "网页去重算法的研究", text) == found, why


def test_equal_keywords_are_not_enough_for_short_texts(originals, frequencies):
    """The same two keywords, but with other words about them."""
    first, second = "zyx zyx market page", "zyx zyx market season season season season"
    keywords = Keywords(frequencies, 1)
    for check, found in (
        (Unverified(short_shingles=0), True),
        (CosineCheck(originals, frequencies, min_cosine=0.99), False),
    ):
        assert is_found(ShortTextDetector(check, keywords), originals, first, second) == found


def test_long_texts_are_not_short(originals):
    table = jieba_frequencies()
    detector = ShortTextDetector(Unverified(short_shingles=0), Keywords(table, 5))
    lengths = {499: True, 500: True, 501: False}
    for length, is_short in lengths.items():
        text = ("网页去重算法" * 100)[:length]
        assert (detector.signature(Document("a", text)) is not None) == is_short


def test_titles_tell_short_texts_apart(originals):
    table = jieba_frequencies()
    check = CosineCheck(originals, table, min_cosine=0.9)
    originals[1] = Document("a", "not found", title="blue shoes")
    assert check.nearest(Document("b", "not found", title="Blue Shoes"), [1]) == (1, None)
    assert check.nearest(Document("b", "not found", title="red hats"), [1]) is None


def test_cosine_is_that_of_the_vectors():
    random = np.random.default_rng(1)
    dense = random.integers(0, 3, (2, 50)).astype(float)
    vectors = [(np.flatnonzero(row).astype(np.uint64), row[row > 0]) for row in dense]
    expected = dense[0] @ dense[1] / np.linalg.norm(dense[0]) / np.linalg.norm(dense[1])
    assert cosine(*vectors) == pytest.approx(expected)
    empty = (np.empty(0, np.uint64), np.empty(0))
    assert cosine(vectors[0], empty) == cosine(empty, empty) == 0


def test_similar_files_without_text_are_found_by_their_sum_tables(check, originals):
    detector = FileSimhashDetector(check)
    data = random.Random(1).randbytes(50_000)
    for number in range(5):
        other = data if number == 3 else random.Random(number + 10).randbytes(20_000 * number + 900)
        add(detector, originals, number, Document("x", "", body=other))
    edited = data[:20_000] + b"inserted" + data[20_000:]
    match = detector.find(Document("y", "", body=edited))
    assert (match.original, match.stage, match.resemblance) == (3, "file-simhash", None)


def test_files_with_text_are_decided_by_the_second_check(check, originals):
    detector = FileSimhashDetector(check)
    words = made_up_words(5)
    add(detector, originals, 1, Document("a", " ".join(words)))
    assert detector.find(Document("b", with_edits(" ".join(words), 1))).resemblance > 0.9
    assert detector.find(Document("b", " ".join(sorted(words)))) is None


NO_FREQUENCIES = DocumentFrequencies.count([])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda check: SharedSentencesDetector(check, min_shared=4), "min_shared must be 1 to"),
        (lambda check: ShinglingDetector(check, one_in=0), "one_in must be at least 1, got 0"),
        (lambda check: BottomDetector(check, size=0), "size must be at least 1, got 0"),
        (lambda check: NilsimsaDetector(check, min_score=128), "min_score must be -128 to 127"),
        (
            lambda check: IMatchDetector(check, NO_FREQUENCIES, min_idf=1.0),
            "min_idf must be 0 to max_idf, 0.9, got 1.0",
        ),
        (lambda check: Keywords(NO_FREQUENCIES, 0), "count must be at least 1, got 0"),
        (lambda check: Levels(Keywords(NO_FREQUENCIES), 0), "levels must be at least 1, got 0"),
    ],
)
def test_wrong_choices_are_refused(call, message, check):
    with pytest.raises(ValueError, match=message):
        call(check)


def test_tiny_files_say_nothing(check):
    assert FileSimhashDetector(check).signature(Document("a", "", body=b"GIF89a" * 5)) is None
