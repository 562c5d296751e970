"""Twisted's reactor: its timers, its resolver, and calling a function repeatedly."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, cast

from twisted.internet.base import ReactorBase

_KILLED = 130
"""Exit status of a process that Ctrl-C has ended."""


class Timer(Protocol):
    """Calls a function repeatedly until it is stopped."""

    def start(self, interval: float, now: bool = True) -> object: ...

    def stop(self) -> None: ...


class _DaemonThread(threading.Thread):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, daemon=True)


def call_every(seconds: float, function: Callable[[], None]) -> Timer:
    """Call `function` every `seconds`, the first time after `seconds`, until the timer is stopped.

    It works with and without a Twisted reactor.
    """
    timer: Timer
    try:
        from scrapy.utils.asyncio import create_looping_call  # since Scrapy 2.14
    except ImportError:
        from twisted.internet.task import LoopingCall

        timer = LoopingCall(function)
    else:
        timer = create_looping_call(function)
    timer.start(seconds, now=False)
    return timer


def call_later(seconds: float, function: Callable[[], None]) -> None:
    """Call `function` once, after `seconds`; 0: in the next round of the event loop."""
    try:
        from scrapy.utils.asyncio import call_later as later  # since Scrapy 2.14
    except ImportError:
        from twisted.internet import reactor

        cast("ReactorBase", reactor).callLater(seconds, function)
    else:
        later(seconds, function)


def installed_reactor() -> ReactorBase | None:
    """Twisted's reactor, if one is installed; asking for it installs none."""
    return cast("ReactorBase | None", sys.modules.get("twisted.internet.reactor"))


def leave_name_servers_unanswered() -> None:
    """Let the process end while a name server has not answered.

    Names are looked up in threads, for which the reactor and the interpreter wait at the end; a
    name server that is silent holds each for half a minute or longer. To be called while the
    reactor runs. What else is done in threads, as storing feeds, is done before a crawl has ended.
    """
    reactor = installed_reactor()
    if reactor is not None:
        pool = reactor.getThreadPool()
        pool.threadFactory = _DaemonThread
        reactor.addSystemEventTrigger("before", "shutdown", pool.threads.clear)


def end_when_killed(process: Any, seconds: float) -> None:
    """Let the second Ctrl-C end this process after `seconds`, even if it waits for something.

    Scrapy then stops the reactor, which does not happen while a database does not answer.

    Args:
        process: `CrawlerProcess`, before it is started.
        seconds: for an end in order.
    """
    kill = process._signal_kill

    def signal_kill(*arguments: object) -> None:
        timer = threading.Timer(seconds, os._exit, (_KILLED,))
        timer.daemon = True
        timer.start()
        kill(*arguments)

    process._signal_kill = signal_kill


def use_monotonic_timers() -> None:
    """Let Twisted's timers follow the monotonic clock, unless a timer already waits.

    By default they follow the time of day (`twisted.python.runtime.seconds`): when that is set back
    by an hour, for example by a time server, each retry, delay and timeout waits an hour longer.
    Scrapy 2.13 computes the delays between requests by the time of day in any case.
    """
    reactor = installed_reactor()
    if reactor is None or not reactor.getDelayedCalls():
        ReactorBase.seconds = staticmethod(time.monotonic)
