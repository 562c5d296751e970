"""Numbers for other tools: docs/stats.md is complete, and its examples run."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "stats.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)


def documented_stats() -> set[str]:
    return {
        re.sub(r"<\w+>", "*", name) for name in re.findall(r"^\| `(dedup/[^`]+)`", DOCUMENT, re.M)
    }


def counted_stats() -> set[str]:
    """The names that the code hands to the stats collector, `*` for what is put in."""
    found = set()
    for path in (ROOT / "dedup" / "scrapy").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "").endswith("_value"):
                found |= {_name(each) for each in node.args[:1]}
    return {name for name in found if name.startswith("dedup/")}


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_name, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "*"


def test_the_table_and_the_code_agree() -> None:
    assert documented_stats() == counted_stats()
    assert len(documented_stats()) == 34


@pytest.fixture(scope="module")
def crawled(shared_crawl: Crawler, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A crawl that Spidermon checks and Prometheus sees; a third of it are duplicates."""
    pytest.importorskip("spidermon", reason="spidermon is not installed")
    pytest.importorskip("prometheus_client", reason="prometheus-client is not installed")
    folder = tmp_path_factory.mktemp("project")
    (folder / "monitors.py").write_text(BLOCKS[0], encoding="utf-8")
    settings: dict[str, Any] = {}
    exec(BLOCKS[1], settings)
    settings |= {"MAX_DUPLICATE_SHARE": 0.2, "DEDUP_PROMETHEUS_FILE": "metrics.prom"}
    options = ["-L", "INFO"]
    for name in settings.keys() - {"__builtins__"}:
        value = settings[name]
        text = value if isinstance(value, str) else json.dumps(value)
        options += ["-s", f"{name}={','.join(value) if isinstance(value, list) else text}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        return shared_crawl("demo", *options)


def test_the_monitor_fails_a_crawl_with_too_many_duplicates(crawled: Crawled) -> None:
    assert crawled.status == 0
    assert "FAIL: Duplicates/no more than MAX_DUPLICATE_SHARE" in crawled.output
    pages = crawled.stats["pages"]
    share = f"{sum(pages['duplicates'].values())} of {pages['fetched']} pages"
    assert share in crawled.output


def test_the_stats_of_a_run_are_those_of_its_account(crawled: Crawled) -> None:
    dumped = dict(re.findall(r"'(dedup/[^']+)': (\d+)", crawled.output))
    stats = {name: int(count) for name, count in dumped.items()}
    pages = crawled.stats["pages"]
    assert stats["dedup/pages/fetched"] == pages["fetched"]
    assert stats["dedup/pages/unique"] == pages["unique"]
    for kind, name in (("duplicates", "duplicate"), ("skipped", "skipped")):
        for reason, count in pages[kind].items():
            assert stats[f"dedup/pages/{name}/{reason}"] == count
    patterns = {re.escape(name).replace(r"\*", "[^/]+") for name in documented_stats()}
    assert all(any(re.fullmatch(each, name) for each in patterns) for name in stats)


@pytest.mark.parametrize(("share", "status"), [(0.2, 1), (0.9, 0)])
def test_the_check_ends_with_a_status(
    crawled: Crawled, tmp_path: Path, share: float, status: int
) -> None:
    check = tmp_path / "check.py"
    check.write_text(BLOCKS[2], encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, check, crawled.folder, str(share)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    assert ("pages are duplicates" in done.stderr) == bool(status)


def test_prometheus_reads_the_numbers_of_the_account(crawled: Crawled) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    text = (crawled.folder / "metrics.prom").read_text(encoding="utf-8")
    samples = {
        (sample.name, sample.labels.get("outcome"), sample.labels.get("reason")): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }
    pages = crawled.stats["pages"]
    assert samples["dedup_pages_total", "unique", ""] == pages["unique"]
    for stage, count in pages["duplicates"].items():
        assert samples["dedup_pages_total", "duplicate", stage] == count
    total = sum(value for name, value in samples.items() if name[0] == "dedup_pages_total")
    assert total == pages["fetched"]
    assert samples["dedup_running", None, None] == 0
    metrics = set(re.findall(r"`(dedup_[a-z_]+)`", DOCUMENT))
    assert {name for name, _, _ in samples} == metrics
    assert sorted(path.name for path in crawled.folder.iterdir() if "prom" in path.name) == [
        "metrics.prom"
    ]
