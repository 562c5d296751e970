"""Imports go one way: crawler -> dedup.scrapy -> the rest of dedup; SQL stays in the store."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [path.relative_to(ROOT) for path in sorted(ROOT.glob("dedup/**/*.py"))]
ALL_SOURCES = [
    path.relative_to(ROOT)
    for folder in ("dedup", "crawler", "settings", "benchmarks", "examples")
    for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
]
WITH_SQL = Path("dedup/store"), Path("benchmarks/measurements/cluster_scale.py")
"""The store, and the measurement that fills its tables and asks the server about them."""

OUTSIDE_THE_STORE = [path for path in ALL_SOURCES if not any(map(path.is_relative_to, WITH_SQL))]


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


@pytest.mark.parametrize("path", OUTSIDE_THE_STORE, ids=str)
def test_sql_stays_in_the_store(path):
    source = (ROOT / path).read_text()
    assert not re.findall(r"\b(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA)\b", source)
    assert not re.findall(r"\bdatabase\.connection\b", source)


def test_the_name_of_a_job_s_store_is_spelled_once():
    found = [path for path in ALL_SOURCES if "crawl.sqlite" in (ROOT / path).read_text()]
    assert found == [Path("dedup/store/opening.py")]


def test_a_store_knows_its_path():
    assert not [path for path in ALL_SOURCES if "database_list" in (ROOT / path).read_text()]


# What Scrapy's documentation does not name, as attributes.
PRIVATE_PARTS = {
    "_create_crawler",
    "_get_slot",
    "_maybe_fire_closing",
    "addons",
    "bootstrap_failed",
    "close_spider_async",
    "downloader",
    "engine",
    "getDelayedCalls",
    "inprogress",
    "jitter",
    "lastseen",
    "nextcall",
    "randomize_delay",
    "scraper",
    "start_itemproc",
    "start_itemproc_async",
    "total_concurrency",
}
INTERNALS = Path("dedup/scrapy/internals")
USES_SCRAPY = [
    path
    for path in ALL_SOURCES
    if path.is_relative_to("dedup/scrapy") or path.is_relative_to("crawler")
]


def private_parts_in(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE_PARTS:
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from {node.value} & PRIVATE_PARTS  # as in hasattr(engine, "…")


@pytest.mark.parametrize("path", USES_SCRAPY, ids=str)
def test_private_parts_of_scrapy_are_used_in_one_package(path):
    if not path.is_relative_to(INTERNALS):
        assert not set(private_parts_in(path))
        assert "twisted.internet.reactor" not in (ROOT / path).read_text()


def test_each_private_part_is_used():
    used = {name for path in USES_SCRAPY for name in private_parts_in(path)}
    assert used == PRIVATE_PARTS


READS_SETTINGS = {
    INTERNALS.parent / name for name in ("addon.py", "config.py", "setting_values.py")
}
READING = re.compile(r"""settings(?:\.get\w*\(|\[)\s*["']DEDUP_""")


@pytest.mark.parametrize("path", sorted(set(USES_SCRAPY) - READS_SETTINGS), ids=str)
def test_settings_are_read_in_one_place(path):
    assert not READING.findall((ROOT / path).read_text())


def test_the_place_where_settings_are_read_is_found():
    assert READING.findall((ROOT / "dedup/scrapy/config.py").read_text())


MEASUREMENTS = [path for path in ALL_SOURCES if path.is_relative_to("benchmarks")]


@pytest.mark.parametrize("path", MEASUREMENTS, ids=str)
def test_measurements_import_what_is_there(path):
    """They are seldom run: what is renamed is found here."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "dedup":
            continue
        assert find_spec(node.module)
        module = pytest.importorskip(node.module, exc_type=ModuleNotFoundError)
        missing = [each.name for each in node.names if not hasattr(module, each.name)]
        assert not [name for name in missing if find_spec(f"{node.module}.{name}") is None]
