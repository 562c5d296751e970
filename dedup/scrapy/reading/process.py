"""The crawl's end of a worker: hands it pages to read, and starts another when it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from dedup.scrapy.reading.page import Content, RawPage, Unread, Wanted
from dedup.scrapy.reading.worker import LENGTH_BYTES, Question, packed
from dedup.templates.site import Site

logger = logging.getLogger(__name__)

WORKER = (sys.executable, "-P", "-m", "dedup.scrapy.reading.worker")

_BUFFER_BYTES = 1 << 20
_CLOSE_SECONDS = 5.0
_MAX_DEATHS = 2  # the first may have had another cause, such as want of memory
_OF_THE_PAGE = frozenset(
    {-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL}
)
"""Ends of a process that have no other cause: time is over, or a parser cannot go on."""

_MOST_SECONDS = 60.0  # for a page, by the clock: a machine may be busy
_SLOW_SECONDS = 1.0
"""A page that has taken so much CPU time is slow: others do not wait behind it. Pages take
milliseconds."""
_LOOK_SECONDS = 0.25


class ReadingError(Exception):
    """A page cannot be read; the message says why, and `reason` is how it is recorded."""

    def __init__(self, unread: Unread) -> None:
        super().__init__(unread.detail)
        self.reason = unread.reason


class NotReadError(Exception):
    """A page was not read, for no fault of its own."""


class TooSlowError(Exception):
    """A page is slow, and was given up for now: another slow one is being read.

    Attributes:
        seconds: that it took until then.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


_MAX_SITES = 2_000  # that a process knows the templates of


class SlowLane:
    """Lets one slow page be read at a time, so that other readers are there for the others."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Future[None]] = set()
        self.waiting = 0
        """Pages that wait for their turn."""

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1

    async def __aexit__(self, *error: object) -> None:
        self._lock.release()

    def take(self, answer: asyncio.Future[Content]) -> bool:
        """Let a page that is being read be the slow one, if there is no other."""
        if self._lock.locked():
            return False
        task = asyncio.ensure_future(self._hold(answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _hold(self, answer: asyncio.Future[Content]) -> None:
        async with self._lock:
            await asyncio.wait([answer])


@dataclass(slots=True, eq=False)
class _Waiting:
    raw: RawPage
    host: str | None
    site: Site | None
    lane: SlowLane | None
    cpu_seconds: float | None
    is_slow: bool
    answer: asyncio.Future[Content] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    deaths: int = 0

    def settle(self, found: Content | Unread) -> None:
        if self.answer.done():
            return
        if isinstance(found, Content):
            self.answer.set_result(found)
        else:
            self.answer.set_exception(ReadingError(found))

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class WorkerProcess:
    """Reads pages in another process, in the order in which they come.

    A page that takes too many CPU seconds, or that two processes die of or take a minute for, is
    given up as `too_complex`; those behind it are read by another. Where a page is slow, those
    behind it are not read: whoever wants them can ask another process.

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
        self._is_replaced = False
        self._began_at = 0.0  # to read the first of those that wait
        self.is_ready = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    def __len__(self) -> int:
        """Pages that wait for their answer."""
        return len(self._waiting)

    @property
    def load(self) -> int:
        """Bytes of those pages, each counted as 10 kB at least."""
        return sum(max(len(each.raw.body), 10_000) for each in self._waiting)

    @property
    def is_slow(self) -> bool:
        """Is a page to be read here that is slow?"""
        return any(each.is_slow for each in self._waiting)

    @property
    def is_gone(self) -> bool:
        """Will it never be ready (again)?"""
        return self._task.done()

    async def read(
        self,
        raw: RawPage,
        host: str | None = None,
        site: Site | None = None,
        *,
        lane: SlowLane | None = None,
        cpu_seconds: float | None = None,
        is_slow: bool = False,
    ) -> Content:
        """What the page says, by what is known of its host's site.

        Args:
            raw: the page.
            host: whose templates count.
            site: what is known of those.
            lane: taken once the page is slow.
            cpu_seconds: that are left for the page; None: all that it may take.
            is_slow: it is known to be.

        Raises:
            ReadingError: it cannot be read.
            TooSlowError: it is slow, and the lane is taken.
            NotReadError: no process is there to read it, or it would wait for a slow page.
        """
        if self._task.done():
            raise NotReadError
        question = _Waiting(raw, host, site, lane, cpu_seconds, is_slow)
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
            self._waiting.popleft().fail(NotReadError())

    async def _run_process(self) -> bool:
        """Run a process until it ends; False: it ended before it was ready."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            limit=_BUFFER_BYTES,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the crawl, which ends this one
        )
        self._process, self._is_replaced = process, False
        self._told.clear()
        self._send(self._wanted)
        self._waiting = deque(each for each in self._waiting if not each.answer.done())
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
        if not (self._is_closing or self._is_replaced):
            self._note_death(status, was_ready=was_ready)
        return was_ready

    async def _take_answers(self, answers: Any) -> None:
        await answers.readexactly(1)
        self.is_ready = True
        while True:
            self._began_at = time.monotonic()
            length = int.from_bytes(await answers.readexactly(LENGTH_BYTES), "big")
            found = pickle.loads(await answers.readexactly(length))  # noqa: S301 -- the worker's
            question = self._waiting.popleft()
            question.settle(found)
            if question.is_slow and any(each.answer.done() for each in self._waiting):
                self._replace()  # it would read those that others have read

    async def _watch(self, process: Process) -> None:
        """Kill a process that does not come to an end with a page."""
        looked_at, cpu_before = None, 0.0
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not (self.is_ready and self._waiting):
                continue
            first = self._waiting[0]
            if first is not looked_at:
                looked_at, cpu_before = first, _cpu_seconds(process.pid)
            if time.monotonic() - self._began_at > _MOST_SECONDS:
                logger.error("Reading %s takes over %.0f seconds", first.raw.url, _MOST_SECONDS)
                with suppress(ProcessLookupError):  # it has just ended
                    process.kill()
                return
            seconds = _cpu_seconds(process.pid) - cpu_before
            if seconds > _SLOW_SECONDS and first.lane is not None:
                self._make_way(first, seconds + _LOOK_SECONDS)

    def _make_way(self, first: _Waiting, seconds: float) -> None:
        """Let no other page wait behind a slow one, and that one go on if it is the only one."""
        for question in self._waiting:
            if question is not first and not question.is_slow:
                question.fail(NotReadError())
        if not first.is_slow:
            first.is_slow = first.lane is None or first.lane.take(first.answer)
        if not first.is_slow:
            first.fail(TooSlowError(seconds))
            self._replace()

    def _replace(self) -> None:
        """End the process; what it has not answered is asked of the next one."""
        self._is_replaced = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def _note_death(self, status: int, *, was_ready: bool) -> None:
        first = self._waiting[0] if was_ready and self._waiting else None
        doing = f"while it read {first.raw.url}" if first else "with nothing to read"
        is_over = first is not None and status == -signal.SIGPROF
        logger.log(
            logging.WARNING if is_over else logging.ERROR,
            "A process that reads pages ended with status %d %s",
            status,
            doing if was_ready else "before it could read",
        )
        if first is not None:
            first.deaths += 1
            if status in _OF_THE_PAGE or first.deaths >= _MAX_DEATHS:
                self._waiting.popleft().settle(_death_of(status, self._wanted))

    def _ask(self, question: _Waiting) -> None:
        asked = question_for(question.raw, question.host, question.site, self._told)
        self._send(asked._replace(cpu_seconds=question.cpu_seconds))

    def _send(self, value: object) -> None:
        if self._process is not None:
            self._process.stdin.write(packed(value))  # type: ignore[union-attr] # a pipe


class BlockingWorker:
    """Reads pages in another process while this one waits: where there is no event loop to do else.

    The same bounds hold as for `WorkerProcess`: so long may this process be held up by a page, and
    no longer.
    """

    def __init__(self, wanted: Wanted, command: Sequence[str] = WORKER) -> None:
        self._wanted = wanted
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._told: dict[str, int] = {}

    def read(self, raw: RawPage, host: str | None = None, site: Site | None = None) -> Content:
        """What the page says.

        Raises:
            ReadingError: it cannot be read.
        """
        try:
            process = self._process or self._start()
            _stream(process.stdin).write(packed(question_for(raw, host, site, self._told)))
            _stream(process.stdin).flush()
            found = self._answer(_stream(process.stdout))
        except (EOFError, BrokenPipeError):
            status = self._end()
            raise ReadingError(_death_of(status, self._wanted)) from None
        if isinstance(found, Content):
            return found
        raise ReadingError(found)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 -- this program itself
            self._command,
            stdin=PIPE,
            stdout=PIPE,
            bufsize=_BUFFER_BYTES,
            env=_environment(),
            start_new_session=True,
        )
        self._process = process
        self._told.clear()
        _stream(process.stdin).write(packed(self._wanted))
        _stream(process.stdin).flush()
        _exactly(_stream(process.stdout), 1)
        return process

    def _answer(self, answers: IO[bytes]) -> Content | Unread:
        if not select.select([answers], [], [], _MOST_SECONDS)[0]:
            raise EOFError
        length = int.from_bytes(_exactly(answers, LENGTH_BYTES), "big")
        found: Content | Unread = pickle.loads(_exactly(answers, length))  # noqa: S301 -- the worker's
        return found

    def _end(self) -> int:
        process, self._process = self._process, None
        assert process is not None  # noqa: S101 -- for the type checker
        process.kill()  # one that has ended keeps its status
        status = process.wait()
        with suppress(BrokenPipeError):
            _stream(process.stdin).close()
        _stream(process.stdout).close()
        return status


def question_for(
    raw: RawPage, host: str | None, site: Site | None, told: dict[str, int]
) -> Question:
    """The question that brings along what the process does not know of the site.

    `told` is how many templates the process knows of each host; it is brought up to date.
    """
    if host is None or site is None:
        return Question(raw)
    is_first = host not in told and len(told) >= _MAX_SITES
    if is_first:
        told.clear()
    n_templates = len(site.templates)
    is_told = told.get(host) == n_templates
    told[host] = n_templates
    return Question(raw, host, None if is_told else site.templates, is_first)


def _death_of(status: int, wanted: Wanted) -> Unread:
    if status == -signal.SIGPROF:
        return Unread("too_complex", f"takes over {wanted.cpu_seconds:g} s of CPU")
    return Unread("too_complex", f"the process that reads it ends with status {status}")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _cpu_seconds(pid: int) -> float:
    """CPU time of a process; where that cannot be had, the time that passes."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as Linux numbers the clocks of processes
    except (OSError, AttributeError):
        return time.monotonic()


def _exactly(file: IO[bytes], length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 -- for the type checker: both are pipes
    return stream


def _close_input(process: Process) -> None:
    process.stdin.close()  # type: ignore[union-attr] # a pipe
