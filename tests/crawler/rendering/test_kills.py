"""The browser's processes are killed, at any moment: pages come, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawler.rendered import descendants, is_running

if TYPE_CHECKING:
    from tests.crawler.rendered import Rendered

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux"),
]

PAGE = "<body><script>fetch('/now').then(() => document.body.append('fine'))</script>"

KILLED: dict[str, Callable[[str], bool]] = {
    "driver": lambda command: "run-driver" in command,
    "browser": lambda command: "--remote-debugging-pipe" in command and "--type=" not in command,
    "renderer": lambda command: "--type=renderer" in command,
}


def test_a_page_comes_again_after_a_kill(rendered: Rendered) -> None:
    for is_to_kill in KILLED.values():
        rendered.render("<p>started")
        before = descendants(os.getpid())
        killed: list[int] = []

        def kill(
            path: str, killed: list[int] = killed, is_to_kill: Callable[[str], bool] = is_to_kill
        ) -> None:
            found = descendants(os.getpid())
            if not killed and path == "/now":
                killed += [number for number in found if is_to_kill(found[number])]
                for number in killed:
                    os.kill(number, signal.SIGKILL)

        rendered.web.on_ask = kill
        assert rendered.render(PAGE).css("body::text").getall() == ["fine"]
        assert killed
        wait_for_end(before.keys() - descendants(os.getpid()).keys())


def test_the_browser_is_started_again_after_some_pages(rendered: Rendered) -> None:
    rendered.render("<p>started")
    found = descendants(os.getpid())
    before = [each for each in found if "chrom" in found[each] or "run-driver" in found[each]]
    run = rendered.browser._run
    assert run is not None
    run.n_pages = 500
    assert "fine" in rendered.render("<p>fine").text
    wait_for_end(before)


CRAWLER = """
from dedup.scrapy.rendering.bounds import Bounds
from tests.crawler.rendered import Rendered

rendered = Rendered(Bounds())
rendered.render("<p>started")
print("started", flush=True)
rendered.render("<script>while (true) {}</script>")
"""


def test_nothing_is_left_of_a_killed_crawler(tmp_path: Path) -> None:
    crawler = subprocess.Popen(
        [sys.executable, "-c", CRAWLER], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert crawler.stdout is not None
    assert crawler.stdout.readline() == b"started\n"
    started = descendants(crawler.pid)
    assert len(started) > 3
    crawler.kill()
    crawler.wait()
    crawler.stdout.close()
    wait_for_end(started)


def wait_for_end(processes: Iterable[int]) -> None:
    until = time.monotonic() + 60
    while any(map(is_running, processes)):
        assert time.monotonic() < until, [each for each in processes if is_running(each)]
        time.sleep(0.1)
