"""What users import: complete, sorted, and light."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLUE = ROOT / "dedup" / "scrapy"
PACKAGES = ["dedup", "dedup.detectors", "dedup.html", "dedup.index", "dedup.store", "dedup.urls"]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_there_and_named_once(name: str) -> None:  # that it is sorted, ruff checks
    package = importlib.import_module(name)
    assert len(package.__all__) == len(set(package.__all__))
    assert all(hasattr(package, exported) for exported in package.__all__)


def test_dedup_exports_all_that_it_imports() -> None:
    package = importlib.import_module("dedup")
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    assert imported == set(package.__all__)


def loaded_by(statement: str) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def test_import_of_dedup_is_light_and_knows_no_scrapy() -> None:
    modules = loaded_by("import dedup, dedup.store, dedup.cli")
    assert "dedup.deduplicator" in modules
    heavy = {"scrapy", "twisted", "crawler", "settings", "jieba", "rjieba", "numba", "trafilatura"}
    assert not modules & heavy


def test_settings_import_nothing() -> None:
    for path in (ROOT / "settings").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node for node in tree.body if isinstance(node, ast.Import)], path.name


@pytest.mark.parametrize("path", [GLUE / "default_settings.py", ROOT / "settings" / "base.py"])
def test_every_setting_is_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id.startswith("DEDUP_"):
            assert isinstance(following, ast.Expr), f"{target.id} has no docstring"


def test_every_setting_is_read() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in GLUE.rglob("*.py")
        if path.name != "default_settings.py"
    )
    from dedup.scrapy import default_settings

    unread = [
        name for name in vars(default_settings) if name.startswith("DEDUP_") and name not in source
    ]
    assert not unread
