"""Timers that do not wait when the machine's clock is set back."""

from __future__ import annotations

import sys
import time
from typing import Any

from twisted.internet.base import ReactorBase


def use_monotonic_timers() -> None:
    """Let Twisted's timers follow the monotonic clock, if none is waiting yet.

    By default they follow the clock of the day (`twisted.python.runtime.seconds`): once it is set
    back by an hour, as by a time server, each retry, delay and timeout waits an hour longer. Scrapy
    2.13 keeps the delays between requests by the clock of the day even so.
    """
    reactor: Any = sys.modules.get("twisted.internet.reactor")
    if reactor is None or not reactor.getDelayedCalls():
        ReactorBase.seconds = staticmethod(time.monotonic)
