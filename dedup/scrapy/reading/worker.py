"""The process that reads pages: `python -m dedup.scrapy.reading.worker`; it loads no Scrapy.

Takes from standard input, and writes to standard output, pickles after their length in 8 bytes:
first what is `Wanted`, answered by one byte when all is ready; then for each `Question` its
`Content`, or `Unread` with what went wrong, in their order.

A page that takes more CPU seconds than `Wanted` allows ends the process with SIGPROF, in whatever
library it is; memory beyond the bound is refused to it. Both hold for pages that no parser was
tested with.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from typing import Any, BinaryIO, NamedTuple

from dedup.scrapy.reading.page import (
    Content,
    ContentReader,
    RawPage,
    TooComplexError,
    Unread,
    Wanted,
)
from dedup.templates.site import Site
from dedup.templates.template import Template

LENGTH_BYTES = 8

_GC_THRESHOLDS = 20_000, 50, 50
"""A page is thousands of small objects without circles, gone when it is answered."""


class Question(NamedTuple):
    """A page to be read.

    Attributes:
        host: whose templates count; None: nothing is to be learned of the page.
        templates: those of the host; None: they are as they were told before.
        is_first: forget what was told before.
        cpu_seconds: that are left for the page; None: all that are allowed.
    """

    raw: RawPage
    host: str | None = None
    templates: tuple[Template, ...] | None = None
    is_first: bool = False
    cpu_seconds: float | None = None


def packed(value: object) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the other side closes, or is gone. Bounds memory and time of this process."""
    if (wanted := _next(questions)) is None:
        return
    _bound_memory(wanted)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    reader = ContentReader(wanted)
    answers.write(b"!")
    answers.flush()
    gc.freeze()  # what has been imported stays
    gc.set_threshold(*_GC_THRESHOLDS)
    sites: dict[str | None, Site] = {}
    while (question := _next(questions)) is not None:
        signal.setitimer(signal.ITIMER_PROF, question.cpu_seconds or wanted.cpu_seconds)
        answer = packed(_answer(reader, question, sites))
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(answer)
        answers.flush()


def _bound_memory(wanted: Wanted) -> None:
    import resource  # not on Windows, which has no such process either

    size_bytes = wanted.memory_mb << 20
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        size_bytes = min(size_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, hard))


def _next(questions: BinaryIO) -> Any:
    """The next question; None: there is no more, or only a part of it."""
    length = int.from_bytes(questions.read(LENGTH_BYTES), "big")
    data = questions.read(length)
    return pickle.loads(data) if 0 < length == len(data) else None  # noqa: S301 -- the crawl's


def _answer(
    reader: ContentReader, question: Question, sites: dict[str | None, Site]
) -> Content | Unread:
    if question.is_first:
        sites.clear()
    if question.templates is not None:
        sites[question.host] = Site(question.templates)
    try:
        return reader.read(question.raw, sites.get(question.host))
    except TooComplexError as error:
        return Unread("too_complex", str(error))
    except MemoryError:
        return Unread("too_complex", "takes more memory than DEDUP_READ_MEMORY_MB allows")
    except Exception as error:  # noqa: BLE001 -- of one page
        return Unread("parse_error", f"{type(error).__name__}: {error}")


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:  # the crawl was killed
        os._exit(1)  # without another try to write what is left


if __name__ == "__main__":
    main()
