"""Reads pages in another process and blocks until each is read; needs no asyncio event loop."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from subprocess import PIPE
from threading import Timer
from typing import IO

from dedup.scrapy.reading.content import Unread, Wanted
from dedup.scrapy.reading.worker_protocol import (
    BUFFER_BYTES,
    LENGTH_BYTES,
    MAX_PAGE_SECONDS,
    WORKER_COMMAND,
    Found,
    Raw,
    ReadingError,
    packed,
    question_for,
    unread_by_death,
    worker_environment,
)
from dedup.sites.site import Site


class BlockingWorker:
    """Reads pages in another process while this process waits.

    The bounds of `WorkerProcess` hold, so a page blocks this process no longer than that.
    """

    def __init__(self, wanted: Wanted, command: Sequence[str] = WORKER_COMMAND) -> None:
        self._wanted = wanted
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, int] = {}

    def read(self, raw: Raw, host: str | None = None, site: Site | None = None) -> Found:
        """Read a page.

        Raises:
            ReadingError: the page cannot be read.
        """
        is_new = self._process is None
        process = self._process or self._start()
        stuck = Timer(MAX_PAGE_SECONDS, process.kill)
        stuck.start()
        try:
            if is_new:
                _send(process, self._wanted)
                _exactly(_stream(process.stdout), 1)
            _send(process, question_for(raw, host, site, self._known))
            found = _answer(_stream(process.stdout))
        except (EOFError, BrokenPipeError):
            status = self._end()
            raise ReadingError(unread_by_death(status, self._wanted)) from None
        finally:
            stuck.cancel()
        if isinstance(found, Unread):
            raise ReadingError(found)
        return found

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 -- this program itself
            self._command,
            stdin=PIPE,
            stdout=PIPE,
            bufsize=BUFFER_BYTES,
            env=worker_environment(),
            start_new_session=True,
        )
        self._process = process
        self._known.clear()
        return process

    def _end(self) -> int:
        process, self._process = self._process, None
        assert process is not None  # noqa: S101 -- for the type checker
        process.kill()  # one that has ended keeps its status
        status = process.wait()
        with suppress(BrokenPipeError):
            _stream(process.stdin).close()
        _stream(process.stdout).close()
        return status


def _send(process: subprocess.Popen[bytes], value: object) -> None:
    _stream(process.stdin).write(packed(value))
    _stream(process.stdin).flush()


def _answer(answers: IO[bytes]) -> Found | Unread:
    length = int.from_bytes(_exactly(answers, LENGTH_BYTES), "big")
    found: Found | Unread = pickle.loads(_exactly(answers, length))  # noqa: S301 -- the worker's
    return found


def _exactly(file: IO[bytes], length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 -- for the type checker: both are pipes
    return stream
