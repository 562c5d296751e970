"""`dedup serve JOB…`: answer over HTTP whether any of these jobs has a page already."""

import argparse
import asyncio
import json
import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dedup.cli.console import ERRORS, plain
from dedup.document import Document
from dedup.extras import load_extra
from dedup.sites.site import Site
from dedup.store import Page, job_place
from dedup.store.postgresql import without_password
from dedup.urls.parts import host_of

_TOKEN = "SERVE_TOKEN"  # noqa: S105 -- its name
_ARGUMENTS = "DEDUP_SERVE_ARGUMENTS"
_LEAST_TOKEN = 16
_READERS = 2
_READ_CPU_SECONDS = 2.0
_END_SECONDS = 5
"""What is being answered when the server is ended gets as long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__.split(": ", 1)[1]
    parser.epilog = "See docs/serve.md. Ctrl-C or SIGTERM ends it."
    parser.add_argument(
        "jobs",
        nargs="+",
        type=job_place,
        metavar="JOB",
        help="folder, file or postgresql://…/DATABASE#NAME; the first job that has a page is named",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8765, help="port to listen on (%(default)s)")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"its first line is a token that each request must have; or set {_TOKEN}. Needed for"
        " addresses other than 127.0.0.1 and ::1",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="processes that answer, each with its own index (%(default)s)",
    )


def execute(options: argparse.Namespace) -> int:
    for module in ("httptools", "pydantic", "starlette", "uvicorn"):
        load_extra(module, extra="serve", purpose="dedup serve")
    import uvicorn

    from dedup.serve.bounds import MAX_CONNECTIONS, BoundedProtocol, is_loopback

    if options.processes < 1:
        raise ValueError(f"--processes must be at least 1, got {options.processes}")
    token = _token(options.token_file)
    if token is None and not is_loopback(options.host):
        raise ValueError(
            f"--host {options.host} can be reached by others: give a token by --token-file or"
            f" {_TOKEN}"
        )
    jobs = list(map(str, options.jobs))
    how: Any = {
        "host": options.host,
        "port": options.port,
        "http": BoundedProtocol,
        "ws": "none",
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_graceful_shutdown": _END_SECONDS,
        "access_log": False,
        "log_level": "warning",
        "proxy_headers": False,
        "server_header": False,
    }
    for number in (signal.SIGTERM, signal.SIGINT):  # the server raises them again when it has ended
        signal.signal(number, lambda *_: None)
    _check_port(options.host, options.port)
    app = _app(jobs, token)  # of several processes, too: a job that cannot be used is told here
    shown = f"[{options.host}]" if ":" in options.host else options.host
    names = plain(", ".join(map(without_password, jobs)))
    where = f"http://{shown}:{options.port}"
    ERRORS.print(f"Serving {names} on {where}; Ctrl-C ends it", soft_wrap=True)
    if options.processes == 1:
        uvicorn.run(app, **how)
    else:
        app.state.asking.close()
        os.environ[_ARGUMENTS] = json.dumps({"jobs": jobs, "token": token})
        name = f"{__name__}:app_of_process"
        uvicorn.run(name, factory=True, workers=options.processes, **how)
    return 0


def _check_port(host: str, port: int) -> None:
    """Raise ValueError if the port cannot be opened: the server itself tells it late."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ValueError(
            f"port {port} of {host} cannot be opened ({error.strerror}): --port takes another"
        ) from None


def app_of_process() -> Any:
    """The application of one of several processes."""
    given = json.loads(os.environ[_ARGUMENTS])
    return _app(given["jobs"], given["token"])


def _app(jobs: list[str], token: str | None) -> Any:
    from dedup.serve.app import make_app
    from dedup.serve.asking import Asking

    asking = Asking([job_place(job) for job in jobs])
    return make_app(asking, PageReading(asking.extractor).read, token=token)


def _token(file: Path | None) -> str | None:
    found = os.environ.get(_TOKEN) if file is None else file.read_text("utf-8").partition("\n")[0]
    if found is None:
        return None
    token = found.strip()
    if len(token) < _LEAST_TOKEN or not token.isascii():
        raise ValueError(f"a token must have at least {_LEAST_TOKEN} ASCII characters")
    return token


class PageReading:
    """Reads pages in processes of their own, as a crawl does: a hostile page ends one of them."""

    def __init__(self, extractor: str) -> None:
        self._extractor = extractor
        self._own = threading.local()
        self._workers: list[Any] = []
        self._threads = ThreadPoolExecutor(_READERS)

    async def read(self, body: bytes, url: str, content_type: str, site: Site | None) -> Document:
        """Read a page.

        Raises:
            ValueError: it cannot be read.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._read, body, url, content_type, site)

    def close(self) -> None:
        """End the processes, when they have read what was asked for."""
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    def _read(self, body: bytes, url: str, content_type: str, site: Site | None) -> Document:
        # These modules load no Scrapy.
        from dedup.config import DedupConfig
        from dedup.scrapy.reading.blocking_worker import BlockingWorker
        from dedup.scrapy.reading.content import Content, RawPage, Wanted
        from dedup.scrapy.reading.worker_protocol import ReadingError

        if not hasattr(self._own, "worker"):
            self._own.worker = BlockingWorker(
                Wanted(
                    self._extractor,
                    links=False,
                    is_nofollow_obeyed=False,
                    bodies=False,
                    stages=frozenset(),
                    detection=DedupConfig(),
                    cpu_seconds=_READ_CPU_SECONDS,
                )
            )
            self._workers.append(self._own.worker)
        raw = RawPage(body, url, content_type, ())
        try:
            found = self._own.worker.read(raw, host_of(url) or None, site)
        except ReadingError as error:
            raise ValueError(str(error)) from None
        assert isinstance(found, Content)  # noqa: S101 -- for the type checker
        return found.complete(Page(id="", text="", url=url or None, body=body))
