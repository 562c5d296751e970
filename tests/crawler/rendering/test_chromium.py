"""Which browser is started, and how."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.browser import Browser
from dedup.scrapy.rendering.chromium import find_program, launch_options
from dedup.scrapy.rendering.memory import end_if_larger


def test_the_user_chooses_the_program() -> None:
    options = {"executable_path": "/opt/chrome", "args": ["--mine"], "proxy": {"server": "other"}}
    made = launch_options(
        Settings({"PLAYWRIGHT_LAUNCH_OPTIONS": options}), Bounds(), "http://127.0.0.1:1"
    )
    assert made["executable_path"] == "/opt/chrome"
    assert made["args"][0] == "--mine"
    assert made["proxy"] == {"server": "http://127.0.0.1:1", "bypass": "<-loopback>"}
    assert made["chromium_sandbox"] is (os.geteuid() != 0)


def test_without_chromium_one_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PATH", "HOME", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ValueError, match="Chromium, which was not found; install it: apt-get"):
        find_program({})
    (tmp_path / "chromium-1234").mkdir()
    assert find_program({}) is None  # Playwright's own


def test_chromium_without_windows_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("chromium", "chromium-headless-shell"):
        (tmp_path / name).touch(0o755)
    assert find_program({}) == str(tmp_path / "chromium-headless-shell")
    assert find_program({"headless": False}) == str(tmp_path / "chromium")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("PLAYWRIGHT_CDP_URL", "http://a.example", "remove PLAYWRIGHT_CDP_URL"),
        ("PLAYWRIGHT_BROWSER_TYPE", "firefox", "PLAYWRIGHT_BROWSER_TYPE must be chromium"),
        ("DEDUP_RENDER_SECONDS", 0, "DEDUP_RENDER_SECONDS must be a number of at least 1"),
    ],
)
def test_settings_that_cannot_be_bounded_are_refused(
    setting: str, value: object, message: str
) -> None:
    pytest.importorskip("scrapy_playwright", reason="needs the extra render")
    with pytest.raises(ValueError, match=message):
        Browser.from_crawler(get_crawler(settings_dict={setting: value}))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize(("name", "is_browser"), [("chromium", True), ("other", False)])
def test_a_process_of_the_browser_that_takes_too_much_memory_is_ended(
    name: str, is_browser: bool
) -> None:
    code = "a = b'a' * 100_000_000; print(); input()"
    command = [sys.executable, "-c", code, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            assert not end_if_larger(process.pid, 2**30)
            assert end_if_larger(process.pid, 50 * 2**20) == is_browser
        finally:
            process.kill()
