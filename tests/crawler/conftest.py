"""Crawls in a process of their own, as a user starts them, of sites that the test serves."""

from __future__ import annotations

import gzip
import json
import os
import random
import socketserver
import sqlite3
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from tests.crawler.forked import Forked

ROOT = Path(__file__).parents[2]
_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


def prose(name: str, words: int = 120) -> str:
    """Text that is the same for the same name, and unlike that of any other."""
    choose = random.Random(name)
    sentences = [" ".join(choose.choices(_WORDS, k=12)).capitalize() for _ in range(words // 12)]
    return ". ".join(sentences) + "."


def page(name: str, *hrefs: str, head: str = "", body: str = "") -> bytes:
    """An HTML page with its own text and these links."""
    links = "".join(f'<p><a href="{href}">to {href}</a></p>' for href in hrefs)
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{name}</title>{head}</head>"
        f"<body><main><p>{prose(name)}</p>{body}</main><nav>{links}</nav></body></html>"
    ).encode()


@dataclass
class Answer:
    """What a server says; `headers` come on top of Content-Type and Content-Length."""

    body: bytes = b""
    status: int = 200
    content_type: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


def redirect(location: str, status: int = 302, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers={"Location": location, **named})


Handler = BaseHTTPRequestHandler
Route = bytes | Answer | Callable[[Handler], Answer | bytes | None]


class WebSite:
    """A server on loopback that answers by request target, and keeps what it was asked for.

    A route is a page's bytes, an `Answer`, or a function that gets the request's handler and gives
    either; it gives None if it has answered by itself. `on_request` is called before each answer.
    """

    def __init__(self, routes: dict[str, Route] | None = None, address: str = "127.0.0.1") -> None:
        self.routes = {} if routes is None else routes
        self.asked: list[str] = []
        self.on_request: Callable[[str], None] = lambda target: None
        site = self

        class _Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        class _Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def server_bind(self) -> None:
                socketserver.TCPServer.server_bind(self)  # no look-up of the host's name

            def handle_error(self, request: Any, client_address: Any) -> None:
                if not isinstance(sys.exc_info()[1], OSError):  # a client that has gone
                    super().handle_error(request, client_address)

        self._server = _Server((address, 0), _Handler)
        self.url = f"http://{address}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def answer(self, handler: Handler) -> None:
        target = handler.path
        self.asked.append(target)
        self.on_request(target)
        route = self.routes.get(target, Answer(b"No such page.", 404, "text/plain"))
        if callable(route):
            given = route(handler)
            if given is None:
                return
            route = given
        answer = Answer(route) if isinstance(route, bytes) else route
        handler.send_response(answer.status)
        if answer.content_type is not None:
            handler.send_header("Content-Type", answer.content_type)
        handler.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body)

    def pages_asked(self) -> list[str]:
        return [target for target in self.asked if target != "/robots.txt"]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass
class Crawled:
    """What a crawl left behind. Rows and numbers are read when asked for."""

    status: int
    output: str
    folder: Path
    feed: Path | None = None

    @property
    def stats(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "stats.json").read_text(encoding="utf-8")))

    def rows(self, query: str) -> list[Any]:
        """Rows of the job's store; a single column is given without its tuple."""
        path = self.folder / "crawl.sqlite"
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            rows = connection.execute(query).fetchall()
        finally:
            connection.close()
        return [row[0] if len(row) == 1 else row for row in rows]

    def stored(self, site: WebSite | None = None) -> set[str]:
        """The unique pages' URLs, as targets on `site`."""
        return {_target(url, site) for url in self.rows("SELECT url FROM pages")}

    def skipped(self, site: WebSite | None = None) -> dict[str, str]:
        rows = self.rows("SELECT url, reason FROM skipped")
        return {_target(url, site): reason for url, reason in rows}

    def aliases(self, site: WebSite | None = None) -> dict[str, str]:
        rows = self.rows("SELECT url, page_url FROM aliases")
        return {_target(url, site): _target(target, site) for url, target in rows}

    def feed_rows(self) -> list[dict[str, Any]]:
        assert self.feed is not None
        return [json.loads(line) for line in self.feed.read_text(encoding="utf-8").splitlines()]

    def records(self) -> dict[str, int]:
        """How often each URL is recorded as fetched or failed."""
        urls = self.rows(
            "SELECT url FROM pages UNION ALL SELECT url FROM duplicates"
            " UNION ALL SELECT url FROM skipped"
        )
        return {url: urls.count(url) for url in urls}

    def check_reconciled(self) -> None:
        """Counts agree: of `stats.json`, of the database, of each host, and of the feed."""
        stats = self.stats
        pages = stats["pages"]
        duplicates, skipped = pages["duplicates"], pages["skipped"]
        assert pages["unique"] == self.rows("SELECT count(*) FROM pages")[0]
        assert duplicates == dict(
            self.rows("SELECT stage, count(*) FROM duplicates GROUP BY stage")
        )
        assert skipped == dict(
            self.rows("SELECT reason, count(*) FROM skipped WHERE is_fetched GROUP BY reason")
        )
        total = pages["unique"] + sum(duplicates.values()) + sum(skipped.values())
        assert pages["fetched"] == total
        hosts = stats["hosts"]
        assert sum(h["unique"] + h["duplicates"] + h["skipped"] for h in hosts) == total
        assert sum(host["bytes"] for host in hosts) == stats["bytes"]["fetched"]
        if self.feed is not None:
            assert [row["url"] for row in self.feed_rows()] == self.rows(
                "SELECT url FROM pages ORDER BY number"
            )


def _target(url: str, site: WebSite | None) -> str:
    return "/" + url.removeprefix(site.url) if site and url.startswith(site.url) else url


class Crawling:
    """A crawl under way."""

    def __init__(self, command: Sequence[str], folder: Path, feed: Path | None, cwd: Path) -> None:
        self._folder, self._feed = folder, feed
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "400"}
        self.process = Forked(command, cwd=cwd, environment=environment)

    def finish(self, *, timeout: float = 240) -> Crawled:
        try:
            output = self.process.communicate(timeout=timeout)[0].decode()
        finally:
            self.process.kill()
        return Crawled(self.process.returncode, output, self._folder, self._feed)


class Crawler:
    """Starts `scrapy crawl` with its jobs in a folder of the test's own."""

    def __init__(self, jobs_dir: Path) -> None:
        self.jobs_dir = jobs_dir

    def start(
        self,
        spider: str,
        *options: str,
        job: str = "job",
        is_guest: bool = False,
        feed: bool = False,
        cwd: Path = ROOT,
        python: Sequence[str] = (),
        **arguments: object,
    ) -> Crawling:
        """Start a crawl; `arguments` are the spider's, `options` the command's.

        A spider of another project (`is_guest`) has no argument that names the job.
        """
        if job and is_guest:
            options = (*options, "-s", f"DEDUP_JOB={job}")
        elif job:
            arguments["job"] = job
        path = self.jobs_dir / f"{job}.jsonl" if feed else None
        command = [*python, "-m", "scrapy", "crawl", spider, *options]
        command += ["-s", f"DEDUP_JOBS_DIR={self.jobs_dir}"]
        command += ["-O", str(path)] if path else []
        for name, value in arguments.items():
            command += ["-a", f"{name}={value}"]
        return Crawling(command, self.jobs_dir / job, path, cwd)

    def __call__(self, spider: str, *options: str, **arguments: Any) -> Crawled:
        return self.start(spider, *options, **arguments).finish()


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """What sites are made of (test files cannot import from here)."""
    return SimpleNamespace(
        Answer=Answer, WebSite=WebSite, page=page, prose=prose, redirect=redirect
    )


@pytest.fixture
def crawl(tmp_path: Path) -> Crawler:
    return Crawler(tmp_path / "jobs")


@pytest.fixture(scope="module")
def shared_crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawler:
    """The same for crawls that several tests of a file look at."""
    return Crawler(tmp_path_factory.mktemp("jobs"))


@pytest.fixture
def site() -> Iterator[WebSite]:
    """A site without pages: give it `routes`."""
    with WebSite() as running:
        yield running


@pytest.fixture(scope="session")
def zeros_gzip() -> bytes:
    """A thousand million zeros. Ends without the checksum: nobody should get so far."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    start = compressor.compress(bytes(10**7)) + compressor.flush(zlib.Z_FULL_FLUSH)
    again = compressor.compress(bytes(10**7)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return start + again * 99


@pytest.fixture(scope="session")
def gzipped() -> Callable[[bytes], bytes]:
    return gzip.compress
