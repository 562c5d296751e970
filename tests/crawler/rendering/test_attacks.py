"""Pages that want more than they may have, in a real Chromium.

The test's own resolver and connections answer the browser's proxy, so that no request leaves the
machine, and each that would is counted.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.record import RenderingError
from tests.crawler.rendered import PUBLIC, Rendered

pytestmark = pytest.mark.slow

WAYS = {
    "script": "<script src='URL'></script>",
    "module": "<script type=module>import('URL').catch(() => 0)</script>",
    "css": "<link rel=stylesheet href='URL'>",
    "import": "<style>@import 'URL';</style>",
    "iframe": "<iframe src='URL'></iframe>",
    "object": "<object data='URL' type=text/html></object>",
    "embed": "<embed src='URL' type=text/html>",
    "form": "<iframe name=f></iframe><form id=g method=post target=f action='URL'></form>"
    "<script>g.submit()</script>",
    "fetch": "<script>fetch('URL', {mode: 'no-cors'}).catch(() => 0)</script>",
    "post": "<script>fetch('URL', {mode: 'no-cors', method: 'POST', body: 'a'}).catch(() => 0)"
    "</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', 'URL'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('URL', 'a')</script>",
    "events": "<script>new EventSource('URL')</script>",
    "socket": "<script>new WebSocket('URL'.replace('http', 'ws'))</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('URL', {mode: 'no-cors'}"
    ')"])))</script>',
    "wsworker": "<script>new Worker(URL.createObjectURL(new Blob([\"new WebSocket('URL'.replace("
    "'http', 'ws'))\"])))</script>",
    "srcdoc": "<iframe srcdoc=\"<script src='URL'></script>\"></iframe>",
    "prefetch": "<link rel=prefetch href='URL'>",
    "preload": "<link rel=preload as=fetch href='URL'>",
    "modulepreload": "<link rel=modulepreload href='URL'>",
    "redirect": "<script src='http://redirects.example/to'></script>",
    "webrtc": "<script>c = new RTCPeerConnection({iceServers: [{urls: 'stun:HOST'}, {urls:"
    " 'turn:HOST?transport=tcp', username: 'a', credential: 'b'}]}); c.createDataChannel('a');"
    " c.createOffer().then(o => c.setLocalDescription(o))</script>",
}
"""Each asks for a URL; `test_all_ways_lead_somewhere` shows that it does."""

NOT_FETCHED = {
    "img": "<img src='URL'>",
    "background": "<div style=\"background: url('URL')\">a</div>",
    "font": "<style>@font-face {font-family: f; src: url('URL')} p {font-family: f}</style><p>a",
    "video": "<video src='URL' autoplay preload=auto></video>",
    "audio": "<audio src='URL' autoplay preload=auto></audio>",
    "preconnect": "<link rel=preconnect href='https://HOST'>",
    "dns": "<link rel=dns-prefetch href='URL'>",
    "open": "<script>window.open('URL')</script>",
    "service": "<script>navigator.serviceWorker?.register('URL').catch(() => 0)</script>",
}
"""These ask for nothing, wherever they lead."""

LEADING = {
    "location": "<script>location = 'URL'</script>",
    "refresh": "<meta http-equiv=refresh content='0; url=URL'>",
    "top": "<iframe srcdoc=\"<script>top.location = 'URL'</script>\"></iframe>",
    "download": "<a id=d download href='URL'></a><script>d.click()</script>",
}
"""These would show another page in the place of this one."""


def page(ways: dict[str, str], target: str) -> str:
    """A page with all of these; `target`: host and port, "NAME" in it is the way's name."""
    parts = []
    for name, way in ways.items():
        host = target.replace("NAME", name)
        parts.append(way.replace("'URL'", f"'http://{host}/{name}'"))
        parts[-1] = parts[-1].replace("url=URL", f"url=http://{host}/{name}").replace("HOST", host)
    return "<!doctype html><body>" + "".join(parts)


@pytest.fixture
def forbidden() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A port on loopback that nothing may come to, by TCP and by UDP."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(listener.getsockname())
        listener.setblocking(False)
        datagrams.setblocking(False)
        yield listener, datagrams


def test_all_ways_lead_to_public_hosts(rendered: Rendered) -> None:
    rendered.web.routes["/to"] = ("redirect", "http://redirect.public.example/")
    rendered.render(page(WAYS, "NAME.public.example"))
    assert {name.partition(".")[0] for name in rendered.web.resolved} >= set(WAYS)
    assert set(rendered.web.connected) == {PUBLIC}


def test_no_way_leads_to_a_private_address(
    rendered: Rendered, forbidden: tuple[socket.socket, socket.socket]
) -> None:
    listener, datagrams = forbidden
    port = listener.getsockname()[1]
    for target in ("NAME.private.example", f"127.0.0.1:{port}", f"[::1]:{port}"):
        rendered.web.routes["/to"] = ("redirect", f"http://{target}/".replace("NAME", "redirect"))
        record = rendered.render(page(WAYS | NOT_FETCHED | LEADING, target)).meta["rendering"]
        assert record.refused, target
    assert set(rendered.web.connected) == {PUBLIC}
    with pytest.raises(BlockingIOError):  # nothing has come
        listener.accept()
    with pytest.raises(BlockingIOError):
        datagrams.recv(1)


def test_a_name_that_changes_its_address_is_refused(rendered: Rendered) -> None:
    ask = "<script>fetch('http://a.rebinding.example/', {mode: 'no-cors'})</script>"
    assert not rendered.render(ask).meta["rendering"].refused
    assert rendered.render(ask).meta["rendering"].refused == ("a.rebinding.example:80",)
    assert set(rendered.web.connected) == {PUBLIC}


def test_what_needs_no_request_makes_none(rendered: Rendered) -> None:
    rendered.web.resolved.clear()
    rendered.render(page(NOT_FETCHED, "NAME.public.example"))
    for name in LEADING:
        record = rendered.render(page({name: LEADING[name]}, f"{name}.public.example"))
        assert record.meta["rendering"].leads_to == f"http://{name}.public.example/{name}"
    assert not rendered.web.resolved


TOO_MUCH = {
    "nodes": ("<body hidden><script>for (i = 0; i < 2e4; i++) document.body.append("
              "document.createElement('i'))</script>", "too_large"),
    "characters": ("<body><script>document.body.title = 'a'.repeat(2e6)</script>", "too_large"),
    "depth": ("<body><script>e = document.body; for (i = 0; i < 5e3; i++) e = e.appendChild("
              "document.createElement('b'))</script>", "too_large"),
    "objects": ("<script>a = []; while (true) a.push(new Array(1e6).fill(1.5))</script>",
                "crashed"),
    "buffers": ("<script>a = []; for (i = 0; i < 20; i++) a.push(new Uint8Array(1e8).fill(1));"
                "while (true) {}</script>", "too_large"),
    "requests": ("<script>for (i = 0; i < 1e3; i++) fetch('/' + i)</script>",
                 "too_many_requests"),
    "bytes": ("<script>for (i = 0; i < 9; i++) fetch('/big?' + i)</script>", "too_large"),
    "reloads": ("<script>location.reload()</script>", "failed"),
    "windows": ("<script>b = document.createElement('iframe'); document.documentElement.append(b);"
                "setInterval(() => b.contentWindow.open(), 10)</script>", ""),
}  # fmt: skip
"""What ends the page."""


def test_a_page_that_never_ends_is_given_up() -> None:
    made = Rendered(Bounds(seconds=3))
    try:
        with pytest.raises(RenderingError, match="timeout: 3 seconds"):
            made.render("<script>while (true) document.write('<p>a')</script>")
    finally:
        made.close()


def test_bounds_hold_and_other_pages_come(rendered: Rendered) -> None:
    rendered.web.routes["/big"] = ("text/plain", "a" * 300_000)
    good = {
        f"http://good{n}.example/": "<body><script>document.write('fine')</script>" for n in "abc"
    }
    bad = {f"http://bad{n}.example/": html for n, (html, _) in enumerate(TOO_MUCH.values())}
    found = rendered.render_all(bad | good)
    reasons = {
        name: getattr(each, "reason", "") for name, each in zip(TOO_MUCH, found, strict=False)
    }
    assert reasons == {name: reason for name, (_, reason) in TOO_MUCH.items()}
    assert [each.css("body::text").getall() for each in found[len(bad) :]] == [["fine"]] * 3


REFUSED = """
<body><script>
  for (const attack of [
    () => alert(1), () => confirm(1), () => prompt(1), () => print(),
    () => { onbeforeunload = () => "stay"; },
    () => { for (let i = 0; i < 20; i++) window.open("about:blank"); },
    () => window.open("chrome://crash"),
    () => Notification.requestPermission(got => got === "granted" && document.write("notify")),
    () => navigator.geolocation.getCurrentPosition(() => document.write("position")),
    () => navigator.clipboard.readText().then(() => document.write("clipboard")),
    () => navigator.mediaDevices.getUserMedia({audio: true}).then(() => document.write("audio")),
    () => fetch("file:///etc/passwd").then(() => document.write("file")).catch(() => 0),
    () => { location = "file:///etc/passwd"; },
    () => { location = "chrome://crash"; },
    () => { location = "data:text/html,a"; },
    () => { location = "javascript:void 0"; },
  ]) try { attack(); } catch {}
</script><iframe src="file:///etc/passwd"></iframe><p>fine"""


def test_files_dialogs_windows_and_permissions_are_refused(rendered: Rendered) -> None:
    found = rendered.render(REFUSED, "https://site.example/")
    assert found.css("body > :not(script)").getall()[-1] == "<p>fine</p>"
    assert found.url == "https://site.example/"
    assert "root:" not in found.text
