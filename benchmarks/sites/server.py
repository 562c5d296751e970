"""A built site on loopback, for as long as it is crawled."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Protocol, Self
from urllib.parse import urlsplit

from benchmarks.sites.folder import Answer


class Answers(Protocol):
    def answer(self, target: str, base: str) -> Answer: ...


class SiteServer:
    """Serves `folder`, or a site that makes its answers, while the `with` block runs."""

    def __init__(self, folder: Answers) -> None:
        self._folder = folder
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def page(self, url: str) -> bytes:
        """What a browser would be shown at a URL of the site; nothing where it gets an error."""
        parts = urlsplit(url)
        answer = self._folder.answer(f"{parts.path}?{parts.query}", self.url)
        if answer.location:
            answer = self._folder.answer(answer.location, self.url)
        return answer.body if answer.status == 200 else b""

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        folder, site = self._folder, self

        class Handler(_Handler):
            def answer(self) -> Answer:
                return folder.answer(self.path, site.url)

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # connections that are kept alive
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body is sent after the header, and should not wait

    def answer(self) -> Answer:
        raise NotImplementedError

    def do_GET(self) -> None:
        self._send(self.answer(), has_body=True)

    def do_HEAD(self) -> None:
        self._send(self.answer(), has_body=False)

    def log_message(self, *arguments: object) -> None:
        """The crawl's own records are enough."""

    def _send(self, answer: Answer, *, has_body: bool) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.location:
            self.send_header("Location", answer.location)
        self.end_headers()
        if has_body:
            self.wfile.write(answer.body)
