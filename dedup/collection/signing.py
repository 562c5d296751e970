"""Reading rows and computing their signatures, in this process or in several.

What costs most (parsing, normalising, shingling, hashing) needs nothing but the row. So rows go in
portions to processes, and come back in their order as documents with all signatures; only the
decision needs to know what came before. The answer is the same for any number of processes.
"""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from dedup.batch import Batch
from dedup.collection.between_processes import ReadRows, SentBatch, SentRows
from dedup.collection.columns import Columns, NoTextError
from dedup.collection.documents import Held, NoText, Read, read_given
from dedup.collection.evaluation import Evaluation
from dedup.collection.rows import Given
from dedup.collection.rules import Rules
from dedup.detectors.sketches import SketchSigner
from dedup.document import Document
from dedup.sites.site import Site

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")

_AHEAD = 3
"""Portions for each process that wait to be worked on or taken."""

_PATIENCE = 5.0
"""Seconds after which a portion that is not done makes one look whether the processes live."""

_ENDED = "a signing process ended, perhaps out of memory; --processes 1 needs the least"


@dataclass(frozen=True, slots=True)
class Task:
    """A portion of rows.

    Attributes:
        rows: what each document is made of.
        numbers: of the rows in the collection; they name those that have no other name.
        signed_from: from which number on signatures are needed.
    """

    rows: Sequence[Given]
    numbers: Sequence[int]
    signed_from: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is done with a portion; the same in every process.

    Attributes:
        columns, rules, sites: how rows are read and judged.
        evaluation: rows that hold a passage of it are not judged; None: all are.
        packs_texts: compress texts as stores keep them, so that the process that decides need not.
    """

    columns: Columns
    rules: Rules
    sites: Mapping[str, Site] = field(default_factory=dict)
    evaluation: Evaluation | None = None
    packs_texts: bool = False

    def read(self, task: Task) -> ReadRows:
        """Read documents from rows, or why a row is not one; sign those that need signatures."""
        read = [
            self._read(given, number) for given, number in zip(task.rows, task.numbers, strict=True)
        ]
        found: Sequence[Read | Held | NoText | str] = read
        if self.evaluation is not None:
            found = self.evaluation.sorted_out(read)
        documents = [
            each.document
            for each, number in zip(found, task.numbers, strict=True)
            if isinstance(each, Read) and number >= task.signed_from
        ]
        return ReadRows(found, self.sign(documents))

    def sign(self, documents: Sequence[Document]) -> Batch:
        """Compute all signatures."""
        batch = Batch(documents)
        for signer in (*self.rules.signers(), SketchSigner()):
            batch.signatures(signer)
        return batch

    def _read(self, given: Given, number: int) -> Read | NoText | str:
        try:
            return read_given(given, self.columns, self.sites, number)
        except NoTextError as error:
            return NoText.of(error)
        except (ValueError, RecursionError) as error:
            return str(error)


class SigningProcesses:
    """Does work on portions, in `processes` processes, or here where that is 1.

    Raises:
        OSError: a process has died; from any method.
    """

    def __init__(self, work: Work, processes: int) -> None:
        self._work = work
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        if processes > 1:
            self._pool = _started(processes, work)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def read(self, tasks: Iterable[tuple[T, Task]]) -> Iterator[tuple[T, ReadRows]]:
        """Yield for each portion what its rows say, in their order, beside what came with it."""
        return self._each(tasks, self._work.read, _read_packed, SentRows.unpack)

    def sign(self, portions: Iterable[tuple[T, Sequence[Document]]]) -> Iterator[tuple[T, Batch]]:
        """Yield each portion of documents with their signatures."""
        return self._each(portions, self._work.sign, _sign_packed, SentBatch.unpack)

    def _each(
        self,
        portions: Iterable[tuple[T, Any]],
        here: Callable[[Any], R],
        there: Callable[[Any], S],
        unpack: Callable[[S], R],
    ) -> Iterator[tuple[T, R]]:
        if self._pool is None:
            for beside, portion in portions:
                yield beside, here(portion)
            return
        waiting: deque[tuple[T, Future[S]]] = deque()
        for beside, portion in portions:
            waiting.append((beside, _submitted(self._pool, there, portion)))
            if len(waiting) > _AHEAD * self._processes:
                beside, future = waiting.popleft()
                yield beside, unpack(_result(self._pool, future))
        while waiting:
            beside, future = waiting.popleft()
            yield beside, unpack(_result(self._pool, future))


def _started(processes: int, work: Work) -> "ProcessPoolExecutor":
    import multiprocessing  # one process does without
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),  # the same on every system
        initializer=_begin,
        initargs=(work,),
    )
    # All are started now: one that starts while another dies would be waited for, for ever
    # (CPython 3.11, `terminate_broken`).
    for _ in range(processes):
        pool.submit(os.getpid)
    return pool


def _submitted(pool: "ProcessPoolExecutor", work: Callable[..., R], *arguments: Any) -> "Future[R]":
    from concurrent.futures.process import BrokenProcessPool

    try:
        return pool.submit(work, *arguments)
    except (BrokenProcessPool, OSError) as error:  # OSError: the pool is closing its pipe
        raise OSError(_ENDED) from error


def _result(pool: "ProcessPoolExecutor", future: "Future[R]") -> R:
    from concurrent.futures.process import BrokenProcessPool

    while True:
        try:
            return future.result(timeout=_PATIENCE)
        except BrokenProcessPool as error:
            raise OSError(_ENDED) from error
        except TimeoutError:
            # What was submitted in the moment when the pool broke is never answered; the next
            # submission says so.
            _submitted(pool, os.getpid)


def usable_processes() -> int:
    """As many as this process may use processors."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_work: Work


def _begin(work: Work) -> None:
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that decides
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: "BaseProcess") -> None:
    """End when the process that decides has been killed: nobody else would say so."""
    parent.join()
    os._exit(1)


def _read_packed(task: Task) -> SentRows:
    return SentRows.pack(_work.read(task), packs_texts=_work.packs_texts)


def _sign_packed(documents: Sequence[Document]) -> SentBatch:
    return SentBatch.pack(_work.sign(documents), packs_texts=_work.packs_texts)
