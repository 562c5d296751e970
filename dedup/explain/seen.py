"""Has any of several jobs this page? By its URL, or by its content."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dedup.batch import Batch
from dedup.batch_judge import BatchJudge
from dedup.collection.jobs import sites_of_job
from dedup.collection.sites import rare_lines
from dedup.deduplicator import Deduplicator
from dedup.detectors import STAGES
from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.explain.fate import find_fate
from dedup.explain.replay import config_of
from dedup.names import comparable_name, possible_own_titles
from dedup.store import JobStore
from dedup.urls.parts import host_of

BY_URL = "url"

_FEW = 8
"""So few documents are looked up one by one: to look up many together takes milliseconds more."""

_MAX_COMPARED_CHARACTERS = 16_000_000
"""Characters of all texts compared for one document, as in a crawl."""


class Seen(NamedTuple):
    """A page that a job has.

    Attributes:
        job: as commands take it.
        number: of the page there.
        stage: how it was found: `url`, or the stage that found its content.
        distance, resemblance: see `Match`; None for `url`.
        fetched_at: seconds since 1970.
    """

    job: str
    number: int
    url: str | None
    title: str
    stage: str
    distance: int | None
    resemblance: float | None
    fetched_at: float


def url_in(stores: Sequence[JobStore], url: str) -> Seen | None:
    """The page of a URL in the first job that has fetched it: stored, or dropped as a duplicate.

    Raises:
        ValueError: it is no http(s) URL.
    """
    for store in stores:
        fate = find_fate(store, url)
        if fate.page_url is not None:  # it leads to that page
            fate = find_fate(store, fate.page_url)
        is_page = fate.outcome in ("stored", "duplicate") or fate.original_job is not None
        if is_page and fate.number is not None:
            place = store.job, fate.number, fate.url, fate.title
            return Seen(*place, BY_URL, None, None, fate.seen_at or 0)
    return None


class SeenPages:
    """The pages of a job, loaded to be compared with by content.

    Args:
        store: of the job.
        share: of the memory for indexes that this job may take.
        is_loaded: False: none is loaded yet, see `take`.

    Attributes:
        judge: finds the pages.

    Raises:
        StateError: the job has no pages yet.
    """

    def __init__(self, store: JobStore, *, share: float = 1.0, is_loaded: bool = True) -> None:
        schemes = store.schemes()
        if not schemes:
            raise StateError(store.location, "its crawl has not fetched any page yet", "Ask later")
        config = config_of(schemes, json.loads(store.meta("settings") or "{}"))
        self.store = store
        self.site = sites_of_job(store)
        self.judge = Deduplicator(
            store=store,
            config=replace(config, index_bytes=int(config.index_bytes * share)),
            stages=[stage for stage in STAGES if stage in schemes],
            bodies=store.body,
            rare_on=lambda host: rare_lines(self.site)(host),
            max_characters=_MAX_COMPARED_CHARACTERS,
            known=(range(sys.maxsize),) if is_loaded else (),
        )

    def find(self, document: Document) -> Seen | None:
        """The page that a document duplicates; None: the job has none."""
        return self._seen(self.judge.find(document) or self._find_by_name(document))

    def find_many(self, documents: Sequence[Document]) -> list[Seen | None]:
        """What `find` returns for each document, several times as fast for many of them."""
        if len(documents) < _FEW:
            return list(map(self.find, documents))
        batch = Batch(documents)
        judge = BatchJudge(self.judge.detectors, self.judge.check, batch, keeps=False)
        return [
            self._seen(judge.find(place) or self._find_by_name(document))
            for place, document in enumerate(documents)
        ]

    def _find_by_name(self, document: Document) -> Match | None:
        """Find a short text under its title as a crawl compares it: without the site's part.

        Where the job did not know the site yet, or does not, the whole title must be the page's.
        """
        title = document.title
        if not title or document.own_title is not None or not self.judge.check.is_short(document):
            return None
        site = self.site(host_of(document.url)) if document.url else None
        known = [] if site is None else [site.own_title(title)]
        for name in (*known, *possible_own_titles(title)):
            match = self.judge.find(replace(document, own_title=name), stages=["text"])
            if match is not None:
                whole = self.judge.original(match.original).title
                if name in known or comparable_name(whole) == comparable_name(title):
                    return match
        return None

    def _seen(self, match: Match | None) -> Seen | None:
        if match is None:
            return None
        number, _, url, title, fetched_at = self.store.decisions.earlier.origin(match.original)
        how = match.stage, match.distance, match.resemblance
        return Seen(self.store.job, number, url, title, *how, fetched_at)
