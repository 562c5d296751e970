"""The process that reads pages: `python -m dedup.scrapy.reading.worker`; it does not load Scrapy.

It reads pickles from standard input and writes pickles to standard output, each after its length
in 8 bytes. The first is a `Wanted`, which it answers by one byte when it is ready. Each further one
is a `Question`, which it answers, in the same order, by a `Content`, a `Sitemap` or the like, or
by an `Unread` if the page cannot be read.

If a page takes more CPU time than `Wanted` allows, the system ends the process with SIGPROF,
whatever library it is in; the system also bounds its memory. So the bounds hold for every page.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import sys
from contextlib import suppress
from traceback import format_exception
from typing import BinaryIO

from dedup.documents.document import DocumentError
from dedup.scrapy.reading.content import (
    ContentReader,
    TooComplexError,
    Unread,
    Wanted,
)
from dedup.scrapy.reading.search_index import RawSearchIndex, read_search_index
from dedup.scrapy.reading.sitemap_file import RawSitemap, SitemapError, read_sitemap
from dedup.scrapy.reading.worker_protocol import (
    LENGTH_BYTES,
    Found,
    Question,
    RawFields,
    packed,
    read_fields,
)
from dedup.sites.site import Site

_GC_THRESHOLDS = 20_000, 50, 50
"""A page is thousands of small objects without reference cycles, freed after the answer."""

_LARGE_BYTES = 200_000
"""After a page of more, the memory that its reading took goes back to the system."""


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer questions until there are no more; bound the memory and CPU time of this process."""
    wanted = _next(questions)
    if not isinstance(wanted, Wanted):
        return
    _bound_memory(wanted)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    reader = ContentReader(wanted)
    answers.write(b"!")
    answers.flush()
    gc.freeze()  # modules are never freed
    gc.set_threshold(*_GC_THRESHOLDS)
    sites: dict[str | None, Site] = {}
    while isinstance(question := _next(questions), Question):
        signal.setitimer(signal.ITIMER_PROF, question.cpu_seconds or wanted.cpu_seconds)
        answer = packed(_answer(reader, question, sites))
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(answer)
        answers.flush()
        if len(question.raw.body) > _LARGE_BYTES:
            _give_memory_back()


def _give_memory_back() -> None:
    with suppress(AttributeError, OSError, TypeError):  # other C libraries do so, or cannot
        ctypes.CDLL(None).malloc_trim(0)


def _bound_memory(wanted: Wanted) -> None:
    import resource  # Windows has neither this nor SIGPROF

    size_bytes = wanted.memory_mb << 20
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        size_bytes = min(size_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, hard))


def _next(questions: BinaryIO) -> object:
    """The next value; None: there are no more, or only a part of one."""
    length = int.from_bytes(questions.read(LENGTH_BYTES), "big")
    data = questions.read(length)
    return pickle.loads(data) if 0 < length == len(data) else None  # noqa: S301 -- the crawl's


def _answer(
    reader: ContentReader, question: Question, sites: dict[str | None, Site]
) -> Found | Unread:
    if question.is_first:
        sites.clear()
    if question.site is not None:
        sites[question.host] = question.site
    try:
        if isinstance(question.raw, RawSitemap):
            return read_sitemap(question.raw.body)
        if isinstance(question.raw, RawSearchIndex):
            return read_search_index(question.raw.body, question.raw.url)
        if isinstance(question.raw, RawFields):
            return read_fields(question.raw)
        return reader.read(question.raw, sites.get(question.host))
    except TooComplexError as error:
        return Unread("too_complex", str(error))
    except DocumentError as error:
        return Unread(error.reason, str(error))
    except SitemapError as error:
        return Unread("sitemap_error", str(error))
    except MemoryError:
        return Unread("too_complex", "needs more memory than DEDUP_READ_MEMORY_MB allows")
    except Exception as error:  # noqa: BLE001 -- it concerns one page
        traceback = "".join(format_exception(error))
        return Unread("parse_error", f"{type(error).__name__}: {error}", traceback)


def run_worker() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write among the answers
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:  # the crawl was killed
        os._exit(1)  # without another attempt to write the rest


if __name__ == "__main__":
    run_worker()
