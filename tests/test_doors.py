"""docs/security.md names every place where something from outside is read."""

from __future__ import annotations

import re

import pytest

from tests.doors import ROOT, all_uses, uses

_PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def _section() -> str:
    return _PAGE.partition("\n## The doors\n")[2].partition("\n## ")[0]


def _rows() -> list[list[str]]:
    lines = [line for line in _section().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _files() -> list[tuple[str, str]]:
    return re.findall(r"`((?:dedup|crawler)/[\w/]+\.py)` \(([\w, ]+)\)", _section())


def _documented() -> dict[str, set[str]]:
    return {path: set(names.split(", ")) for path, names in _files()}


def test_each_use_of_a_parser_is_in_the_table() -> None:
    assert all_uses() == _documented()


def test_no_file_is_named_twice() -> None:
    assert len(_files()) == len(_documented())


def test_each_door_names_its_bound_and_an_existing_test() -> None:
    doors = [row for row in _rows() if len(row) == 7][1:]
    assert len(doors) > 10
    for what, who, where, bounds, _beyond, _files, tests in doors:
        assert all((who, where, bounds, tests)), what
        for name in re.findall(r"`([^`]+)`", tests):
            assert (ROOT / name).is_file(), name
    reasons = [row for row in _rows() if len(row) == 3]
    assert all(all(row) for row in reasons)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("def f():\n    from lxml import etree", ["lxml"]),
        ("import xml.etree.ElementTree as tree", ["xml"]),
        ("import json\njson.loads(b'')", ["json"]),
        ("from json import loads", ["json"]),
        ("import json\njson.dumps(1)", []),
        ("import csv\ncsv.writer(f)", []),
        ("load_extra('warcio.archiveiterator', extra='warc')", ["warcio"]),
        ("eval('1')", ["eval"]),
        ("from dedup import text", []),
    ],
)
def test_a_use_is_found_wherever_it_stands(source: str, found: list[str]) -> None:
    assert list(uses(source)) == found


def test_added_use_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first test fails where any module of the packages reads with one more."""
    from tests import doors

    real = doors.uses
    monkeypatch.setattr(doors, "uses", lambda source: [*real(source), "pickle"])
    assert all_uses().keys() > _documented().keys()
    assert all_uses()["dedup/html/page.py"] - _documented()["dedup/html/page.py"] == {"pickle"}
