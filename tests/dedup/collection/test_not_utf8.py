"""Rows with bytes that are not UTF-8: different ones stay different, and their bytes are kept."""

from pathlib import Path

import pytest

from dedup.cli import main

ROWS = {
    "in.jsonl": b'{"id":1,"text":"M\xe4rz"}\n{"id":2,"text":"M\xf6rz"}\n',
    "in.csv": b"id,text\r\n1,M\xe4rz\r\n2,M\xf6rz\r\n",
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_are_not_utf8_are_told_apart_and_kept(name: str, tmp_path: Path) -> None:
    source, kept = tmp_path / name, tmp_path / f"kept-{name}"
    source.write_bytes(ROWS[name])
    assert main(["run", str(source), "-o", str(kept)]) == 0
    assert kept.read_bytes() == ROWS[name]
