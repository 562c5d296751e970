"""Imports go one way: crawler -> dedup.scrapy -> the rest of dedup."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [path.relative_to(ROOT) for path in sorted(ROOT.glob("dedup/**/*.py"))]


def imported(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_go_one_way(path):
    is_glue = path.is_relative_to("dedup/scrapy")
    banned = ("crawler", "settings") if is_glue else ("crawler", "settings", "dedup.scrapy")
    found = [
        name for name in imported(path) if any(f"{name}.".startswith(f"{ban}.") for ban in banned)
    ]
    assert not found
