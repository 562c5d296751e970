"""Calling a function again and again while a crawl runs, with and without a Twisted reactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast


def repeat(function: Callable[[], None], seconds: float) -> Any:
    """Call `function` every `seconds`, first after that time; the result has `stop()`."""
    task: Any
    try:
        from scrapy.utils.asyncio import create_looping_call  # Scrapy 2.14
    except ImportError:
        from twisted.internet.task import LoopingCall

        task = LoopingCall(function)
    else:
        task = create_looping_call(function)
    task.start(seconds, now=False)
    return task


def call_later(seconds: float, function: Callable[[], None]) -> None:
    """Call `function` once, after `seconds`; 0: in the event loop's next round."""
    try:
        from scrapy.utils.asyncio import call_later as later  # Scrapy 2.14
    except ImportError:
        from twisted.internet import reactor

        cast("Any", reactor).callLater(seconds, function)
    else:
        later(seconds, function)
