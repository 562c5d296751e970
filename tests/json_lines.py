"""JSON Lines files that tests write and read."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
