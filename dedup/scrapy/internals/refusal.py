"""One sentence in the log where Scrapy would log a traceback: for a crawl that is refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from dedup.errors import StateError


@contextmanager
def refusing() -> Iterator[None]:
    """Have the log say in one sentence why a crawl is refused, instead of a traceback.

    Scrapy does not handle the exception: asyncio or Twisted logs it, and the exit status of the
    command is 1. A script that awaits the crawl gets the exception as any other. With a reactor
    other than asyncio's, Twisted also writes the traceback to standard error.
    """
    try:
        yield
    except (StateError, ValueError) as error:
        for name in ("asyncio", "twisted"):
            logger = logging.getLogger(name)
            logger.addFilter(_OneSentence(error, logger))
        raise


class _OneSentence(logging.Filter):
    """Removes the traceback of one exception from one record of a logger, and then itself.

    It does not hold the exception: Twisted logs it when nothing refers to it any more.
    """

    def __init__(self, error: Exception, logger: logging.Logger) -> None:
        super().__init__()
        self._error = id(error), type(error), str(error)
        self._logger = logger

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if (id(error), type(error), str(error)) == self._error:
            record.msg, record.args = str(error), ()
            record.exc_info = record.exc_text = None
            self._logger.removeFilter(self)
        return True
