"""Processes that have Scrapy and the crawler imported when they start: forks of one that has.

The imports take a second, and the tests start hundreds of crawls. `Forked` stands in for
`subprocess.Popen`; it runs `python [-W ACTION] (-m MODULE | -c CODE | SCRIPT) …` with a folder, an
environment and an output of its own. The processes that read pages are forks of the crawl's; those
of `tests/faults` and of `tests/crawler/reading` are started as a user's are.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from pkgutil import walk_packages
from threading import Lock
from time import monotonic
from types import SimpleNamespace
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
_PACKAGES = (
    *("crawler", "dedup.explain", "dedup.report", "dedup.scrapy", "dedup.terminal"),
    *("scrapy.commands", "scrapy.downloadermiddlewares", "scrapy.spidermiddlewares"),
)
_MODULES = (
    *("scrapy.cmdline", "scrapy.core.downloader.handlers.http11", "scrapy.exporters"),
    *("scrapy.extensions.closespider", "scrapy.extensions.feedexport", "scrapy.extensions.telnet"),
    *("scrapy.extensions.memusage", "scrapy.extensions.throttle", "scrapy.pqueues"),
    *("jinja2", "queuelib", "rich.live", "rich.panel", "rich.table", "tldextract"),
)
_OF_A_PROJECT = ("crawler", "settings", "tests")
"""Modules that another project may have under the same names."""


class HasFileno(Protocol):
    def fileno(self) -> int: ...


class Forked:
    """A process under way. What it writes to `stderr` is part of its output, or goes to a file."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        stderr: HasFileno | None = None,
    ) -> None:
        self.returncode: int | None = None
        self._lock = Lock()
        self._read = b""
        self._status, theirs = socket.socketpair()
        output, writing = os.pipe()
        self.stdout = os.fdopen(output, "rb")
        request = {"arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
        data = json.dumps(request).encode()
        _server().sendall(len(data).to_bytes(4, "big"))
        errors = writing if stderr is None else stderr.fileno()
        socket.send_fds(_server(), [data[:1]], [theirs.fileno(), writing, errors])
        _server().sendall(data[1:])
        theirs.close()
        os.close(writing)
        self.pid = int.from_bytes(_received(self._status, 4), "big")

    def poll(self) -> int | None:
        with self._lock:
            if self.returncode is None and _is_readable(self._status, 0):
                self.returncode = int.from_bytes(_received(self._status, 4), "big", signed=True)
                self._status.close()
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not _is_readable(self._status, timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        self.poll()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, None]:
        until = inf if timeout is None else monotonic() + timeout
        while self._read_more(until):
            pass
        self.stdout.close()
        self.wait(None if timeout is None else max(0.0, until - monotonic()))
        return self._read, None

    def read_until(self, text: str, timeout: float = 240) -> None:
        """Wait until it has written this."""
        until = monotonic() + timeout
        while text.encode() not in self._read:
            assert self._read_more(until), self._read.decode()

    def _read_more(self, until: float) -> bytes:
        left = None if until == inf else max(0.0, until - monotonic())
        if not _is_readable(self.stdout, left):
            raise subprocess.TimeoutExpired(str(self.pid), left or 0.0)
        part = os.read(self.stdout.fileno(), 1 << 16)
        self._read += part
        return part

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def _is_readable(file: HasFileno, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if timeout is None else timeout * 1000))


@cache
def _server() -> socket.socket:
    """Where requests go; the server ends when this process does."""
    ours, theirs = socket.socketpair()
    with theirs:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        environment.pop("PYTHONPATH", None)  # what the first test has set is for its fork alone
        server = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            cwd=ROOT,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _serve(requests: socket.socket) -> list[str] | None:
    """Fork for each request. In a fork, give what it is to run; in the server, None at the end."""
    waiting = selectors.DefaultSelector()
    waiting.register(requests, selectors.EVENT_READ, (0, requests))
    while True:
        for key, _ in waiting.select():
            if key.fileobj is not requests:
                waiting.unregister(key.fileobj)
                _tell_end(key.fd, *key.data)
                continue
            try:
                size = int.from_bytes(_received(requests, 4), "big")
            except EOFError:
                return None
            data, files, _, _ = socket.recv_fds(requests, 1, 3)
            request = json.loads(data + _received(requests, size - 1))
            if not (pid := os.fork()):
                for each in waiting.get_map().values():
                    each.data[1].detach()  # all are closed below
                waiting.close()
                return _prepared(files, **request)
            status, *output = files
            for file in output:
                os.close(file)
            connection = socket.socket(fileno=status)
            with suppress(OSError):  # whoever asked has gone
                connection.sendall(pid.to_bytes(4, "big"))
            waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))


def _tell_end(pid_file: int, pid: int, connection: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        connection.sendall(code.to_bytes(4, "big", signed=True))
    connection.close()
    os.close(pid_file)


def _prepared(
    files: list[int], arguments: list[str], cwd: str, environment: dict[str, str]
) -> list[str]:
    """Make this fork the process that was asked for, up to its first import."""
    os.dup2(files[1], 1)
    os.dup2(files[2], 2)
    os.closerange(3, 1024)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.orig_argv = [sys.executable, *arguments]
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    if new := [path for path in paths if path and path not in sys.path]:
        sys.path[1:1] = new
        sys.modules.pop("sitecustomize", None)
        with suppress(ModuleNotFoundError):
            import_module("sitecustomize")  # as Python does at its start
    if Path(cwd) != ROOT:
        for name in [each for each in sys.modules if each.partition(".")[0] in _OF_A_PROJECT]:
            del sys.modules[name]
    return arguments


def _run(arguments: list[str]) -> None:
    if arguments[0] == "-W":
        sys.warnoptions = [arguments[1]]
        warnings.simplefilter(arguments[1])
        arguments = arguments[2:]
    sys.argv = arguments
    sys.path[0] = str(Path.cwd())
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        exec(arguments[1], {"__name__": "__main__"})
    else:
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        runpy.run_path(arguments[0], run_name="__main__")


def _prepare_crawls() -> None:
    """Do what takes each crawl long and is the same for all: it would be half of a short one."""
    from scrapy import cmdline

    from dedup.report.page import _environment

    _environment().get_template("report.html")
    cmdline.entry_points = cache(cmdline.entry_points)
    cmdline.entry_points(group="scrapy.commands")


def _fork_readers() -> None:
    """Have crawls fork the processes that read pages: their imports take half of a short crawl."""
    from dedup.scrapy.reading import worker_process
    from dedup.scrapy.reading.worker_protocol import WORKER_COMMAND

    async def start(*command: str, **options: Any) -> asyncio.subprocess.Process:
        if command == WORKER_COMMAND:
            options["preexec_fn"] = _read_pages
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            return await asyncio.create_subprocess_exec(*command, **options)

    names = {**vars(asyncio), "create_subprocess_exec": start}
    worker_process.asyncio = SimpleNamespace(**names)  # type: ignore[assignment]


def _read_pages() -> None:
    """Be the process that reads pages, with its pipes in place; never return to run a program."""
    from dedup.scrapy.reading.worker import run_worker

    status = 1
    try:
        os.closerange(3, 1024)  # the last of these tells the crawl that the process has started
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as in any Python
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        sys.stdin = open(0)  # noqa: SIM115 -- for as long as the process runs
        run_worker()
        status = 0
    finally:
        os._exit(status)


def _main() -> None:
    sys.path[0] = str(ROOT)
    names = [*_MODULES, *_PACKAGES]
    for name in _PACKAGES:
        found = walk_packages(import_module(name).__path__, f"{name}.")
        names += [each.name for each in found]
    for name in names:
        with suppress(ImportError):  # of an older Scrapy, or an extra: whoever needs it says so
            import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    _prepare_crawls()
    _fork_readers()
    gc.freeze()
    arguments = _serve(socket.socket(fileno=int(sys.argv[1])))
    if arguments is not None:
        _run(arguments)


if __name__ == "__main__":
    _main()
