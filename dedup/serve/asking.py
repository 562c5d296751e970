"""The thread that owns the jobs: questions that wait for it are answered together."""

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from dedup.document import Document
from dedup.errors import StateError
from dedup.explain.seen import Seen
from dedup.serve.followed import FollowedJob
from dedup.sites.site import Site

logger = logging.getLogger(__name__)

_AT_ONCE = 128
"""Documents that are judged together; others wait meanwhile."""

_FOLLOW_SECONDS = 0.5
_REOPEN_SECONDS = 5.0


class _Question(NamedTuple):
    """A document, or a function that needs the jobs, and is called."""

    asked: Any
    answer: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


class Asking:
    """Answers questions about jobs in a thread of its own, as a job's store belongs to one thread.

    A job that cannot be read any more is opened again every few seconds; until then questions
    raise `StateError`: "not seen" would be wrong.

    Args:
        jobs: as commands take them; the first one that has a page is named.

    Attributes:
        extractor: what took the texts of the first one's pages.

    Raises:
        StateError: one of them cannot be used.
    """

    def __init__(self, jobs: Sequence[str | Path]) -> None:
        self._places = list(jobs)
        self._jobs: list[FollowedJob] = []
        self._failure: StateError | None = None
        self.extractor = ""
        self._gathered: list[_Question] = []
        self._questions: SimpleQueue[list[_Question]] = SimpleQueue()
        self._waiting: deque[_Question] = deque()
        self._is_open = True
        self._next_follow = 0.0
        started: SimpleQueue[BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        if (error := started.get()) is not None:
            raise error

    async def find(self, document: Document) -> Seen | None:
        """The page that a document duplicates; None: no job has one."""
        return await self._asked(document)  # type: ignore[no-any-return]

    async def find_url(self, url: str) -> Seen | None:
        """The page of a URL.

        Raises:
            ValueError: it is no http(s) URL.
        """

        def find() -> Seen | None:
            return next((found for job in self._jobs if (found := job.find_url(url))), None)

        return await self._asked(find)  # type: ignore[no-any-return]

    async def site(self, host: str) -> Site | None:
        """What the first job that knows a host knows of it."""

        def find() -> Site | None:
            return next((site for job in self._jobs if (site := job.pages.site(host))), None)

        return await self._asked(find)  # type: ignore[no-any-return]

    async def names(self) -> list[str]:
        """The jobs, all of which can be read now."""
        return await self._asked(lambda: [job.name for job in self._jobs])  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the thread, after it has answered what was asked."""
        self._is_open = False
        self._questions.put([])
        self._thread.join()

    async def _asked(self, asked: Document | Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        question = _Question(asked, loop.create_future(), loop)
        if not self._gathered:
            loop.call_soon(self._hand_over)
        self._gathered.append(question)
        return await question.answer

    def _hand_over(self) -> None:
        """Wake the thread, once for all questions that came in at the same time."""
        self._questions.put(self._gathered)
        self._gathered = []

    # --- In the thread ---------------------------------------------------------------------------

    def _run(self, started: "SimpleQueue[BaseException | None]") -> None:
        try:
            self._open()
            self.extractor = self._jobs[0].extractor
        except BaseException as error:  # noqa: BLE001 -- it is raised where the thread was started
            started.put(error)
            return
        started.put(None)
        while self._is_open or self._waiting or not self._questions.empty():
            questions = self._next()
            self._follow()
            documents = [each for each in questions if isinstance(each.asked, Document)]
            if documents:
                self._answer(documents, lambda given: self._find([each.asked for each in given]))
            for each in questions:
                if not isinstance(each.asked, Document):
                    self._answer([each], lambda given: [given[0].asked()])
        self._close()

    def _open(self) -> None:
        try:
            for place in self._places:
                self._jobs.append(FollowedJob(place, share=1 / len(self._places)))
        except BaseException:
            self._close()
            raise
        self._failure = None

    def _close(self) -> None:
        while self._jobs:
            with contextlib.suppress(StateError):
                self._jobs.pop().close()

    def _next(self) -> list[_Question]:
        """Some of the questions that wait, in their order; none: it is time to follow."""
        with contextlib.suppress(Empty):
            wait = max(0.0, self._next_follow - monotonic())
            while len(self._waiting) < _AT_ONCE:
                self._waiting += self._questions.get(block=not self._waiting, timeout=wait)
                if not self._is_open:
                    break
        count = min(len(self._waiting), _AT_ONCE)
        found = [self._waiting.popleft() for _ in range(count)]
        return [each for each in found if not each.answer.cancelled()]  # its client may have gone

    def _follow(self) -> None:
        """Take up what crawls have written; open the jobs again after an error."""
        if monotonic() < self._next_follow:
            return
        self._next_follow = monotonic() + _FOLLOW_SECONDS
        try:
            if self._failure is not None or not all(job.follow() for job in self._jobs):
                self._close()
                self._open()
        except Exception as error:  # noqa: BLE001 -- the thread goes on, and questions get it
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            logger.warning("%s", error)
        self._failure = StateError("dedup serve", f"a job cannot be read ({error})", "Ask later")
        self._next_follow = monotonic() + _REOPEN_SECONDS

    def _answer(
        self, questions: list[_Question], find: Callable[[list[_Question]], list[Any]]
    ) -> None:
        try:
            if self._failure is not None:
                raise self._failure
            _answer(questions, find(questions))
        except Exception as error:  # noqa: BLE001 -- it is raised where was asked
            if isinstance(error, StateError) and self._failure is None:
                self._fail(error)
            for each in questions:
                each.loop.call_soon_threadsafe(_set, each.answer, None, error)

    def _find(self, documents: list[Document]) -> list[Seen | None]:
        found: list[Seen | None] = [None] * len(documents)
        for job in self._jobs:
            left = [place for place, each in enumerate(found) if each is None]
            answers = job.pages.find_many([documents[place] for place in left])
            for place, answer in zip(left, answers, strict=True):
                found[place] = answer
        return found


def _answer(questions: Sequence[_Question], answers: Sequence[Any]) -> None:
    def set_all() -> None:
        for each, answer in zip(questions, answers, strict=True):
            _set(each.answer, answer)

    questions[0].loop.call_soon_threadsafe(set_all)  # one server has one loop


def _set(future: "asyncio.Future[Any]", answer: Any, error: Exception | None = None) -> None:
    if future.done():  # cancelled
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
