import gzip
import json
import lzma

import pytest

from benchmarks.evaluation import read_corpus, read_pairs

pytestmark = pytest.mark.slow

PAGE = "<html><title>The bench</title><body><p>Given by the family of the first keeper.</p>"


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_lines_hold_text_or_markup(tmp_path):
    rows = [{"id": 7, "text": "one", "title": "t"}, {"id": "b", "html": PAGE}]
    first, second = read_corpus(write_lines(tmp_path / "corpus.jsonl", rows))
    assert (first.id, first.text, first.title, first.body) == ("7", "one", "t", None)
    assert (second.text, second.title) == ("Given by the family of the first keeper.", "The bench")
    assert second.body == PAGE.encode()


def test_a_folder_holds_pages_at_any_depth(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    (tmp_path / "b.htm").write_bytes("<p>caf\xe9".encode("latin-1"))
    (tmp_path / "style.css").write_bytes(b"p {}")
    documents = read_corpus(tmp_path)
    assert [document.id for document in documents] == ["a/one.html.gz", "b.htm"]
    assert [document.text for document in documents] == [
        "Given by the family of the first keeper.",
        "café",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: "),
        ("[]", "line 2: expected a JSON object with `id`"),
        ('{"text": "x"}', "line 2: expected a JSON object with `id`"),
        ('{"id": "b"}', "line 2: expected a field `text` or `html` that is a string"),
        ('{"id": "a", "text": ""}', "line 2: id must be given once, got 'a' again"),
    ],
)
def test_a_broken_line_is_named(line, message, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a", "text": "x"}\n' + line)
    with pytest.raises(ValueError, match=message):
        read_corpus(path)


def test_a_corpus_has_documents(tmp_path):
    with pytest.raises(ValueError, match="expected documents, found none"):
        read_corpus(tmp_path)


@pytest.fixture
def documents(tmp_path):
    rows = [{"id": name, "text": name} for name in "abc"]
    return read_corpus(write_lines(tmp_path / "corpus.jsonl", rows))


def test_pairs_are_read_in_any_order(tmp_path, documents):
    path = tmp_path / "pairs.tsv.xz"
    path.write_bytes(lzma.compress(b"b\ta\t0.9\n\nb\tc\t0.5\n"))
    truth = read_pairs(path, documents)
    assert (truth.pairs, truth.n_documents) == ({(0, 1): 0.9, (1, 2): 0.5}, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tx\t0.9", "line 1: unknown id 'x'"),
        ("a\tb", "line 1: expected id, id and resemblance with tabs between, found 'a"),
        ("a\tb\thigh", "line 1: expected id, id and resemblance"),
    ],
)
def test_a_broken_pair_is_named(line, message, tmp_path, documents):
    path = tmp_path / "pairs.tsv"
    path.write_text(line)
    with pytest.raises(ValueError, match=message):
        read_pairs(path, documents)
