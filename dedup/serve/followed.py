"""A job that is asked for its pages, and may be written by a crawl meanwhile."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh32_intdigest

from dedup.collection.jobs import sites_of_job
from dedup.explain.fate import canonicaliser_of, key_under
from dedup.explain.seen import BY_URL, Seen, SeenPages
from dedup.html.main_text import DEFAULT_EXTRACTOR
from dedup.index.multimap import Multimap
from dedup.store import open_store
from dedup.store.query_results import Outcome
from dedup.store.records import DONE
from dedup.urls import url_key

_REST = 10
"""So many times as long as a step of looking for changed pages took, none is made."""

_URLS_AT_ONCE = 50_000
_OUTCOMES: tuple[Outcome, ...] = ("stored", "duplicate", "skipped")


class FollowedJob:
    """The pages of a job, by content and by URL, as it is now.

    New pages are indexed whenever `follow` is called. A crawl also changes the texts of earlier
    pages, as it learns what a site repeats, and in a refresh. No row tells which; so while the job
    is written, all signatures are compared, step by step, with a hash of what was indexed.

    Args:
        job: as commands take it.
        share: of the memory for indexes that it may take.

    Raises:
        StateError: it cannot be read, or has no pages yet; from any method.
    """

    def __init__(self, job: str | Path, *, share: float = 1.0) -> None:
        self._store = open_store(job, read_only=True)
        try:
            self.pages = SeenPages(self._store, share=share, is_loaded=False)
            self._stages = [detector.stage for detector in self.pages.judge.detectors]
            self._hashes = defaultdict[str, NDArray[np.uint32]](lambda: np.zeros(1024, np.uint32))
            self._last = dict.fromkeys(self._stages, -1)
            self._canonical = canonicaliser_of(self._store)
            self._urls, self._last_url = Multimap(), -1
            self._version = self._store.database.version()
            self._take_new()
            self._store.database.end_snapshot()
        except BaseException:
            self.close()
            raise
        self._steps = self._changed()
        self._stages_left, self._next_step = 0, 0.0

    @property
    def extractor(self) -> str:
        """What took the texts of its pages, see `extract_text`."""
        made = self._store.schemes(of="verdicts").get("setting", {})
        return str(made.get("DEDUP_TEXT_EXTRACTOR", DEFAULT_EXTRACTOR))

    @property
    def name(self) -> str:
        return self._store.job

    def close(self) -> None:
        self._store.close()

    def follow(self) -> bool:
        """Take up what was written since the last call; False: it is another job now."""
        version = self._store.database.version()
        if version != self._version:
            if isinstance(version, tuple) and version[1:] != self._version[1:]:  # type: ignore[index]
                return False
            self._version = version
            self.pages.site = sites_of_job(self._store)
            self.pages.judge.original.clear()
            self._stages_left = 1 + len(self._stages)
            self._take_new()
        if self._stages_left and monotonic() >= self._next_step:
            began = monotonic()
            self._stages_left -= next(self._steps)
            self._next_step = monotonic() + _REST * (monotonic() - began)
        return True

    def find_url(self, url: str) -> Seen | None:
        """The page of a URL, in any form that is equal under the job's rules.

        Raises:
            ValueError: it is no http(s) URL.
        """
        key = url_key(self._canonical(url))
        found = self._by_key(key)
        if found is None:
            known = self._store.urls.find(key)
            names = [url, self._canonical(url)]
            if known is not None and known.state == DONE:
                names.append(known.url)
            for page_url in self._store.explain.pages_of_aliases(names):
                other = key_under(self._canonical, page_url)
                found = found or (None if other is None else self._by_key(other))
        return found

    def _by_key(self, key: bytes) -> Seen | None:
        numbers, _ = self._urls.find(_short(key))
        for number in reversed(numbers.tolist()):
            for outcome in _OUTCOMES:
                with suppress(KeyError):  # it is of another outcome, or has gone
                    about = self._store.explain.details(outcome, number)
                    if key_under(self._canonical, about["url"] or "") == key:
                        place = self._store.job, number, about["url"], about.get("title", "")
                        return Seen(*place, BY_URL, None, None, about["seen_at"])
        return None

    def _take_new(self) -> None:
        for stage in self._stages:
            for numbers, signatures in self._store.signatures(stage, after=self._last[stage]):
                self._take(stage, numbers, signatures)
                self._last[stage] = int(numbers[-1])
        found: list[int] = []
        keys: list[np.uint32] = []
        for number, url in self._store.explain.urls(after=self._last_url):
            if (key := key_under(self._canonical, url)) is not None:
                found.append(number)
                keys.append(_short(key)[0])
            self._last_url = number
        for start in range(0, len(found), _URLS_AT_ONCE):
            part = slice(start, start + _URLS_AT_ONCE)
            self._urls.add_many(np.array(keys[part]), np.array(found[part]))

    def _changed(self) -> Iterator[int]:
        """Take up changed signatures, a batch a step; yields 1 with the last one of a stage."""
        for stage in cycle(self._stages):
            last = -1
            while (batch := next(self._store.signatures(stage, after=last), None)) is not None:
                self._take(stage, *batch)
                last = int(batch[0][-1])
                yield 0
            yield 1

    def _take(self, stage: str, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Index the signatures that differ from what is indexed."""
        known = self._hashes[stage]
        if numbers[-1] >= len(known):
            known = np.resize(known, 2 * int(numbers[-1]))
            known[len(self._hashes[stage]) :] = 0
            self._hashes[stage] = known
        hashes = np.fromiter(map(xxh32_intdigest, signatures), np.uint32, len(signatures)) | 1
        (places,) = np.nonzero(known[numbers] != hashes)
        if len(places):
            given = [signatures[place] for place in places.tolist()]
            self.pages.judge.load(stage, numbers[places], given)
            known[numbers] = hashes


def _short(key: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(key[:4], np.uint32)
