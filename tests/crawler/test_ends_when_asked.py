"""Two Ctrl-C end a crawl at once, whatever it is doing; one would have it wait for a minute."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, Route, WebSite

_MAX_SECONDS = 20.0
_WAITS_LONG = with_constants(
    {"extensions.stopping.STOP_SECONDS": 60, "extensions.waiting.STOP_SECONDS": 60}
)


_SILENT_DNS = """
import socket, time
real = socket.gethostbyname
socket.gethostbyname = lambda name: real(name) if name[0].isdigit() else time.sleep(60)
"""


def _trickle(handler: Any) -> None:
    """A byte now and then, for as long as the other side listens."""
    handler.wfile.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n"
    )
    try:
        while True:
            handler.wfile.write(b"<")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        handler.close_connection = True


def _hostile(make: SimpleNamespace) -> dict[str, Route]:
    line = b"<p>" + b"word " * 800_000
    return {f"/{number}": b"<h1>%d</h1>%s %d" % (number, line, number) for number in range(16)}


@pytest.mark.parametrize("state", ["page", "robots", "waiting for robots", "comparing", "DNS"])
def test_two_signals_end_it(
    crawl: Crawler,
    site: WebSite,
    make: SimpleNamespace,
    state: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = threading.Event()
    url = site.url
    n_before = 1
    site.routes["/"] = make.page("start")
    if state == "page":
        site.routes["/"] = _trickle
        n_before = 2
    elif state == "robots":
        site.routes["/robots.txt"] = _trickle
    elif state == "waiting for robots":
        site.routes["/robots.txt"] = make.Answer(b"", 503)
    elif state == "comparing":
        site.routes |= _hostile(make)
        site.routes["/"] = make.page("start", *[f"/{number}" for number in range(16)])
        n_before = 16
    elif state == "DNS":
        (tmp_path / "sitecustomize.py").write_text(_SILENT_DNS)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        url = f"{site.url},http://no-such-host.test/"

    def on_request(target: str) -> None:
        if len(site.asked) >= n_before:
            begun.set()

    site.on_request = on_request
    crawling = crawl.start("site", "-s", "LOG_LEVEL=INFO", url=url, python=_WAITS_LONG)
    assert begun.wait(120)
    began = time.monotonic()
    crawling.process.send_signal(signal.SIGINT)
    crawling.process.read_until("Received SIGINT")
    crawling.process.send_signal(signal.SIGINT)
    crawled = crawling.finish(timeout=30)
    assert time.monotonic() - began < _MAX_SECONDS
    # 0: the first was enough; the second may come while the interpreter ends.
    assert crawled.status in (0, 130, -signal.SIGINT), crawled.output
    assert "Traceback" not in crawled.output
