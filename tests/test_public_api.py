"""What users import: complete, sorted, and light."""

import ast
import importlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
GLUE = ROOT / "dedup" / "scrapy"
PACKAGES = ["dedup", "dedup.detectors", "dedup.html", "dedup.index", "dedup.store", "dedup.urls"]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_there_and_named_once(name: str) -> None:  # that it is sorted, ruff checks
    package = importlib.import_module(name)
    assert len(package.__all__) == len(set(package.__all__))
    assert all(hasattr(package, exported) for exported in package.__all__)


def test_dedup_exports_all_that_type_checkers_see() -> None:
    package = importlib.import_module("dedup")
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    assert imported == set(package.__all__) == set(package._MODULES)


def test_unknown_name_raises_attribute_error() -> None:
    package = importlib.import_module("dedup")
    with pytest.raises(AttributeError, match="module 'dedup' has no attribute 'Deduplicater'"):
        _ = package.Deduplicater


def test_public_names_have_types() -> None:
    """As a user's type checker sees them, in strict mode."""
    pytest.importorskip("mypy")
    from mypy import api

    said, errors, status = api.run(
        ["--config-file=", "--follow-imports=silent", "--strict", "-c", USED]
    )
    assert (status, errors) == (0, ""), said


USED = """
from collections.abc import Iterator
from dedup import Deduplicator, Document, Match, Verdict, default_detectors, resemblance
from dedup.store import JobStore, open_store
from dedup.urls import canonical_url

deduplicator = Deduplicator()
verdict: Verdict = deduplicator.process(Document(id="a", text="A text."))
match: Match | None = verdict.match
verdicts: Iterator[Verdict] = deduplicator.process_many([])
store: JobStore = open_store("job")
url: str = canonical_url("http://a.example/")
import dedup
job: dedup.Job = dedup.crawl("http://a.example/", job="a", max_pages=5)
rows: Iterator[dict[str, object]] = dedup.open_job("crawls/a").pages("url", "markdown")
found: str = job.search("words")[0].url
number: float = resemblance(Document("a", "a").shingles, Document("b", "b").shingles)
"""


def loaded_by(statement: str) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def test_import_of_dedup_is_light_and_knows_no_scrapy() -> None:
    modules = loaded_by("import dedup, dedup.store, dedup.cli; dedup.Deduplicator")
    assert "dedup.deduplicator" in modules
    heavy = {"scrapy", "twisted", "crawler", "settings", "jieba", "rjieba", "numba", "trafilatura"}
    assert not modules & heavy


def test_a_command_that_prints_its_help_loads_no_numbers() -> None:
    modules = loaded_by("import dedup, dedup.cli; dedup.cli._parser(['--help'])")
    assert not modules & {"numpy", "dedup.deduplicator", "dedup.store.sqlite", "fcntl", "resource"}


@pytest.mark.parametrize("command", ["crawl", "demo"])
def test_help_of_a_crawl_loads_no_scrapy(command: str) -> None:
    modules = loaded_by(f"import dedup.cli; dedup.cli._parser(['{command}', '--help'])")
    assert f"dedup.cli.{command}" in modules
    assert not modules & {"scrapy", "twisted", "dedup.scrapy"}


def test_settings_import_nothing_but_the_environment() -> None:
    for path in (ROOT / "settings").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.Import)]
        assert {alias.name for node in imports for alias in node.names} <= {"os"}, path.name


@pytest.mark.parametrize("path", [GLUE / "default_settings.py", GLUE / "crawl_settings.py"])
def test_every_setting_is_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id.startswith("DEDUP_"):
            assert isinstance(following, ast.Expr), f"{target.id} has no docstring"


def test_wheel_has_one_package() -> None:
    """What it has of files that are no modules is in the package, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["dedup"]}
    entries = project["project"]["entry-points"]["scrapy.commands"].values()
    for entry in (*project["project"]["scripts"].values(), *entries):
        module, name = entry.split(":")
        assert module.startswith("dedup.")
        assert hasattr(importlib.import_module(module), name)


def test_every_setting_is_read() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in GLUE.rglob("*.py")
        if path.name != "default_settings.py"
    )
    from dedup.detectors import STAGES
    from dedup.scrapy import default_settings

    assert "DEDUP_{stage.upper()}_ENABLED" in source  # the switches, read by their stages' names
    source += "".join(f"DEDUP_{stage.upper()}_ENABLED" for stage in STAGES)
    unread = [
        name for name in vars(default_settings) if name.startswith("DEDUP_") and name not in source
    ]
    assert not unread


def test_no_module_hides_a_public_name() -> None:
    package = importlib.import_module("dedup")
    for path in sorted((ROOT / "dedup").glob("*.py")):
        importlib.import_module(f"dedup.{path.stem}" if path.stem != "__init__" else "dedup")
    for name in package.__all__:
        assert not isinstance(getattr(package, name), ModuleType), name


def test_no_file_of_the_project_is_ignored() -> None:
    """The build leaves out what git is told to ignore, also files that it tracks."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == ""
