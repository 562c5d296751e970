"""The crawl's end of a reading process: sends it pages, and starts another when it ends."""

from __future__ import annotations

import asyncio
import logging
import pickle
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from dedup.scrapy.reading.content import Unread, Wanted
from dedup.scrapy.reading.slow_lane import SlowLane, cpu_seconds_of
from dedup.scrapy.reading.worker_protocol import (
    BUFFER_BYTES,
    LENGTH_BYTES,
    MAX_PAGE_SECONDS,
    WORKER_COMMAND,
    Found,
    NotReadError,
    Raw,
    ReadingError,
    TooSlowError,
    packed,
    question_for,
    unread_by_death,
    worker_environment,
)
from dedup.sites.site import Site

logger = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0
_MAX_DEATHS = 2
"""Processes that end while they read a page, after which it is given up. One may have ended for
another reason, such as a lack of memory."""

_SIGNALS_OF_PAGE = frozenset(
    {-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL}
)
"""Exit statuses that only the page can cause: its CPU time is over, or a parser has failed."""

_SLOW_SECONDS = 1.0
"""CPU time from which a page is slow: other pages do not wait for it. Pages take milliseconds."""

_LOOK_SECONDS = 0.25
"""Between two looks at the CPU time of the process."""


@dataclass(slots=True, eq=False)
class _OpenQuestion:
    raw: Raw
    host: str | None
    site: Site | None
    lane: SlowLane | None
    cpu_seconds: float | None
    is_slow: bool
    note_seconds: Callable[[float], None]
    answer: asyncio.Future[Found] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    deaths: int = 0

    def settle(self, found: Found | Unread) -> None:
        if self.answer.done():
            return
        if isinstance(found, Unread):
            self.answer.set_exception(ReadingError(found))
        else:
            self.answer.set_result(found)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class WorkerProcess:
    """Reads pages in another process, in the order in which they come.

    A page is given up as `too_complex` if it takes too much CPU time or a minute, or if two
    processes end while they read it; another process then reads the pages after it. The pages after
    a slow page are not read (`NotReadError`), so that the caller can send them to another process.

    Args:
        wanted: what is to be read from pages.
        command: starts the process; see `dedup.scrapy.reading.worker`.

    Attributes:
        is_ready: can the process read pages? It takes a fifth of a second to start; if it cannot
            be started, this stays False.
    """

    def __init__(self, wanted: Wanted, command: Sequence[str] = WORKER_COMMAND) -> None:
        self._wanted = wanted
        self._command = command
        self._process: Process | None = None
        self._waiting: deque[_OpenQuestion] = deque()
        self._known: dict[str, int] = {}
        """The version of what is known of each site that the process has."""
        self._is_closing = False
        self._is_replaced = False
        self._began_at = self._began_cpu = 0.0
        """When the process began with the first waiting page, and the CPU time that it had then."""
        self.is_ready = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    def __len__(self) -> int:
        """The number of pages without an answer."""
        return len(self._waiting)

    @property
    def load(self) -> int:
        """The bytes of these pages; a page counts as at least 10 kB."""
        return sum(max(len(each.raw.body), 10_000) for each in self._waiting)

    @property
    def is_slow(self) -> bool:
        """Is one of these pages slow?"""
        return any(each.is_slow for each in self._waiting)

    @property
    def is_gone(self) -> bool:
        """Has the process ended, and will no other be started?"""
        return self._task.done()

    async def read(
        self,
        raw: Raw,
        host: str | None = None,
        site: Site | None = None,
        *,
        lane: SlowLane | None = None,
        cpu_seconds: float | None = None,
        is_slow: bool = False,
        note_seconds: Callable[[float], None] = lambda seconds: None,  # noqa: ARG005 -- by default nobody asks
    ) -> Found:
        """Read a page with the knowledge of its site.

        Args:
            raw: the page.
            host: of the page.
            site: what is known of it.
            lane: the page takes it when it turns out to be slow.
            cpu_seconds: CPU time left for the page; None: the whole limit of a page.
            is_slow: is the page known to be slow?
            note_seconds: called with the time that the page has taken.

        Raises:
            ReadingError: the page cannot be read.
            TooSlowError: the page is slow, and another page has the lane.
            NotReadError: there is no process to read it, or it would wait for a slow page.
        """
        if self._task.done():
            raise NotReadError
        question = _OpenQuestion(raw, host, site, lane, cpu_seconds, is_slow, note_seconds)
        if not self._waiting:
            self._begin()
        self._waiting.append(question)
        self._ask(question)
        return await question.answer

    def abandon(self) -> None:
        """Kill the process; the pages that wait are not read."""
        self._is_closing = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process; kill it if it does not end within `_CLOSE_SECONDS`."""
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
        except Exception:  # for example no memory: the crawl's process reads pages then
            logger.exception("The page-reading process is no longer usable")
            self.abandon()
            if self._process is not None:
                await self._process.wait()
        self.is_ready, self._process = False, None
        while self._waiting:
            self._waiting.popleft().fail(NotReadError())

    async def _run_process(self) -> bool:
        """Run a process until it ends; False: it ended before it was ready."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            limit=BUFFER_BYTES,
            env=worker_environment(),
            start_new_session=True,  # Ctrl-C goes to the crawl, which ends this process
        )
        self._process, self._is_replaced = process, False
        self._begin()
        self._known.clear()
        self._send(self._wanted)
        self._waiting = deque(each for each in self._waiting if not each.answer.done())
        for question in self._waiting:
            self._ask(question)
        if self._is_closing:
            _close_input(process)
        watching = asyncio.create_task(self._watch(process))
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._take_answers(_answers_of(process))
        finally:
            watching.cancel()
        was_ready, self.is_ready, self._process = self.is_ready, False, None
        status = await process.wait()
        if not (self._is_closing or self._is_replaced):
            self._note_death(status, was_ready=was_ready)
        return was_ready

    async def _take_answers(self, answers: asyncio.StreamReader) -> None:
        await answers.readexactly(1)
        self.is_ready = True
        while True:
            self._begin()
            length = int.from_bytes(await answers.readexactly(LENGTH_BYTES), "big")
            found = pickle.loads(await answers.readexactly(length))  # noqa: S301 -- the worker's
            question = self._waiting.popleft()
            self._charge(question, self._seconds())
            question.settle(found)
            if question.is_slow and any(each.answer.done() for each in self._waiting):
                self._replace()  # it would read pages that other processes have read

    async def _watch(self, process: Process) -> None:
        """Kill the process if a page, or its start, takes too long; find slow pages."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not self._waiting:
                continue
            first = self._waiting[0]
            if time.monotonic() - self._began_at > MAX_PAGE_SECONDS:
                logger.error(
                    "Reading %s takes more than %.0f seconds", first.raw.url, MAX_PAGE_SECONDS
                )
                with suppress(ProcessLookupError):  # it has just ended
                    process.kill()
                return
            seconds = self._seconds()
            if self.is_ready and seconds > _SLOW_SECONDS and first.lane is not None:
                self._handle_slow_page(first, seconds + _LOOK_SECONDS)

    def _handle_slow_page(self, first: _OpenQuestion, seconds: float) -> None:
        """Let no other page wait for a slow one; stop the slow one if the lane is taken."""
        for question in self._waiting:
            if question is not first and not question.is_slow:
                question.fail(NotReadError())
        if not first.is_slow:
            first.is_slow = first.lane is None or first.lane.take(first.answer)
        if not first.is_slow:
            self._charge(first, seconds)
            first.fail(TooSlowError(seconds))
            self._replace()

    def _begin(self) -> None:
        self._began_at, self._began_cpu = time.monotonic(), self._cpu_seconds()

    def _seconds(self) -> float:
        """CPU time that the process has taken for the first waiting page."""
        return self._cpu_seconds() - self._began_cpu

    def _charge(self, question: _OpenQuestion, seconds: float) -> None:
        """Note what the first waiting page has taken: a slow one by the clock.

        On a busy machine it holds the process for longer than its CPU time.
        """
        if seconds >= _SLOW_SECONDS:
            seconds = max(seconds, time.monotonic() - self._began_at)
        question.note_seconds(seconds)

    def _cpu_seconds(self) -> float:
        return 0.0 if self._process is None else cpu_seconds_of(self._process.pid)

    def _replace(self) -> None:
        """End the process; the next one reads the pages that have no answer."""
        self._is_replaced = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def _note_death(self, status: int, *, was_ready: bool) -> None:
        first = self._waiting[0] if was_ready and self._waiting else None
        doing = f"while reading {first.raw.url}" if first else "while idle"
        is_over = first is not None and status == -signal.SIGPROF
        logger.log(
            logging.WARNING if is_over else logging.ERROR,
            "A page-reading process ended with status %d %s",
            status,
            doing if was_ready else "before it was ready",
        )
        if first is not None:
            first.deaths += 1
            self._charge(first, first.cpu_seconds or self._wanted.cpu_seconds)
            if status in _SIGNALS_OF_PAGE or first.deaths >= _MAX_DEATHS:
                self._waiting.popleft().settle(unread_by_death(status, self._wanted))

    def _ask(self, question: _OpenQuestion) -> None:
        asked = question_for(question.raw, question.host, question.site, self._known)
        self._send(asked._replace(cpu_seconds=question.cpu_seconds))

    def _send(self, value: object) -> None:
        if self._process is not None:
            self._process.stdin.write(packed(value))  # type: ignore[union-attr] # a pipe


def _answers_of(process: Process) -> asyncio.StreamReader:
    assert process.stdout is not None  # noqa: S101 -- for the type checker: it is a pipe
    return process.stdout


def _close_input(process: Process) -> None:
    process.stdin.close()  # type: ignore[union-attr] # a pipe
