"""Servers that misbehave: retried as configured, recorded with the reason, retried by command."""

from __future__ import annotations

import socket
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from dedup.cli import main

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


def _reset(handler: Any) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _half_a_body(handler: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n"
    handler.wfile.write(head + b"<p>Half")
    handler.close_connection = True


def test_misbehaving_server_is_recorded_and_retried(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, capsys: Any
) -> None:
    bad = {
        "/reset": _reset,
        "/half": _half_a_body,
        "/busy": make.Answer(b"", 429, headers={"Retry-After": "1"}),
        "/down": make.Answer(b"", 503, headers={"Retry-After": "1"}),
        "/silent": lambda handler: handler.rfile.read(1),  # until the other side gives up
        "/circle": make.redirect("/circle2"),
        "/circle2": make.redirect("/circle"),
        "/gone": make.Answer(b"", 404),
    }
    site.routes |= {"/": make.page("/", *bad, "/good"), "/good": make.page("good"), **bad}
    options = ("-s", "RETRY_TIMES=2", "-s", "DOWNLOAD_TIMEOUT=1", "-s", "REDIRECT_MAX_TIMES=3")
    crawled = crawl("site", *options, url=site.url)
    assert crawled.status == 0
    reasons = crawled.skipped(site)
    assert reasons["/busy"] == "http_429"
    assert reasons["/down"] == "http_503"
    assert reasons["/silent"] == "timeout"
    assert "redirect_loop" in reasons.values()
    assert crawled.stored(site) == {"/", "/good"}
    assert {site.asked.count(target) for target in ("/busy", "/down", "/silent", "/reset")} == {3}

    mended = {"/reset", "/half", "/busy", "/down", "/silent"}
    site.routes |= {target: make.page(target) for target in mended | {"/gone"}}
    assert main(["retry", str(crawled.folder)]) == 0
    assert "http_429 1, http_503 1" in capsys.readouterr().err
    site.asked.clear()
    again = crawl("site", *options, url=site.url)
    assert mended <= again.stored(site)
    assert "/good" not in site.asked
    again.check_reconciled()
    assert again.skipped(site)["/gone"] == "http_404"
    assert main(["retry", str(crawled.folder), "--reason", "http_404"]) == 0
    assert "/gone" in crawl("site", *options, url=site.url).stored(site)
    assert main(["retry", str(crawled.folder)]) == 0
    assert "redirect_loop" in capsys.readouterr().err  # a site may mend that
