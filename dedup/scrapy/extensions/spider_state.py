"""Extension: keeps a spider's `state` between the runs of a job, as JSON."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.job import job_dir

from dedup.errors import StateError
from dedup.files import read_json, write_atomically
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.internals.refusal import refusing

logger = logging.getLogger(__name__)

STATE_NAME = "spider_state.json"
PICKLE_NAME = "spider.state"
"""Scrapy's own file. It is a pickle, and reading a pickle runs the code in it."""


class SpiderState(Extension):
    """Keeps `spider.state` in `JOBDIR/spider_state.json`, in place of Scrapy's extension.

    A value that JSON cannot hold as it is, such as a set, is not kept; an error names it. A state
    that Scrapy has pickled is neither read nor changed; a warning says so.

    Raises:
        StateError: the file is no JSON object.
    """

    def __init__(self, crawler: Crawler) -> None:
        folder = job_dir(crawler.settings)
        if not folder:
            raise NotConfigured
        super().__init__(crawler)
        self._path = Path(folder, STATE_NAME)
        with refusing():
            self._state = self._read()

    def _read(self) -> dict[str, object]:
        try:
            state = read_json(self._path)
        except FileNotFoundError:
            pickled = self._path.with_name(PICKLE_NAME)
            if pickled.exists():
                logger.warning(
                    "%s is not read: it is a pickle, which may run code. The spider starts with"
                    " an empty state, kept in %s",
                    pickled,
                    STATE_NAME,
                )
            return {}
        if not isinstance(state, dict):
            raise StateError(self._path, f"expected an object, found {state!r:.80}", "Move it")
        return state

    def _spider_opened(self, spider: Spider) -> None:
        vars(spider)["state"] = self._state

    def _spider_closed(self, spider: Spider) -> None:
        state = getattr(spider, "state", {})
        kept = {name: value for name, value in state.items() if _is_json(name, value)}
        if lost := sorted(repr(name) for name in state.keys() - kept.keys()):
            logger.error(
                "These values of spider.state are not JSON-serialisable: %s", ", ".join(lost)
            )
        if kept or self._path.exists():
            write_atomically(self._path, json.dumps(kept))


def _is_json(name: object, value: object) -> bool:
    try:
        return isinstance(name, str) and bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError, RecursionError):
        return False
