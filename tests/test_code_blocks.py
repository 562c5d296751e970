"""Each block of code in README.md, CONTRIBUTING.md and docs/ is run, or else checked."""

from __future__ import annotations

import ast
import builtins
import configparser
import gzip
import importlib.util
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

import dedup
from dedup.cli import COMMANDS, _parser, main
from tests.released_job import FOLDER, unpack

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


class Block(NamedTuple):
    page: str
    line: int
    kind: str
    text: str


def _blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    name = path.relative_to(ROOT).as_posix()
    return [Block(name, text[: each.start()].count("\n") + 1, each[2], each[3]) for each in found]


BLOCKS = [block for path in PAGES for block in _blocks(path)]


def of_kind(kind: str) -> list[object]:
    found = [block for block in BLOCKS if block.kind == kind]
    return [pytest.param(each, id=f"{each.page}:{each.line}") for each in found]


CHECKED = {"python", "console", "json", "ini"}

NOT_CHECKED = {
    ("README.md", "text"): "what its example prints: tests/test_readme.py",
    ("docs/collections.md", "text"): "what its example prints: tests/test_collections_doc.py",
    ("docs/own_project.md", "text"): "what its spider prints: tests/test_own_project_doc.py",
    ("docs/how.md", "text"): "a drawing",
    ("docs/architecture.md", ""): "a drawing",
    ("docs/scaling.md", "sh"): "a loop around Python; that is compiled below",
    ("docs/serve.md", "js"): "there is no JavaScript here; tests/dedup/serve asks the same",
    ("docs/stats.md", "promql"): "a query for Prometheus; its names are compared below",
}
"""By page and kind: why blocks are not looked at here."""


def test_each_block_is_checked_or_told_why_not() -> None:
    kinds = {(each.page, each.kind) for each in BLOCKS if each.kind not in CHECKED}
    assert kinds == set(NOT_CHECKED)
    assert len(BLOCKS) > 80


@pytest.mark.parametrize("block", of_kind("json"))
def test_json_is_read(block: Block) -> None:
    text = block.text.strip()
    json.loads(text if text.startswith(("{", "[")) else f"{{{text}}}")  # or members of an object


@pytest.mark.parametrize("block", of_kind("ini"))
def test_units_are_read_and_their_commands_known(block: Block) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(block.text)
    starts = [line[10:] for line in block.text.splitlines() if line.startswith("ExecStart=")]
    assert starts
    for start in starts:
        assert _refusal(shlex.split(start)[1:]) is None


def test_other_blocks_name_what_there_is() -> None:
    scaling, promql = (next(b.text for b in BLOCKS if b.kind == each) for each in ("sh", "promql"))
    compile(scaling.split("'")[1], "docs/scaling.md", "exec")
    exported = (ROOT / "dedup/scrapy/extensions/prometheus.py").read_text()
    names = {name.removesuffix("_total") for name in re.findall(r"dedup_\w+", promql)}
    assert names
    assert [name for name in names if f'"{name}"' not in exported] == []


# Names that an example of a page leaves to its reader, with their meaning.
GIVEN = {
    "docs/export.md": {
        "page": "a stored page",
        "json": "the library",
        "lancedb": "a vector store that is not installed here",
        "embed": "the reader's model",
        "datasets": "the library",
    },
}


@pytest.mark.parametrize("block", of_kind("python"))
def test_python_is_compiled_and_names_what_there_is(block: Block) -> None:
    tree = ast.parse(block.text)
    assigned = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dedup"):
            module = __import__(str(node.module), fromlist=["*"])
            assert [each.name for each in node.names if not hasattr(module, each.name)] == []
        if isinstance(node, ast.Import | ast.ImportFrom):
            assigned |= {each.asname or each.name.partition(".")[0] for each in node.names}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assigned.add(node.name)
        if isinstance(node, ast.arg):
            assigned.add(node.arg)
    unknown = _loaded(tree) - assigned - set(vars(builtins))
    assert unknown <= set(GIVEN.get(block.page, ()))


def _loaded(tree: ast.AST) -> set[str]:
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


PROGRAMS = {
    *("apt-get", "bash", "cat", "chmod", "cp", "createuser", "createdb", "curl", "dpkg", "duckdb"),
    *("echo", "eval", "export", "for", "kill", "mkdir", "openssl", "pkill", "sudo", "pip"),
    *("docker", "register-python-argcomplete"),
}
"""Programs of others that the pages call."""


@pytest.mark.parametrize("block", of_kind("console"))
def test_each_command_is_one_that_there_is(block: Block) -> None:
    text = block.text.replace("\\\n", " ")
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    assert lines
    for line in lines:
        syntax = subprocess.run(["bash", "-n", "-c", line], capture_output=True, check=False)
        assert syntax.returncode == 0, line
        for part in re.split(r" (?:&&|\|) ", line.partition("  #")[0]):
            words = _words(part)
            if words[0] == "dedup":
                assert _refusal(words[1:]) is None, line
            else:
                _check_program(words)


def _words(part: str) -> list[str]:
    """The words of a command, without what comes before it and where its output goes."""
    words = shlex.split(re.sub(r" (?:\d?>>?\s?\S+|&)", "", part).rstrip("&; "))
    while re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    if words[:2] == ["uv", "run"]:
        words = words[2:]
        while words[0].startswith("--"):
            words = words[2:]
    return words


def _refusal(arguments: list[str]) -> str | None:
    try:
        _parser(arguments).parse_args(arguments)
    except SystemExit as error:
        return str(error)
    return None


def _check_program(words: list[str]) -> None:
    name, arguments = words[0], words[1:]
    files = [each for each in arguments if each.endswith(".py") and "/" in each]
    if name in ("python", "python3") and arguments[0] == "-m":
        module = arguments[1]
        assert module in ("venv", "http.server", "pip") or importlib.util.find_spec(module), words
    elif name in ("python", "python3"):
        assert all((ROOT / each).exists() for each in files), words
    elif name == "scrapy":
        assert arguments[0] in ("crawl", "runspider", "genspider"), words
        assert arguments[0] != "crawl" or arguments[1] in ("site", "sitemap", "urls", "demo")
    else:
        assert name in PROGRAMS | {".", "uvx", "pytest"}, words


SKIPPED = {
    "crawl": "goes to a site; tests/crawler run it",
    "demo": "tests/crawler/test_demo.py runs it",
    "serve": "stays; tests/dedup/serve run it",
    "mcp": "stays; tests/dedup/mcp run it",
    "seen": "of the crawls of its page, which tests/crawler/test_earlier_crawls.py runs",
}
"""Commands that cannot run on the job that is kept, and what runs them."""

ELSEWHERE = ("docs/collections.md",)
"""Pages whose commands their own test runs, on data of their own."""


def _on_job() -> list[tuple[str, list[str]]]:
    """Commands on jobs, with the page that has them."""
    found = []
    for block in BLOCKS:
        if block.kind != "console" or block.page in ELSEWHERE:
            continue
        for line in re.findall(r"^\$ (.*)", block.text.replace("\\\n", " "), re.MULTILINE):
            words = _words(re.split(r" (?:&&|\|) ", line.partition("  #")[0])[-1])
            if words[0] == "dedup" and words[1] not in SKIPPED:
                found.append((block.page, words[1:]))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where there is a job in crawls/demo, and what the examples read."""
    path = tmp_path_factory.mktemp("blocks")
    unpack(max(FOLDER.glob("*.sqlite.zst")), path / "crawls" / "demo")
    text = " ".join(f"Letter {number} came by the evening post." for number in range(40))
    rows = [
        json.dumps({"id": f"n{number}", "text": text + " P.S." * number}) + "\n"
        for number in (1, 2)
    ]
    (path / "corpus").mkdir()
    (path / "corpus.jsonl").write_text("".join(rows))
    (path / "corpus" / "a.jsonl.gz").write_bytes(gzip.compress("".join(rows).encode()))
    (path / "eval.jsonl").write_text('{"text": "What is asked of models"}\n')
    for name in ("old.parquet", "new.parquet"):
        assert main(["run", str(path / "corpus.jsonl"), "-o", str(path / name), "--quiet"]) == 0
    return path


@pytest.fixture
def url(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page of the job, beside which the test then runs."""
    monkeypatch.chdir(folder)
    return str(next(iter(dedup.open_job("crawls/demo").pages("url")))["url"])


@pytest.mark.slow
def test_commands_run_on_a_job(url: str) -> None:
    ran = []
    for page, words in _on_job():
        arguments = [_here(word, url) for word in words]
        if any(re.search(r"://.*[#@]|^s3:|^\$|^-$|tokenizer", each) for each in arguments):
            continue  # a database, another machine's file, a pipe, a model's file
        if "-o" in arguments or "-d" in arguments:
            arguments.append("--overwrite")
        assert main(arguments) == 0, (page, arguments)
        ran.append(arguments[0])
    assert len(ran) > 30
    assert set(COMMANDS) - set(ran) - set(SKIPPED) == {"pair", "report", "retry", "copy"}


def _here(word: str, url: str) -> str:
    """The word, or in its place what is here of what a reader has."""
    if word == "tech.example.cn":
        return urlsplit(url).netloc
    return re.sub(r"^crawls/[\w.-]+", "crawls/demo", url if word.startswith("http") else word)


_A_PAGE = """
from pathlib import Path
from dedup.store import open_store

with open_store(Path("crawls/demo"), read_only=True) as store:
    page = store.page(1)
"""

RUN = (
    ("docs/export.md", "own_markup", _A_PAGE),
    ("docs/python_api.md", "dedup.crawl(", ""),
    ("docs/python_api.md", "SqliteStore", ""),
    ("docs/recipes.md", "read_json", ""),
)
"""Python that no other test runs: its page, what it has, and what it is given."""


@pytest.mark.slow
@pytest.mark.parametrize(("page", "part", "given"), RUN)
def test_python_runs_on_a_job(url: str, page: str, part: str, given: str) -> None:
    (text,) = (b.text for b in BLOCKS if b.page == page and b.kind == "python" and part in b.text)
    assert main(["export", "crawls/demo", "-o", "docs.jsonl", "--overwrite", "--quiet"]) == 0
    text = re.sub(r"dedup\.crawl\([^)]*\)", 'dedup.open_job("crawls/demo")', text)
    exec(compile(given + text, page, "exec"), {})
