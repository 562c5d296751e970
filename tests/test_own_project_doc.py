"""docs/own_project.md: its spider is run, and does what is written there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

DOC = Path(__file__).parents[1] / "docs" / "own_project.md"


def test_the_spider_of_the_page_keeps_and_tells_what_is_written(tmp_path: Path) -> None:
    text = DOC.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S)
    (spider,) = [code for kind, code in blocks if kind == "python" and "class Shop" in code]
    (command,) = [code for kind, code in blocks if kind == "console"]
    told = [code for kind, code in blocks if kind == "text"]
    assert len(told) == 2
    (tmp_path / "shop.py").write_text(spider)
    done = subprocess.run(
        [sys.executable, "-m", *command.removeprefix("$ ").split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for block in told:
        assert block.strip() in done.stderr
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(items) == 5
