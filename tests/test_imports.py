"""What may import what, and where SQL, settings and Scrapy's private parts are used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from dedup.detectors import STAGES

ROOT = Path(__file__).parents[1]
PATHS = [
    path.relative_to(ROOT)
    for folder in ("benchmarks", "crawler", "dedup", "examples", "settings")
    for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
]
SOURCES = {path: (ROOT / path).read_text(encoding="utf-8") for path in PATHS}
TREES = {path: ast.parse(source) for path, source in SOURCES.items()}
MODULES = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in PATHS}

MAY_IMPORT = {
    "dedup": {"dedup"},
    "dedup.scrapy": {"dedup", "dedup.scrapy"},
    "dedup.cli.crawl": {"dedup", "dedup.scrapy"},
    "dedup.cli.demo": {"dedup", "dedup.scrapy"},
    "dedup.cli.serve": {"dedup", "dedup.scrapy"},
    "settings": {"dedup.scrapy", "settings"},
    "crawler": {"dedup", "dedup.scrapy", "crawler"},
    "examples": {"dedup", "dedup.scrapy"},
    "benchmarks": {"dedup", "dedup.scrapy", "crawler", "benchmarks"},
}
OPTIONAL = (
    "mcp pandas playwright prometheus_client psycopg pyarrow pypdfium2 pyspark"
    " scrapy_playwright starlette tokenizers trafilatura uvicorn warcio"
)
"""The packages of the extras: they are imported where they are used, and not before."""

BUILT_ON_THEM = (
    *("dedup.arrow.", "dedup.mcp.", "dedup.serve.", "dedup.spark.", "dedup.store.postgresql."),
    "dedup.scrapy.rendering.",
)


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """All imports of a file, in functions too: modules of ours, and the names taken from them."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if inner in MODULES else (node.module, alias.name)


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def layer(module: str) -> str:
    inner = (name for name in MAY_IMPORT if "." in name and f"{module}.".startswith(f"{name}."))
    return next(inner, module.split(".")[0])


def test_imports_go_one_way() -> None:
    against = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        for other, _ in imported(path)
        if layer(other) not in MAY_IMPORT[layer(name)]
    ]
    assert not against


def test_imports_have_no_circles() -> None:
    """`prepare` raises an error that names the modules of a circle."""
    graph = {name: {other for other, _ in imported(path)} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()


@cache
def names_in(path: Path) -> set[str]:
    """All names that a file defines or imports."""
    nodes = list(ast.walk(TREES[path]))
    defined = {node.name for node in nodes if isinstance(node, DEFINITIONS)}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name)}
    return defined | assigned | {node.name for node in nodes if isinstance(node, ast.alias)}


def test_names_that_are_imported_exist() -> None:
    """In scripts that are seldom run, too."""
    missing = [
        f"{path} imports {name} from {module}"
        for path in PATHS
        for module, name in imported(path)
        if name not in {"", "*"} | names_in(MODULES[module])
    ]
    assert not missing


def test_optional_packages_are_imported_where_they_are_used() -> None:
    """All modules are imported without these packages; those built on them fail."""
    names = [name for name in MODULES if layer(name) in {"crawler", "dedup", "dedup.scrapy"}]
    code = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({OPTIONAL.split()}))
for name in {[name for name in names if not name.endswith(".__main__")]}:
    try:
        importlib.import_module(name)
    except ImportError:
        print(name)
"""
    failed = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert failed
    assert [name for name in failed if not f"{name}.".startswith(BUILT_ON_THEM)] == []


WITH_SQL = (
    Path("dedup/store"),
    Path("benchmarks/store.py"),
    Path("benchmarks/measurements/cluster_scale.py"),
    Path("benchmarks/measurements/cluster_turns.py"),
    Path("benchmarks/measurements/kept_crawl.py"),
    Path("benchmarks/measurements/rendering_refresh.py"),
)
SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA)\b|\bdatabase\.connection\b")


def test_sql_stays_in_the_store() -> None:
    outside = [path for path in PATHS if not any(map(path.is_relative_to, WITH_SQL))]
    assert [path for path in outside if SQL.search(SOURCES[path])] == []


def test_the_store_alone_knows_where_it_is() -> None:
    named = {path.as_posix() for path, source in SOURCES.items() if "crawl.sqlite" in source}
    assert named == {"dedup/store/opening.py"}
    assert not any("database_list" in source for source in SOURCES.values())


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
USES_SCRAPY = [path for name, path in MODULES.items() if layer(name) in {"dedup.scrapy", "crawler"}]


def private_parts_in(path: Path) -> Iterator[str]:
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE_PARTS:
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from {node.value} & PRIVATE_PARTS  # as in hasattr(engine, "…")


def test_private_parts_of_scrapy_are_used_in_one_package() -> None:
    found = {path: set(private_parts_in(path)) for path in USES_SCRAPY}
    assert set().union(*found.values()) == PRIVATE_PARTS
    outside = [path for path in USES_SCRAPY if not path.is_relative_to(INTERNALS)]
    assert [path for path in outside if found[path]] == []
    assert [path for path in outside if "twisted.internet.reactor" in SOURCES[path]] == []


READS_SETTINGS = {
    INTERNALS.parent / name for name in ("addon.py", "config.py", "setting_values.py")
}
READING = re.compile(r"""settings(?:\.get\w*\(|\[)\s*["']DEDUP_""")


def test_settings_are_read_in_one_place() -> None:
    reading = {path for path in USES_SCRAPY if READING.search(SOURCES[path])}
    assert INTERNALS.parent / "config.py" in reading
    assert reading <= READS_SETTINGS


def test_stages_are_listed_in_one_place() -> None:
    """So that a new detector is a file and a row."""
    lists = [
        path.as_posix()
        for path, tree in TREES.items()
        if path.parts[0] == "dedup"
        and len({getattr(node, "value", None) for node in ast.walk(tree)} & {*STAGES}) > 3
    ]
    assert lists == ["dedup/detectors/cascade.py"]
