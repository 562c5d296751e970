"""The crawl's end of a worker: hands it pages to read, and starts another when it dies."""

from __future__ import annotations

import asyncio
import logging
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crawler.reading.page import Content, RawPage, Wanted
from crawler.reading.worker import LENGTH_BYTES, packed

logger = logging.getLogger(__name__)

WORKER = (sys.executable, "-m", "crawler.reading.worker")

_BUFFER_BYTES = 1 << 20
_CLOSE_SECONDS = 5.0
_MAX_DEATHS = 2  # the first may have had another cause, such as want of memory


class ReadingError(Exception):
    """A page could not be read; the message says why."""


@dataclass(slots=True, eq=False)
class _Question:
    raw: RawPage
    answer: asyncio.Future[object]
    deaths: int = 0

    def settle(self, found: object) -> None:
        if not self.answer.done():  # by the crawl's end
            self.answer.set_result(found)


class WorkerProcess:
    """Reads pages in another process, in the order in which they come.

    A page that two processes die of is given up; those behind it are read by a third.

    Args:
        wanted: what is to be read from pages.
        command: starts the process; see `crawler.reading.worker`.

    Attributes:
        is_ready: has the process started? That takes half a second.
    """

    def __init__(self, wanted: Wanted, command: Sequence[str] = WORKER) -> None:
        self._wanted = wanted
        self._command = command
        self._process: Process | None = None
        self._waiting: deque[_Question] = deque()
        self._is_closing = False
        self.is_ready = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    def __len__(self) -> int:
        """Pages that wait for their answer."""
        return len(self._waiting)

    async def read(self, raw: RawPage) -> Content:
        """What the page says.

        Raises:
            ReadingError: it cannot be read.
        """
        question = _Question(raw, asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        self._send(raw)
        found = await question.answer
        if isinstance(found, Content):
            return found
        raise ReadingError(found)

    async def close(self) -> None:
        """End the process, by force if it does not end within seconds."""
        self._is_closing = True
        if self._process is not None:
            self._process.stdin.close()  # type: ignore[union-attr] # a pipe
            try:
                await asyncio.wait_for(self._process.wait(), _CLOSE_SECONDS)
            except TimeoutError:
                self._process.kill()
        await self._task

    async def _run(self) -> None:
        was_ready = True
        while was_ready and not self._is_closing:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                limit=_BUFFER_BYTES,
                start_new_session=True,  # Ctrl-C is for the crawl, which ends this one
            )
            self._process = process
            self._send(self._wanted)
            for question in self._waiting:
                self._send(question.raw)
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._take_answers(process.stdout)
            self._process, was_ready, self.is_ready = None, self.is_ready, False
            status = await process.wait()
            if not self._is_closing:
                self._note_death(status)
        for question in self._waiting:
            question.settle("no process to read it could be started")

    async def _take_answers(self, answers: Any) -> None:
        await answers.readexactly(1)
        self.is_ready = True
        while True:
            length = int.from_bytes(await answers.readexactly(LENGTH_BYTES), "big")
            found = pickle.loads(await answers.readexactly(length))  # noqa: S301 -- the worker's
            self._waiting.popleft().settle(found)

    def _note_death(self, status: int) -> None:
        first = self._waiting[0] if self._waiting else None
        logger.error(
            "A process that reads pages ended with status %d%s",
            status,
            f" while it read {first.raw.url}" if first else "",
        )
        if first is not None:
            first.deaths += 1
            if first.deaths >= _MAX_DEATHS:
                self._waiting.popleft().settle(f"two processes died of it, status {status}")

    def _send(self, value: object) -> None:
        if self._process is not None:
            self._process.stdin.write(packed(value))  # type: ignore[union-attr] # a pipe
