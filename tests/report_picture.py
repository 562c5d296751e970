"""Pictures of the demo's report: `uv run --group test python -m tests.report_picture docs/images`.

Needs Chromium, and a font with Chinese characters.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def take(folder: Path) -> None:
    """Crawl the demo; write what its report shows first, and a pair of pages, as PNG."""
    with TemporaryDirectory() as temporary, sync_playwright() as driver:
        command = [sys.executable, "-m", "dedup.cli", "demo"]
        subprocess.run(command, cwd=temporary, check=True, capture_output=True, timeout=240)
        page = browser(driver).new_page(viewport={"width": 1160, "height": 760})
        page.goto((Path(temporary) / "crawls" / "demo" / "report.html").as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.screenshot(path=folder / "report.png")
        _show_pair(page)
        page.screenshot(path=folder / "pair.png")


def browser(driver: Any) -> Any:
    """The system's Chromium; it ends with the driver."""
    program = which("chromium") or which("chromium-browser")
    return driver.chromium.launch(executable_path=program, args=_ARGUMENTS)


def _show_pair(page: Any) -> None:
    """Scroll to the near duplicate that resembles its original least."""
    page.click("#closest")
    page.set_viewport_size({"width": 1160, "height": 620})
    page.wait_for_timeout(500)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
