"""Both engines write the same lines, whatever the format and wherever rows are compared with."""

import csv
import gzip
import io
import json
import lzma
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

from dedup.cli import main
from tests.dedup.arrow.families import as_pages, planted
from tests.dedup.collection.html_site import DROPPED, KEPT, page, paragraphs, site, words
from tests.warc_records import http_response, warc_record

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_session"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

ROWS = planted(7)
PAGES = as_pages(ROWS, 7)
SPARK = ["--engine", "spark", "--master", "local[2]"]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def warc(rows: list[dict[str, Any]]) -> bytes:
    """Pages as responses, and each tenth as plain text."""
    records = []
    for row in rows:
        is_plain = row["id"] % 10 == 0
        body = ("Text.\n" + row["html"][:200] if is_plain else row["html"]).encode()
        kind = "plain" if is_plain else "html"
        block = http_response(body, f"Content-Type: text/{kind}; charset=utf-8")
        records.append(gzip.compress(warc_record(row["url"], block, name=f"uuid:{row['id']}")))
    return b"".join(records)


def both(folder: Path, *arguments: str) -> tuple[list[bytes], list[bytes]]:
    """The lines that stay and those of what is dropped, which both engines write."""
    here = [folder / "here.jsonl", folder / "here-d.jsonl"]
    there = [folder / "there", folder / "there-d"]
    for (out, dropped), engine in ((here, ["--processes", "1"]), (there, SPARK)):
        assert main(["run", *arguments, "-o", str(out), "-d", str(dropped), *engine]) == 0
    lines = [path.read_bytes().splitlines() for path in here]
    parts = [
        [line for part in sorted(path.glob("part-*")) for line in part.read_bytes().splitlines()]
        for path in there
    ]
    assert parts[0] == lines[0]
    assert parts[1] == lines[1]
    return lines[0], lines[1]


def test_pages_are_read_by_templates_learned_first(tmp_path: Path) -> None:
    first, second = tmp_path / "b.jsonl", tmp_path / "a.jsonl.gz"
    texts = [{"id": f"t{row['id']}", "text": row["text"]} for row in ROWS[::5]]
    first.write_bytes(jsonl([*PAGES[:70], *texts]))
    second.write_bytes(gzip.compress(jsonl([{"id": "no", "html": 5}, *PAGES[70:]])))
    stays, dropped = both(tmp_path, str(first), str(second), "--html", "html")
    assert len(dropped) > 20
    assert len(stays) > 40
    # Without what is learned, menus are part of each text: another answer.
    plain = tmp_path / "plain.jsonl"
    assert main(["run", str(first), "-o", str(plain), "--html", "html", "--url", "group"]) == 0
    assert set(plain.read_bytes().splitlines()) - set(stays)


def test_parquet_with_markup_and_with_texts(tmp_path: Path) -> None:
    import pyarrow.parquet

    source, out, whole = (tmp_path / name for name in ("in.parquet", "out.parquet", "w.parquet"))
    rows: list[dict[str, Any]] = [{**page, "text": "", "count": page["id"] * 2} for page in PAGES]
    rows += [{**row, "id": 1000 + row["id"], "html": None, "count": 7} for row in planted(6)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), source)
    assert main(["run", str(source), "-o", str(out), "--html", "html", *SPARK]) == 0
    assert main(["run", str(source), "-o", str(whole)]) == 0
    kept = [
        row
        for part in sorted(out.glob("part-*"))
        for row in pyarrow.parquet.read_table(part).to_pylist()
    ]
    assert kept == pyarrow.parquet.read_table(whole).to_pylist()
    for is_page, count in ((True, len(PAGES)), (False, len(rows) - len(PAGES))):
        assert 0 < sum((row["html"] is not None) == is_page for row in kept) < count


def test_csv_archives_and_lines_in_one_folder(tmp_path: Path) -> None:
    """Cells with line breaks, a broken row, a compression that Spark does not know."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [{**row, "text": row["text"] + ' "q",\nend'} for row in ROWS]
    elsewhere = [{**row, "url": f"http://d.example/{row['id']}"} for row in PAGES[20:30]]
    (folder / "b.csv").write_bytes(as_csv(rows[:60]) + b"1,2\r\n")
    (folder / "a.jsonl.xz").write_bytes(lzma.compress(jsonl(ROWS[60:90])))
    (folder / "c.warc.gz").write_bytes(warc([*PAGES[:80], *elsewhere]))
    (folder / "d.jsonl").write_bytes(jsonl(rows[60:]))
    (folder / "notes.txt").write_text("not a collection")
    _, dropped = both(tmp_path, str(folder))
    assert {json.loads(line)["stage"] for line in dropped} >= {"body", "text", "minhash"}


def test_against_files(tmp_path: Path) -> None:
    old, older, new = (tmp_path / name for name in ("old.csv", "older.csv", "new.jsonl"))
    old.write_bytes(as_csv(ROWS[1:60:3]))
    older.write_bytes(as_csv(ROWS[61::3]))
    new.write_bytes(jsonl([{**row, "id": 1000 + row["id"]} for row in ROWS]))
    against = ["--against", str(old), "--against", str(older)]
    options = ["--keep", "longest", "--within", "group", "--mark"]
    stays, dropped = both(tmp_path, str(new), *against, *options)
    originals = [json.loads(line)["duplicate_of"] for line in dropped]
    assert any(isinstance(each, str) for each in originals)  # an id of the old ones is text
    assert any(isinstance(each, int) for each in originals)
    assert len(stays) >= len(ROWS) - len(dropped)


def test_equal_pages_whose_text_may_be_furniture_stay(tmp_path: Path) -> None:
    """Asked for near duplicates only; of pages of one host without a known template."""
    source = tmp_path / "in.jsonl"
    words = " ".join(row["text"] for row in ROWS[:3])
    page = {"html": f"<body><p>{words}", "url": "http://a.example/x"}
    source.write_bytes(jsonl([{"id": 1, **page}, {"id": 2, **page}]))
    stays, _ = both(tmp_path, str(source), "--stages", "minhash")
    assert len(stays) == 2
    again = tmp_path / "again.jsonl"  # what Spark wrote is a collection itself
    assert main(["run", str(tmp_path / "there"), "--stages", "minhash", "-o", str(again)]) == 0
    assert again.read_bytes().splitlines() == stays


def test_pages_that_differ_around_their_texts_stay(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    rows = site()
    source.write_bytes(jsonl([*rows, {**rows[-1], "id": "the last once more"}]))
    _, dropped = both(tmp_path, str(source))
    found = {row["id"]: row["duplicate_of"] for row in map(json.loads, dropped)}
    assert found == {**DROPPED, "the last once more": DROPPED["article/5.plain"]}


def test_every_pair_is_looked_at_from_the_side_of_the_later_page(tmp_path: Path) -> None:
    """Families of short and long texts with lines around them that some of their pages share."""
    choose = random.Random(5)
    rows = []
    for number in range(160):
        family = choose.randrange(24)
        crumbs = " / ".join(words(("crumb", choose.randrange(60)), 6) for _ in range(number % 4))
        text = paragraphs(family, 1 + family % 3)
        if number % 5 == 0:
            crumbs += f"<p>{words(('notice', number), 90)}.</p>"
        rows.append(page(f"p/{family}/{number}", words(("h", family), 3), text, crumbs=crumbs))
        if number % 7 == 0:
            rows.append({**rows[-1], "id": f"{number} again"})
    source = tmp_path / "in.jsonl"
    source.write_bytes(jsonl(choose.sample(rows, len(rows))))
    stays, dropped = both(tmp_path, str(source), "--keep", "longest")
    assert len(stays) > 40
    assert len(dropped) > 40


def test_pages_are_looked_at_against_files(tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_bytes(jsonl([row for row in site() if row["id"] not in (*DROPPED, KEPT[1])]))
    new.write_bytes(jsonl([{**row, "id": f"new {row['id']}"} for row in site()]))
    stays, _ = both(tmp_path, str(new), "--against", str(old))
    assert [json.loads(line)["id"] for line in stays] == [f"new {KEPT[1]}"]
