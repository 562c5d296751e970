import random
from typing import Any

import pytest

from dedup import DedupConfig, Deduplicator, Document, Match, MemoryStore
from dedup.deduplicator import OriginalsCache


def page(number, change=""):
    words = random.Random(number).choices([f"word{n}" for n in range(99)], k=300)
    return Document(f"{number}{change}", " ".join(words) + change)


def test_process_keeps_one_of_each():
    deduplicator = Deduplicator()
    verdicts = [
        deduplicator.process(page(number % 10, "!" * (number // 10))) for number in range(30)
    ]
    assert [verdict.number for verdict in verdicts[:10]] == list(range(10))
    assert all(verdict.is_duplicate for verdict in verdicts[10:])
    assert [verdict.match.original for verdict in verdicts[10:]] == [*range(10), *range(10)]
    assert [document for document, _ in deduplicator.store.duplicates[:2]] == ["0!", "1!"]


def test_find_changes_nothing():
    deduplicator = Deduplicator()
    assert deduplicator.find(page(1)) is None
    assert deduplicator.find(page(1)) is None
    assert len(deduplicator.store) == 0


def test_indexes_are_rebuilt_from_the_store():
    store = MemoryStore()
    before = Deduplicator(store=store)
    for number in range(20):
        before.add(page(number))
    after = Deduplicator(store=store)
    for number in range(25):
        assert after.find(page(number, " more")) == before.find(page(number, " more"))
    assert after.find(page(7, " more")).original == 7


def test_only_known_documents_are_loaded():
    store = MemoryStore()
    before = Deduplicator(store=store)
    for number in range(20):
        before.add(page(number))
    after = Deduplicator(store=store, known=(range(3, 6), range(0), range(15, 10**9)))
    found = [number for number in range(20) if after.find(page(number))]
    assert found == [3, 4, 5, *range(15, 20)]


def test_a_crawl_asks_some_stages_at_a_time():
    deduplicator = Deduplicator(stages=("text", "minhash"))
    deduplicator.add(page(1))
    assert [each.stage for each in deduplicator.detectors] == ["text", "minhash"]
    assert deduplicator.find(page(1), ["minhash"]).stage == "minhash"
    assert deduplicator.find(page(1)).stage == "text"
    assert deduplicator.find(page(1), ["body"]) is None


def test_documents_that_another_process_stored_are_found():
    store = MemoryStore()
    one, other = Deduplicator(store=store), Deduplicator(store=store)
    number = other.add(page(1))
    assert one.find(page(1)) is None
    for stage in ("text", "simhash"):
        for numbers, signatures in store.signatures(stage):
            one.load(stage, numbers, signatures)
    assert one.find(page(1), ["text"]) == Match(number, "text", resemblance=1.0)


def test_a_changed_document_is_found_by_its_new_text_also_with_sketches():
    class Texts(MemoryStore):
        def document(self, number):
            return changed.get(number) or super().document(number)

    changed = {}
    deduplicator = Deduplicator(store=Texts(), has_sketches=True, clean=str)
    assert [each.number for each in deduplicator.process_many([page(1), page(2)])] == [0, 1]
    changed[0] = page(3)
    deduplicator.change(0, page(3))
    assert deduplicator.find(page(3, " more")).original == 0
    assert deduplicator.find(page(1, " more")) is None
    assert deduplicator.find(page(2, " more")).original == 1


@pytest.mark.parametrize("cache_bytes", [0, 10_000, 1 << 26])
def test_the_cache_changes_no_answer(cache_bytes):
    deduplicator = Deduplicator(config=DedupConfig(cache_bytes=cache_bytes))
    verdicts = [deduplicator.process(page(number % 7, f" {number}")) for number in range(21)]
    assert [verdict.match.original for verdict in verdicts[7:]] == [*range(7), *range(7)]


def test_the_cache_keeps_what_was_used_last():
    fetched = []
    cache = OriginalsCache(lambda n: fetched.append(n) or Document(str(n), "x"), size_bytes=4_000)
    for number in (1, 2, 1, 3, 1, 2):
        assert cache(number).id == str(number)
    assert fetched == [1, 2, 3, 2]


def test_unrelated_documents_change_no_verdict():
    verdicts = []
    for extra in (0, 40):
        deduplicator = Deduplicator()
        for number in range(extra):
            deduplicator.process(page(1_000 + number))
        first = deduplicator.process(page(1))
        match = deduplicator.process(page(1, " more")).match
        verdicts.append((match.original == first.number, match.stage, match.resemblance))
    assert verdicts[0] == verdicts[1]


def test_detectors_of_ones_own_are_asked_in_their_order():
    class Always:
        scheme, size_bytes = {}, 0

        def __init__(self, stage):
            self.stage = stage

        def find(self, document):
            return Match(0, self.stage)

    assert Deduplicator([Always("first"), Always("second")]).find(page(1)).stage == "first"


@pytest.mark.parametrize(
    ("setting", "value", "rule"),
    [
        ("near_resemblance", 0, "above 0 and at most 1"),
        ("near_resemblance", 1.1, "above 0 and at most 1"),
        ("simhash_bits", 32, "64 or 128"),
        ("simhash_distance", 10, "a whole number of at least 0 and at most 9"),
        ("simhash_distance", -1, "a whole number of at least 0 and at most 9"),
        ("simhash_unspaced_features", "words", "characters or segments or segments-idf"),
        ("sentences_count", 0, "a whole number of at least 1 and at most 100"),
        ("minhash_bands", 2.5, "a whole number of at least 1 and at most 100"),
        ("short_shingles", 0, "a whole number of at least 1"),
        ("max_candidates", 0, "a whole number of at least 1"),
        ("cache_bytes", -1, "a whole number of at least 0"),
        ("index_bytes", -1, "a whole number of at least 0"),
        ("index_bytes", 1e9, "a whole number of at least 0"),
    ],
)
def test_config_rejects_values_out_of_range(setting, value, rule):
    with pytest.raises(ValueError, match=f"{setting} must be {rule}, got {value!r}"):
        DedupConfig(**{setting: value})


def test_a_store_gives_back_what_it_was_given():
    store = MemoryStore()
    document = Document("a", "text \ud800 文", url="http://e.org", title="t", body=b"x")
    number = store.add(document, {"text": b"signature"})
    back = store.document(number)
    assert (back.id, back.text, back.url, back.title) == ("a", document.text, document.url, "t")
    ((numbers, signatures),) = store.signatures("text")
    assert (numbers.tolist(), list(signatures)) == ([0], [b"signature"])
    assert list(store.signatures("other")) == []


def test_without_detectors_all_stay():
    verdicts = list(Deduplicator([]).process_many([page(1), page(1)]))
    assert [verdict.number for verdict in verdicts] == [0, 1]


def test_body_found_after_page_was_signed_again():
    deduplicator = Deduplicator()
    number = deduplicator.add(Document("a", "A text.", body=b"bytes"))
    deduplicator.change(number, Document("a", "A text.", body=b"bytes"))
    match = deduplicator.find(Document("b", "A text.", body=b"bytes"))
    assert match is not None
    assert (match.original, match.stage) == (number, "body")


@pytest.mark.parametrize("given", ["text", None, {"id": "1", "text": "a"}], ids=repr)
def test_invalid_document_is_named(given: object) -> None:
    deduplicator = Deduplicator()
    for call in (deduplicator.process, deduplicator.find, deduplicator.add):
        with pytest.raises(TypeError, match="document must be a Document, got "):
            call(given)  # type: ignore[arg-type,operator]
    with pytest.raises(TypeError, match="document must be a Document, got "):
        list(deduplicator.process_many([given]))  # type: ignore[list-item]
    assert deduplicator.process(Document(id="1", text="a")).number == 0  # nothing was stored


def test_invalid_list_of_documents_is_named() -> None:
    with pytest.raises(TypeError, match="documents must be an iterable of Document, got None"):
        list(Deduplicator().process_many(None))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="config must be a DedupConfig, got 3"):
        Deduplicator(config=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": None}, "text must be a str, got None"),
        ({"text": b"bytes"}, "text must be a str, got b'bytes'"),
        ({"text": 3}, "text must be a str, got 3"),
        ({"text": "a", "title": None}, "title must be a str, got None"),
        ({"text": "a", "body": "a"}, "body must be bytes or None, got 'a'"),
    ],
)
def test_a_document_of_other_types_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Document(id="1", **given)
