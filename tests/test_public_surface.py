"""What a release had is there until it was announced that it goes: docs/upgrades.md."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.public_surface import surface

ROOT = Path(__file__).parents[1]
RELEASED = sorted((ROOT / "tests" / "released").glob("*.txt"))
_ROW = re.compile(r"^\| `([^`]+)` \| (\d+\.\d+)\.\d+ \| (\d+\.\d+)\.\d+ \|", re.MULTILINE)


def announced() -> dict[str, tuple[str, str]]:
    """By line of a release: the versions that announced its end, and that are without it."""
    text = (ROOT / "docs" / "upgrades.md").read_text(encoding="utf-8")
    return {line: (since, gone) for line, since, gone in _ROW.findall(text)}


@pytest.mark.parametrize("release", RELEASED, ids=lambda path: path.stem)
def test_what_a_release_had_is_there_or_was_announced_to_go(release: Path) -> None:
    missing = set(release.read_text(encoding="utf-8").splitlines()) - surface()
    assert missing <= set(announced())


def test_an_end_is_announced_a_minor_version_before() -> None:
    assert [line for line, (since, gone) in announced().items() if since == gone] == []


def test_rows_of_the_table_are_found() -> None:
    row = "| `dedup.old_name` | 0.3.0 | 0.4.0 | `dedup.new_name` |"
    assert _ROW.findall(row) == [("dedup.old_name", "0.3", "0.4")]


def test_a_surface_is_kept_for_the_version_that_is_worked_on() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == version
    assert RELEASED[-1].stem == version


def test_the_surface_has_each_kind() -> None:
    lines = surface()
    assert {
        "dedup.deduplicate text",
        "dedup export --without-repeated",
        "DEDUP_NEAR_RESEMBLANCE = 0.8",
        "-a max_pages",
        "field published",
        "column of pages url",
        "column of duplicates duplicate_of_job",
    } <= lines
