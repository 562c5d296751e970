"""Keeps the job of the demo site for a release: `python -m tests.released_job`."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import zstandard

FOLDER = Path(__file__).parent / "released"


def keep() -> Path:
    """Crawl the demo site, and write its store to `released/VERSION.sqlite.zst`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dedup.cli", "demo"]
        subprocess.run(command, cwd=folder, check=True, env=os.environ)
        connection = sqlite3.connect(Path(folder, "crawls", "demo", "crawl.sqlite"))
        connection.execute("VACUUM INTO ?", [str(Path(folder, "whole.sqlite"))])
        connection.close()
        whole = Path(folder, "whole.sqlite").read_bytes()
    kept = FOLDER / f"{version('scrapy-dedup')}.sqlite.zst"
    kept.write_bytes(zstandard.compress(whole, 19))
    return kept


def unpack(kept: Path, job: Path) -> None:
    """Write the store that was kept into the folder of a job."""
    job.mkdir(parents=True)
    (job / "crawl.sqlite").write_bytes(zstandard.decompress(kept.read_bytes()))


if __name__ == "__main__":
    print(keep())
