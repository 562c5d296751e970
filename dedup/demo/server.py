"""A web server on loopback for the pages of the demo site, with the oddities of real servers.

It answers as a common static server does: a folder with its `index.html` or a listing; unknown
query strings are ignored, `ETag` and `Last-Modified` honoured, connections kept alive. `ROUTES` has
what the demo site needs beyond that. It accepts requests from this machine only.
"""

import hashlib
import html
import mimetypes
import socket
import socketserver
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, quote, unquote

SITE = Path(__file__).resolve().parent / "site"
"""The pages of the demo site."""


class Redirect(NamedTuple):
    location: str
    status: HTTPStatus = HTTPStatus.FOUND


class DemoPage(NamedTuple):
    """A file of the folder; `{server}` in it is replaced by the server's URL if `is_template`."""

    file: str
    charset: str = ""
    is_template: bool = False


ROUTES: dict[str, Redirect | DemoPage] = {
    # A query in the key must be among the request's parameters: their order and others are ignored.
    "/robots.txt": DemoPage("robots.txt", is_template=True),
    "/sitemap.xml": DemoPage("sitemap.xml", is_template=True),
    "/visit": DemoPage("visit/index.html"),
    "/catalogue?room=1": DemoPage("catalogue/room-1.html"),
    "/catalogue?room=2": DemoPage("catalogue/room-2.html"),
    "/zh/latin-1/gongfu.html": DemoPage("zh/gongfu.html", charset="iso-8859-1"),  # it is UTF-8
    "/tour": Redirect("/visit/", HTTPStatus.MOVED_PERMANENTLY),
    "/oolong": Redirect("/articles/oolong.html"),
    "/friends": Redirect("http://other.example/"),
    "/loop/a": Redirect("/loop/b"),
    "/loop/b": Redirect("/loop/a"),
}


class DemoServer:
    """Serves the demo site at a free port of 127.0.0.1, from a background thread.

    Use it in a `with` block, or call `start` and `stop`. `stop` ends all threads and closes all
    connections, also those that clients hold open. A stopped server can be started again.

    >>> from urllib.request import urlopen
    >>> with DemoServer() as server, urlopen(server.url + "robots.txt") as response:
    ...     response.read().splitlines()[0]
    b'User-agent: *'
    """

    def __init__(self) -> None:
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the site's root, with the slash at its end."""
        if self._server is None:
            raise RuntimeError("the server must be started before its url is known")
        return self._server.url

    def start(self) -> None:
        """Open the port; requests are answered from now on."""
        if self._server is not None:
            raise RuntimeError(f"the server must be stopped before it is started: {self.url}")
        self._server = _Server()
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="demo-server", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Close the port and every connection. Does nothing if the server is not running."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()
        self._server = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: HTTPStatus
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    location: str | None = None
    modified: datetime | None = None

    @property
    def etag(self) -> str:
        return f'"{hashlib.blake2b(self.body, digest_size=8).hexdigest()}"'

    def is_known(self, if_none_match: str | None, if_modified_since: str | None) -> bool:
        """Does the client have this answer already? The ETag decides if there is one (RFC 9110)."""
        if self.modified is None:
            return False
        if if_none_match is not None:
            tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
            return "*" in tags or self.etag in tags
        with suppress(ValueError, TypeError):  # a date that cannot be read or compared is no date
            return self.modified <= parsedate_to_datetime(if_modified_since or "")
        return False


_NOT_FOUND = _Answer(HTTPStatus.NOT_FOUND, b"There is no such page.\n")


def _answer(target: str, server_url: str) -> _Answer:
    """What to answer to a request target."""
    path, _, query = target.partition("?")
    path = unquote(path.partition(";")[0])  # what follows is a session id
    route = _route(path, query)
    if isinstance(route, Redirect):
        return _Answer(route.status, location=route.location)
    if isinstance(route, DemoPage):
        return _page(SITE / route.file, route, server_url)
    try:
        return _file(path)
    except (OSError, ValueError):  # a name too long, a NUL in it, a file gone since
        return _NOT_FOUND


def _route(path: str, query: str) -> Redirect | DemoPage | None:
    for name, value in parse_qsl(query):
        if (key := f"{path}?{name}={value}") in ROUTES:
            return ROUTES[key]
    return ROUTES.get(path)


def _file(path: str) -> _Answer:
    file = (SITE / path.lstrip("/")).resolve()
    if not file.is_relative_to(SITE):
        return _NOT_FOUND
    if file.is_dir():
        if not path.endswith("/"):
            return _Answer(HTTPStatus.MOVED_PERMANENTLY, location=f"/{quote(path.strip('/'))}/")
        index = file / "index.html"
        return _page(index) if index.is_file() else _listing(file, path)
    return _page(file) if file.is_file() and not path.endswith("/") else _NOT_FOUND


def _page(file: Path, route: DemoPage | None = None, server_url: str = "") -> _Answer:
    body = file.read_bytes()
    content_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if route and route.is_template:
        body = body.replace(b"{server}", server_url.encode())
    if route and route.charset:
        content_type = f"{content_type}; charset={route.charset}"
    # Whole seconds: the header has no more, and a client sends back what it got.
    modified = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
    return _Answer(HTTPStatus.OK, body, content_type, modified=modified)


def _listing(folder: Path, path: str) -> _Answer:
    title = f"Index of {html.escape(path)}"
    names = sorted(entry.name + "/" * entry.is_dir() for entry in folder.iterdir())
    links = "".join(f'<li><a href="{quote(name)}">{html.escape(name)}</a></li>\n' for name in names)
    text = (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body><h1>{title}</h1>\n<ul>\n{links}</ul></body></html>\n"
    )
    return _Answer(HTTPStatus.OK, text.encode(), "text/html; charset=utf-8")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet, at once: sent apart, Nagle's algorithm and delayed
    # acknowledgement cost 40 ms a request on a connection kept alive.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: "_Server"

    def do_GET(self) -> None:
        answer = _answer(self.path, self.server.url)
        known = answer.is_known(
            self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        )
        self.send_response(HTTPStatus.NOT_MODIFIED if known else answer.status)
        if answer.modified:
            self.send_header("ETag", answer.etag)
            self.send_header("Last-Modified", format_datetime(answer.modified, usegmt=True))
        if answer.location:
            self.send_header("Location", answer.location)
        if not known:
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if not known and self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815 -- http.server's name

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 -- the base's name
        """Log nothing: the log of the crawl has the fetched URLs."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # the default, 5, makes a burst of connections wait for a retry

    def __init__(self) -> None:
        self._connections: dict[threading.Thread, socket.socket] = {}
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's looks the host's name up in the DNS
        self.server_name, self.server_port = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, which `close_connections` can end."""
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._connections[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.pop(threading.current_thread(), None)

    def close_connections(self) -> None:
        """End the threads that wait for a client's next request. Call after `shutdown`."""
        for thread, connection in list(self._connections.items()):
            with suppress(OSError):  # closed in the meantime
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a client that has gone is no error
            super().handle_error(request, client_address)
