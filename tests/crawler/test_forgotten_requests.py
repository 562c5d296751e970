"""A spider that is closing waits for no request, and those that end after all are no error."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scrapy import Request

from dedup.scrapy.internals.engine import forget_requests


def test_a_forgotten_request_may_end() -> None:
    request = Request("http://a.example/")
    slot = SimpleNamespace(inprogress={request})
    crawler: Any = SimpleNamespace(engine=SimpleNamespace(_slot=slot))
    forget_requests(crawler)
    assert not slot.inprogress
    slot.inprogress.remove(request)  # as the engine does, which would log a KeyError
