"""`dedup run`: what counts as a duplicate, which row stays, and what is told of the others."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dedup import resemblance
from dedup.batch import Batch
from dedup.cli import main
from dedup.collection.deciding import Decider
from dedup.document import Document
from tests.json_lines import read, write

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe") for b in "bcdfghjklmnpqrst"]


def text(seed: int, changes: int = 0, words: int = 120) -> str:
    """Made-up words; `changes` of them are other ones."""
    choose = random.Random(seed)
    found = choose.choices(WORDS, k=words)
    for change in range(changes):
        found[(change * 37 + 5) % words] = f"other{seed}x{change}"
    return " ".join(found)


def run(folder: Path, rows: list[dict[str, Any]], *options: object) -> list[dict[str, Any]]:
    """What stays of the rows, or what they are marked with."""
    source, out = write(folder / "in.jsonl", rows), folder / "out.jsonl"
    arguments = ["run", str(source), "-o", str(out), "--overwrite", *map(str, options)]
    assert main(arguments) == 0
    return read(out)


def ids(rows: list[dict[str, Any]]) -> list[Any]:
    return [row["id"] for row in rows]


NEAR = [{"id": "a", "text": text(1)}, {"id": "b", "text": text(1, 3)}, {"id": "c", "text": text(2)}]


def likeness(first: str, second: str) -> float:
    return resemblance(Document("", first).shingles, Document("", second).shingles)


@pytest.mark.parametrize("changes", [2, 4, 6, 8, 12])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9, 1.0])
def test_the_threshold_decides(tmp_path: Path, changes: int, threshold: float) -> None:
    rows = [{"id": 1, "text": text(1)}, {"id": 2, "text": text(1, changes)}]
    alike = likeness(text(1), text(1, changes))
    kept = [1] if alike >= threshold else [1, 2]
    assert ids(run(tmp_path, rows, "--threshold", threshold)) == kept


def test_low_thresholds_propose_nearly_all_pairs(tmp_path: Path) -> None:
    """60 pairs right above 0.5: 0.3% of such are missed by the bands alone."""
    rows = [
        {"id": f"{seed}/{changes}", "text": text(seed, changes, 300)}
        for seed in range(60)
        for changes in (0, 32)
    ]
    assert all(0.5 < likeness(a["text"], b["text"]) < 0.6 for a, b in itertools.pairwise(rows[:2]))
    assert len(run(tmp_path, rows, "--threshold", 0.5)) == 60


def test_stages_that_are_not_named_are_not_asked(tmp_path: Path) -> None:
    rows = [*NEAR, {"id": "d", "text": text(2).upper()}]
    assert ids(run(tmp_path, rows, "--stages", "text")) == ["a", "b", "c"]
    marked = run(tmp_path, rows, "--stages", "minhash", "--mark")
    assert {row["stage"] for row in marked} == {None, "minhash"}


def test_marks_drop_nothing_and_name_the_group(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "text": text(1), "x": None},
        {"id": 2, "text": text(1, 3)},
        {"id": 3, "text": "z"},
    ]
    found = run(tmp_path, rows, "--mark")
    alike = likeness(rows[0]["text"], rows[1]["text"])
    nothing = {"duplicate_of": None, "resemblance": None, "stage": None}
    assert found[0] == {**rows[0], **nothing, "group": 1}
    assert found[2] == {**rows[2], **nothing, "group": 3}
    stage = found[1].pop("stage")
    assert stage in ("sentences", "simhash", "minhash")
    assert found[1] == {**rows[1], "duplicate_of": 1, "resemblance": alike, "group": 1}


def test_marking_again_replaces_the_marks(tmp_path: Path) -> None:
    once = run(tmp_path, NEAR, "--mark")
    assert run(tmp_path, once, "--mark") == once


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_marks_in_tables(tmp_path: Path, ending: str) -> None:
    source, table = write(tmp_path / "in.jsonl", NEAR), tmp_path / f"x.{ending}"
    assert main(["run", str(source), "-o", str(table), "--mark"]) == 0
    again, out = tmp_path / f"y.{ending}", tmp_path / "out.jsonl"
    assert main(["run", str(table), "-o", str(again), "--mark"]) == 0
    assert main(["run", str(again), "-o", str(out)]) == 0
    found = read(out)
    assert ids(found) == ["a", "c"]
    assert list(found[0]) == ["id", "text", "duplicate_of", "resemblance", "stage", "group"]
    assert found[1]["group"] == "c"


def test_the_longest_stays_and_the_order_is_kept(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "text": text(1)},
        {"id": 2, "text": text(2)},
        {"id": 3, "text": text(1) + " and more"},
    ]
    assert ids(run(tmp_path, rows, "--keep", "longest")) == [2, 3]
    marked = run(tmp_path, rows, "--keep", "longest", "--mark")
    assert [(row["id"], row["duplicate_of"], row["group"]) for row in marked] == [
        (1, 3, 3),
        (2, None, 2),
        (3, None, 3),
    ]


# Values of a column, and which of the three stays: the one with the greatest.
NEWEST = {
    "numbers": ([9, 10, 1.5], 1),
    "dates": (["2024-12-01", "2023-01-01", "2024-11-30T23:59:59+00:00"], 0),
    "zones": (["2024-01-01T12:00+02:00", "2024-01-01T11:30Z", None], 1),
    "missing": ([None, "", "2020-01-01"], 2),
    "numbers as text": (["9", "10", "1"], 1),
    "equal": ([5, 5, 5], 0),
}


@pytest.mark.parametrize("name", NEWEST)
def test_the_newest_stays(tmp_path: Path, name: str) -> None:
    values, kept = NEWEST[name]
    rows = [{"id": n, "text": text(1), "day": value} for n, value in enumerate(values)]
    assert ids(run(tmp_path, rows, "--keep", "newest:day")) == [kept]


def test_column_without_times_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": "x", "day": "Monday"}])
    assert main(["run", str(source), "--keep", "newest:day"]) == 2
    assert "found 'Monday'" in capsys.readouterr().err
    assert main(["run", str(source), "--keep", "newest:Day"]) == 2
    assert "no row has column `Day`" in capsys.readouterr().err


@pytest.mark.parametrize("keep", ["longest", "newest:n"])
def test_no_row_is_dropped_for_one_it_does_not_resemble(tmp_path: Path, keep: str) -> None:
    """A chain, each like the next: whoever is dropped resembles one that stays."""
    rows = [
        {"id": n, "text": text(1, n * 3) + " end" * (n % 3), "n": n * 7 % 12} for n in range(12)
    ]
    marked = run(tmp_path, rows, "--keep", keep, "--mark")
    kept = {row["id"]: row["text"] for row in marked if row["duplicate_of"] is None}
    assert 1 < len(kept) < 12
    for row in marked:
        if row["duplicate_of"] is not None:
            alike = likeness(row["text"], kept[row["duplicate_of"]])
            assert alike == row["resemblance"] >= 0.8


def test_groups_are_judged_apart(tmp_path: Path) -> None:
    groups = ["x", "y", "x", None, None, "y", "x"]
    rows = [{"id": n, "text": text(1, n % 3), "g": each} for n, each in enumerate(groups)]
    marked = run(tmp_path, rows, "--within", "g", "--mark")
    assert [row["group"] for row in marked] == [0, 1, 0, 3, 3, 1, 0]
    alone = [run(tmp_path, [row for row in rows if row["g"] == each]) for each in ("x", "y", None)]
    assert sorted(ids(run(tmp_path, rows, "--within", "g"))) == sorted(
        name for found in alone for name in ids(found)
    )


def test_groups_and_preference_together(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "text": text(1), "g": 1},
        {"id": 2, "text": text(1) + " more", "g": 2},
        {"id": 3, "text": text(1) + " and more", "g": 1},
    ]
    assert ids(run(tmp_path, rows, "--within", "g", "--keep", "longest")) == [2, 3]


def test_many_small_groups(tmp_path: Path) -> None:
    rows = [{"id": n, "text": text(n % 7), "g": n % 50} for n in range(700)]
    kept = run(tmp_path, rows, "--within", "g")
    assert ids(kept) == list(range(350))


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_against_a_file(tmp_path: Path, keep: str) -> None:
    base = write(
        tmp_path / "base.jsonl", [{"id": 7, "text": text(1)}, {"id": "k", "text": text(3)}]
    )
    before = base.read_bytes()
    marked = run(tmp_path, [*NEAR, NEAR[2]], "--against", base, "--mark", "--keep", keep)
    assert [row["duplicate_of"] for row in marked] == ["7", "7", None, "c"]
    assert ids(run(tmp_path, NEAR, "--against", base, "--keep", keep)) == ["c"]
    assert base.read_bytes() == before


def test_against_a_job(tmp_path: Path) -> None:
    job, base = tmp_path / "job", write(tmp_path / "base.jsonl", NEAR[:1])
    assert main(["run", str(base), "--job", str(job)]) == 0
    before = (job / "crawl.sqlite").read_bytes()
    assert ids(run(tmp_path, NEAR, "--against", job)) == ["c"]
    assert (job / "crawl.sqlite").read_bytes() == before


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_against_several_jobs_and_files(tmp_path: Path, keep: str) -> None:
    """As if all of them were one file, for each row that one of them has."""
    old = [{"id": f"old {n}", "text": text(n)} for n in range(9)]
    rows = [{"id": n, "text": text(n % 11, n % 4)} for n in range(40)]
    options = ["--keep", keep, "--mark"]
    whole = run(tmp_path, rows, "--against", write(tmp_path / "whole.jsonl", old), *options)
    against: list[object] = []
    for number in range(5):
        part = write(tmp_path / f"part-{number}.jsonl", old[number::5])
        job = tmp_path / f"job-{number}"
        if number in (1, 4):
            assert main(["run", str(part), "--job", str(job)]) == 0
        against += ["--against", job if job.exists() else part]
    assert run(tmp_path, rows, *against, *options) == whole
    assert {row["duplicate_of"] for row in whole} >= {row["id"] for row in old}


@pytest.mark.parametrize("kind", ["job", "part.jsonl"])
def test_a_name_given_twice_in_against_is_refused(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = write(tmp_path / "part.jsonl", NEAR)
    assert main(["run", str(part), "--job", str(tmp_path / "job")]) == 0
    against = ["--against", str(tmp_path / kind)] * 2
    assert main(["run", str(write(tmp_path / "in.jsonl", NEAR)), *against]) == 2
    assert "--against must name each " in capsys.readouterr().err


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_against_a_file_within_a_column(tmp_path: Path, keep: str) -> None:
    """As if each group had been compared with its own part of the file."""
    choose = random.Random(4)
    base, rows = (
        [
            {"id": n, "g": choose.choice("xyz"), "text": text(choose.randrange(6), n % 3)}
            for n in range(count)
        ]
        for count in (20, 60)
    )
    options = ["--keep", keep, "--mark"]
    apart = []
    for group in "xyz":
        old = write(tmp_path / "old.jsonl", [row for row in base if row["g"] == group])
        own = [row for row in rows if row["g"] == group]
        apart += run(tmp_path, own, "--against", old, *options)
    old = write(tmp_path / "old.jsonl", base)
    together = run(tmp_path, rows, "--within", "g", "--against", old, *options)
    assert together == sorted(apart, key=lambda row: row["id"])
    assert len({row["duplicate_of"] for row in together}) > 3


def test_a_group_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": n, "g": n % 2, "text": text(n % 9, n % 3)} for n in range(1_400)]
    old = write(tmp_path / "old.jsonl", [{**rows[n], "id": f"old {n}"} for n in (0, 1, 7)])
    options = ["--within", "g", "--against", old, "--mark", "--processes", "1"]
    whole = run(tmp_path, rows, *options)
    decide, decided = Decider.decide, []

    def failing(self: Decider, batch: Batch, kinds: Sequence[int]) -> Any:
        decided.append(len(kinds))
        if len(decided) == 2:
            raise OSError("the power is gone")
        return decide(self, batch, kinds)

    source, out, job = tmp_path / "in.jsonl", tmp_path / "again.jsonl", tmp_path / "job"
    command = ["run", source, *options, "-o", out, "--job", job]
    with monkeypatch.context() as patch:
        patch.setattr(Decider, "decide", failing)
        assert main(list(map(str, command))) == 2
    assert 0 < decided[0] < 700
    assert main(list(map(str, command))) == 0
    assert read(out) == whole


def test_against_a_job_within_a_column_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, base = tmp_path / "job", write(tmp_path / "base.jsonl", NEAR)
    assert main(["run", str(base), "--job", str(job)]) == 0
    assert main(["run", str(base), "--within", "id", "--against", str(job)]) == 2
    assert "--within needs files for --against, because a job does not keep `id`" in (
        capsys.readouterr().err
    )


# Options that are refused, and what is said.
REFUSED = {
    "threshold": (["--threshold", "1.5"], "threshold must be above 0 and at most 1"),
    "stages": (["--stages", "text,nilsimsa"], "stages must be some of body, text"),
    "no stages": (["--stages", ","], "stages must be some of"),
    "keep": (["--keep", "best"], "keep must be first, or longest, newest:COLUMN"),
    "newest": (["--keep", "newest:"], "keep must be first, or longest, newest:COLUMN"),
    "processes": (["--processes", "0"], "--processes must be auto or a whole number"),
    "mark": (["--mark"], "--mark needs -o OUT"),
    "against": (["--against", "nowhere"], "file not found"),
    "empty column": (["--text", ""], "--text must not be empty"),
    "empty folder": (["--job", ""], "--job must not be empty"),
    "empty output": (["-o", ""], "-o must not be empty"),
    "empty input": ([""], "IN must not be empty"),
    "within": (["--within", "txt"], "no row has column `txt`; the nearest is `text`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_options_are_one_sentence(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, wanted = REFUSED[name]
    source = write(tmp_path / "in.jsonl", NEAR)
    assert main(["run", str(source), *options]) == 2
    assert wanted in capsys.readouterr().err


OFFERS = [
    {"id": 1, "text": text(1), "price": 5, "sku": "a", "seen": "mon"},
    {"id": 2, "text": text(1), "price": 5, "sku": " a ", "seen": "tue"},
    {"id": 3, "text": text(1), "price": 6, "sku": "a", "seen": "wed"},
    {"id": 4, "text": text(1, 2), "price": 6, "sku": "a", "seen": "thu"},
    {"id": 5, "text": text(1), "price": 6, "seen": "fri"},
    {"id": 6, "text": text(1), "price": 5, "sku": "b", "seen": "sat"},
]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ((), [1]),
        (("--compare", "price,sku"), [1, 3, 5, 6]),
        (("--compare", "price, sku", "--processes", "2"), [1, 3, 5, 6]),
        (("--compare", "price"), [1, 3]),
        (("--compare", "sku", "--within", "price"), [1, 3, 5, 6]),
        (("--compare", "price,sku", "--keep", "longest"), [1, 4, 5, 6]),
        (("--compare", "seen"), [1, 2, 3, 4, 5, 6]),
        (("--compare", "price,sku", "--stages", "minhash"), [1, 3, 5, 6]),
        (("--compare", "price,sku", "--stages", "text"), [1, 3, 4, 5, 6]),
    ],
)
def test_named_columns_count_beside_the_text(
    tmp_path: Path, columns: tuple[str, ...], expected: list[int]
) -> None:
    assert ids(run(tmp_path, OFFERS, *columns)) == expected


def test_columns_that_count_hold_for_what_is_known_and_for_a_job(tmp_path: Path) -> None:
    known = write(tmp_path / "known.jsonl", OFFERS[:1])
    compare = "--compare", "price,sku"
    assert ids(run(tmp_path, OFFERS[1:], *compare, "--against", known)) == [3, 5, 6]
    job = tmp_path / "job"
    assert ids(run(tmp_path, OFFERS[:4], *compare, "--job", job)) == [1, 3]
    assert ids(run(tmp_path, OFFERS[:4], *compare, "--job", job)) == [1, 3]
    assert ids(run(tmp_path, OFFERS[1:], *compare, "--against", job)) == [5, 6]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--compare", "prise"), "no row has column `prise`; the nearest is `price`"),
        (("--compare", "price,"), "--compare must be column names, got 'price,'"),
        (("--against", "{job}"), "with the same columns in --compare"),
        (("--against", "{job}", "--compare", "sku"), "compared by price, sku"),
        (("--job", "{job}"), "the job was started with different compare"),
        (("--compare", "sku", "--engine", "spark"), "--compare cannot be used with --engine spark"),
    ],
)
def test_incomparable_columns_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], sentence: str
) -> None:
    job, out = tmp_path / "job", tmp_path / "other.jsonl"
    run(tmp_path, OFFERS, "--compare", "price,sku", "--job", job)
    capsys.readouterr()
    given = [each.format(job=job) for each in options]
    assert main(["run", str(tmp_path / "in.jsonl"), "-o", str(out), *given]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not out.exists()
