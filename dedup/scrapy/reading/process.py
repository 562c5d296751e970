"""The crawl's end of a worker: hands it pages to read, and starts another when it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dedup.scrapy.reading.page import Content, RawPage, Wanted
from dedup.scrapy.reading.worker import LENGTH_BYTES, Question, packed
from dedup.templates.site import Site

logger = logging.getLogger(__name__)

WORKER = (sys.executable, "-P", "-m", "dedup.scrapy.reading.worker")

_BUFFER_BYTES = 1 << 20
_CLOSE_SECONDS = 5.0
_MAX_DEATHS = 2  # the first may have had another cause, such as want of memory
_MOST_SECONDS = 60.0  # for a page; the largest takes some seconds
_LOOK_SECONDS = 1.0


class ReadingError(Exception):
    """A page cannot be read; the message says why."""


class NotReadError(Exception):
    """A page was not read, for no fault of its own."""


_MAX_SITES = 2_000  # that a process knows the templates of


@dataclass(slots=True, eq=False)
class _Waiting:
    raw: RawPage
    host: str | None
    site: Site | None
    answer: asyncio.Future[Content]
    deaths: int = 0

    def settle(self, found: Content | str) -> None:
        if self.answer.done():
            return
        if isinstance(found, Content):
            self.answer.set_result(found)
        else:
            self.answer.set_exception(ReadingError(found))


class WorkerProcess:
    """Reads pages in another process, in the order in which they come.

    A page that two processes die of, or take a minute for, is given up; those behind it are read by
    a third.

    Args:
        wanted: what is to be read from pages.
        command: starts the process; see `dedup.scrapy.reading.worker`.

    Attributes:
        is_ready: can it read? A process takes a fifth of a second to start; one that cannot be
            started is never ready again.
    """

    def __init__(self, wanted: Wanted, command: Sequence[str] = WORKER) -> None:
        self._wanted = wanted
        self._command = command
        self._process: Process | None = None
        self._waiting: deque[_Waiting] = deque()
        self._told: dict[str, int] = {}
        """How many templates the process knows of each host."""
        self._is_closing = False
        self._began_at = 0.0  # to read the first of those that wait
        self.is_ready = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    def __len__(self) -> int:
        """Pages that wait for their answer."""
        return len(self._waiting)

    async def read(
        self, raw: RawPage, host: str | None = None, site: Site | None = None
    ) -> Content:
        """What the page says, by what is known of its host's site.

        Raises:
            ReadingError: it cannot be read.
            NotReadError: no process is there to read it.
        """
        if self._task.done():
            raise NotReadError
        question = _Waiting(raw, host, site, asyncio.get_running_loop().create_future())
        if not self._waiting:
            self._began_at = time.monotonic()
        self._waiting.append(question)
        self._ask(question)
        return await question.answer

    def abandon(self) -> None:
        """Kill the process; what waits is not read."""
        self._is_closing = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process, by force if it does not end within seconds."""
        self._is_closing = True
        process = self._process
        if process is not None:
            _close_input(process)
            try:
                await asyncio.wait_for(process.wait(), _CLOSE_SECONDS)
            except TimeoutError:
                self.abandon()
        await self._task

    async def _run(self) -> None:
        try:
            while not self._is_closing and await self._run_process():
                pass
        except Exception:  # no memory, no descriptors: pages are read in the crawl's process
            logger.exception("The process that reads pages cannot be used any more")
            self.abandon()
            if self._process is not None:
                await self._process.wait()
        self.is_ready, self._process = False, None
        while self._waiting:
            answer = self._waiting.popleft().answer
            if not answer.done():
                answer.set_exception(NotReadError())

    async def _run_process(self) -> bool:
        """Run a process until it ends; False: it ended before it was ready."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            limit=_BUFFER_BYTES,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the crawl, which ends this one
        )
        self._process = process
        self._told.clear()
        self._send(self._wanted)
        for question in self._waiting:
            self._ask(question)
        if self._is_closing:
            _close_input(process)
        watching = asyncio.create_task(self._watch(process))
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._take_answers(process.stdout)
        finally:
            watching.cancel()
        was_ready, self.is_ready, self._process = self.is_ready, False, None
        status = await process.wait()
        if not self._is_closing:
            self._note_death(status, was_ready=was_ready)
        return was_ready

    async def _take_answers(self, answers: Any) -> None:
        await answers.readexactly(1)
        self.is_ready = True
        while True:
            self._began_at = time.monotonic()
            length = int.from_bytes(await answers.readexactly(LENGTH_BYTES), "big")
            found = pickle.loads(await answers.readexactly(length))  # noqa: S301 -- the worker's
            self._waiting.popleft().settle(found)

    async def _watch(self, process: Process) -> None:
        """Kill a process that does not come to an end with a page."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            seconds = time.monotonic() - self._began_at
            if self.is_ready and self._waiting and seconds > _MOST_SECONDS:
                url = self._waiting[0].raw.url
                logger.error("Reading %s takes over %.0f seconds", url, _MOST_SECONDS)
                with suppress(ProcessLookupError):  # it has just ended
                    process.kill()
                return

    def _note_death(self, status: int, *, was_ready: bool) -> None:
        first = self._waiting[0] if was_ready and self._waiting else None
        doing = f"while it read {first.raw.url}" if first else "with nothing to read"
        logger.error(
            "A process that reads pages ended with status %d %s",
            status,
            doing if was_ready else "before it could read",
        )
        if first is not None:
            first.deaths += 1
            if first.deaths >= _MAX_DEATHS:
                self._waiting.popleft().settle(f"two processes died of it, status {status}")

    def _ask(self, question: _Waiting) -> None:
        host, site = question.host, question.site
        if host is None or site is None:
            self._send(Question(question.raw))
            return
        is_first = host not in self._told and len(self._told) >= _MAX_SITES
        if is_first:
            self._told.clear()
        n_templates = len(site.templates)
        is_told = self._told.get(host) == n_templates
        self._told[host] = n_templates
        templates = None if is_told else site.templates
        self._send(Question(question.raw, host, templates, is_first))

    def _send(self, value: object) -> None:
        if self._process is not None:
            self._process.stdin.write(packed(value))  # type: ignore[union-attr] # a pipe


def _close_input(process: Process) -> None:
    process.stdin.close()  # type: ignore[union-attr] # a pipe
