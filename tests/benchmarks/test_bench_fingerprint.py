import pytest

from benchmarks import fingerprint
from benchmarks.__main__ import main
from benchmarks.fingerprint import compare, made_up_corpora

pytestmark = pytest.mark.slow


def test_made_up_texts_have_the_usual_lengths_and_are_the_same_each_time(monkeypatch):
    monkeypatch.setattr(fingerprint, "_DOCUMENTS", 5)
    english, chinese = made_up_corpora(1).values()
    assert {len(text) for text in english} == {4_460}
    assert {len(text) for text in chinese} == {750}
    assert made_up_corpora(1) == made_up_corpora(1)


def test_every_method_has_a_row_and_ours_never_fail():
    rows = list(compare({"few": ["one two three", "三 四 五", ""]}))
    assert [row["method"] for row in rows][:2] == ["features and simhash", "detector: shingles too"]
    assert all(("missing" in row) != ("failed" in row) for row in rows)
    assert [row["failed"] for row in rows[:2]] == [0, 0]
    assert rows[0]["documents_per_second"]["median"] > 0


def test_failing_method_is_timed_on_other_texts(monkeypatch):
    monkeypatch.setattr(fingerprint, "_METHODS", (("picky", "", lambda: int),))
    (row,) = compare({"texts": ["12", "no number", "7"]})
    assert row["failed"] == 1
    assert "documents_per_second" in row


def test_wrong_fingerprints_stop_the_benchmark(monkeypatch):
    monkeypatch.setattr(fingerprint, "simhash", lambda *_: 12345)
    with pytest.raises(ValueError, match="fingerprints must not depend on how they are computed"):
        list(compare({"texts": ["some words"]}))


def test_the_command_prints_a_table(monkeypatch, capsys):
    monkeypatch.setattr(fingerprint, "_DOCUMENTS", 2)
    assert main(["fingerprint"]) == 0
    out = capsys.readouterr().out
    assert "English, made up" in out
    assert "features and simhash" in out
