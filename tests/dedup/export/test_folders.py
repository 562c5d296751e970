"""Folders of Parquet: by host or day, and those that the package `datasets` opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from dedup.export import dataset
from dedup.export.partitions import write_partitions
from dedup.store import Page, SqliteStore
from tests.json_lines import read

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

UNKNOWN = "__HIVE_DEFAULT_PARTITION__"


@pytest.fixture
def folder(job: Path, tmp_path: Path) -> Path:
    """Where a job has a page of a host with a port, fetched on another day."""
    url = "http://[2001:db8::1]:8000/x"
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(9, Page(id="", text="Port", url=url, fetched_at=1_800_000_000.0), {})
    return tmp_path


def export(folder: Path, *options: object) -> int:
    return main(["export", str(folder), *map(str, options)])


def pages(folder: Path) -> list[dict[str, Any]]:
    assert export(folder, "-o", folder / "p.jsonl", "--overwrite") == 0
    return [{**row, "id": str(row["id"])} for row in read(folder / "p.jsonl")]


def files(path: Path) -> list[str]:
    return sorted(str(each.relative_to(path)) for each in path.rglob("*") if each.is_file())


def test_each_host_has_a_folder(folder: Path) -> None:
    out = folder / "p.parquet"
    assert export(folder, "-o", out, "--partition", "host") == 0
    hosts = ["%5B2001%3Adb8%3A%3A1%5D%3A8000", UNKNOWN, "a.example", "d.example"]
    assert files(out) == [f"host={host}/part-0.parquet" for host in hosts]
    found = duckdb.sql(f"SELECT id, url, host FROM read_parquet('{out}/*/*.parquet') ORDER BY id")
    expected = {"a.example": "1", "d.example": "4", None: "5", "[2001:db8::1]:8000": "9"}
    assert {host: id_ for id_, _, host in found.fetchall()} == expected
    of_file = parquet.read_table(out / "host=d.example/part-0.parquet", partitioning=None)
    assert of_file.column_names == list(pages(folder)[0])


def test_each_day_has_a_folder(folder: Path) -> None:
    out = folder / "p.parquet"
    assert export(folder, "-o", out, "--partition", "date", "--fields", "id,text") == 0
    assert files(out) == [f"date={day}/part-0.parquet" for day in ("2023-11-14", "2027-01-15")]
    found = duckdb.sql(f"SELECT id, text, date::text FROM read_parquet('{out}/*/*.parquet')")
    assert sorted(found.fetchall()) == [
        (row["id"], row["text"], row["fetched_at"][:10]) for row in pages(folder)
    ]


def test_many_hosts_keep_their_rows_in_order(tmp_path: Path) -> None:
    rows = [{"url": f"http://h{n % 300}.example/{n}", "n": n} for n in range(900)]
    assert write_partitions(tmp_path, rows, {"n": "int32"}, "host") == 300
    for number in range(300):
        path = tmp_path / f"host=h{number}.example" / "part-0.parquet"
        found = parquet.read_table(path, partitioning=None).to_pydict()
        assert found == {"n": [number, number + 300, number + 600]}


def test_a_host_whose_name_is_too_long_for_a_folder_is_not_lost(tmp_path: Path) -> None:
    rows = [{"url": f"http://{'a' * 260}.example/"}, {"url": "http://.."}]
    write_partitions(tmp_path, rows, {"url": "string"}, "host")
    assert files(tmp_path) == [f"host={each}/part-0.parquet" for each in ("..", UNKNOWN)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "p.jsonl"], "--partition needs Parquet, such as -o pages.parquet, got 'p.jsonl'"),
        ([], "--partition needs Parquet, such as -o pages.parquet, got no -o"),
        (["-o", "p.wacz"], "--partition needs Parquet"),
        (["--pieces", "9", "-o", "p.parquet"], "--pieces writes one file"),
    ],
)
def test_other_formats_are_not_parted(
    job: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(job, "--partition", "host", *options) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--partition", "host", "-o"], ["--dataset"]])
def test_a_folder_is_never_replaced(
    job: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = job / "out.parquet"
    out.mkdir()
    assert export(job, *options, out) == 0  # it was empty
    before = files(out)
    assert export(job, *options, out, "--overwrite") == 2
    assert "already exists; remove it, or name another folder" in capsys.readouterr().err
    assert files(out) == before


@pytest.mark.parametrize("options", [["--partition", "host", "-o"], ["--dataset"]])
def test_nothing_is_left_of_a_folder_that_cannot_be_written(
    job: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more")

    for module in ("partitions", "dataset"):
        monkeypatch.setattr(f"dedup.export.{module}.write_parquet", fail)
    before = set(job.iterdir())
    assert export(job, *options, job / "out.parquet") == 2
    assert set(job.iterdir()) == before


FIELDS = "id,url,title,text,language,status,fetched_at,headings,links,tables"


def test_datasets_opens_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    assert export(folder, "--dataset", folder / "ds", "--fields", FIELDS) == 0
    cache = str(folder / "cache")
    found = datasets.load_dataset(str(folder / "ds"), split="train", cache_dir=cache)
    assert found.column_names == FIELDS.split(",")
    assert found["text"] == [row["text"] for row in pages(folder)]
    builder = datasets.load_dataset_builder(str(folder / "ds"), cache_dir=cache)
    assert builder.info.features == found.features  # those of the card are those of the files
    assert builder.info.splits["train"].num_examples == 4


def test_large_datasets_are_in_several_files(tmp_path: Path) -> None:
    columns = {"url": "string", "fetched_at": "timestamp"}
    time = "2026-11-21T10:00:00.000Z"
    rows = [{"url": f"http://a.example/{n}", "fetched_at": time} for n in range(2_500)]
    dataset.write_dataset(tmp_path, "x", rows, columns, n_duplicates=3, shard_bytes=1)
    names = [f"data/train-{number:05}-of-00003.parquet" for number in range(3)]
    assert files(tmp_path) == ["README.md", *names]
    found = [
        url for name in names for url in parquet.read_table(tmp_path / name)["url"].to_pylist()
    ]
    assert found == [row["url"] for row in rows]


def test_a_full_last_file_is_followed_by_none(tmp_path: Path) -> None:
    rows = [{"url": None, "fetched_at": "2026-11-21T10:00:00.000Z"}] * 1_000
    dataset.write_dataset(tmp_path, "x", rows, {"url": "string"}, n_duplicates=0, shard_bytes=1)
    assert files(tmp_path) == ["README.md", "data/train-00000-of-00001.parquet"]


def test_the_card_tells_what_is_there(folder: Path) -> None:
    assert export(folder, "--dataset", folder / "ds") == 0
    card = (folder / "ds" / "README.md").read_text(encoding="utf-8")
    assert f'pretty_name: "{folder.name}"\n' in card
    assert 'language:\n- "zh"\nsize_categories:\n- n<1K\n' in card
    assert "    num_examples: 4\n" in card
    assert "4 pages of a.example, d.example, [2001:db8::1]:8000, fetched from 2023-11-14T22" in card
    assert "\n2 duplicates were left out." in card
    assert "license" not in card.partition("\n---\n")[0]  # it is the user's to name


def test_the_card_tells_what_is_left_out(folder: Path) -> None:
    options = "--only-allowed", "train", "--without-repeated=0.3", "--url", "`a b"
    assert export(folder, "--dataset", folder / "ds", *options) == 0
    card = (folder / "ds" / "README.md").read_text(encoding="utf-8")
    given = "`'--url=?a b' --only-allowed=train --without-repeated=0.3`"
    assert f"\nPages or passages were left out by options of the export: {given}.\n" in card
    assert export(folder, "--dataset", folder / "all") == 0
    assert "options" not in (folder / "all" / "README.md").read_text(encoding="utf-8")


def test_an_empty_job_is_a_dataset(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "crawl.sqlite").close()
    assert export(tmp_path, "--dataset", tmp_path / "ds") == 0
    assert "0 pages of no host by scrapy-dedup." in (tmp_path / "ds" / "README.md").read_text()


def test_hosts_of_strangers_stay_text(tmp_path: Path) -> None:
    rows = [{"url": "http://x(javascript)<b>`/", "fetched_at": "2026"}]
    dataset.write_dataset(tmp_path, "x\n# y", rows, {"url": "string"}, n_duplicates=0)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "\n# x # y\n" in card
    assert "\n1 pages of x?javascript??b??, fetched" in card
