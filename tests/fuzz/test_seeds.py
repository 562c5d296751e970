"""The seeds of the fuzzer: inputs that reached different code, and those that found something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.running import SEEDS, check, targets

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", targets())
def test_seeds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = targets()[name](tmp_path)
    for path in sorted((SEEDS / name).iterdir()):
        try:
            check(run, path.read_bytes())
        except Exception as error:
            error.add_note(str(path))
            raise
