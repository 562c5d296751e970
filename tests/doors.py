"""What in the packages reads bytes: parsers, regular expressions, decompressors and pickles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

READERS = frozenset(
    """
    ast brotli bz2 cbor2 chardet charset_normalizer email gzip html lxml lzma marshal msgpack pickle
    plistlib protego pyarrow pypdfium2 re regex resiliparse selectolax shelve tarfile tldextract
    tomllib trafilatura warcio xml yaml zipfile zlib zstandard
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
"""Whoever imports one of these reads with it."""

WRITERS_TOO = {"json": {"load", "loads", "JSONDecoder"}, "csv": {"reader", "DictReader"}}
"""Of these only some functions read."""

_BUILT_IN = {"eval", "exec", "compile", "__import__"}
_BY_NAME = {"load_extra", "import_module", "require_extra"}


def uses(source: str) -> Iterator[str]:
    """The names of what a module reads with."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name for each in node.names if (name := _top(each.name)) in READERS)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = _top(node.module or "")
            names = {each.name for each in node.names}
            if module in READERS or names & WRITERS_TOO.get(module, set()):
                yield module
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in WRITERS_TOO.get(node.value.id, ()):
                yield node.value.id
        elif isinstance(node, ast.Call):
            yield from _called(node)


def _called(node: ast.Call) -> Iterator[str]:
    name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
    if isinstance(node.func, ast.Name) and name in _BUILT_IN:
        yield name
    if name in _BY_NAME and node.args and isinstance(node.args[0], ast.Constant):
        yield from {_top(str(node.args[0].value))} & READERS


def _top(module: str) -> str:
    return module.partition(".")[0]


def all_uses() -> dict[str, set[str]]:
    """By module of the packages, as a path: what it reads with."""
    found = {
        path.relative_to(ROOT).as_posix(): set(uses(path.read_text(encoding="utf-8")))
        for package in ("dedup", "crawler")
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    return {path: names for path, names in found.items() if names}
