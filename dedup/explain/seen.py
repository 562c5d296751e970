"""Has any of several jobs this page? By its URL, or by its content."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from dedup.collection.jobs import sites_of_job
from dedup.collection.layered import LayeredStore
from dedup.collection.sites import rare_lines
from dedup.deduplicator import Deduplicator
from dedup.detectors import STAGES
from dedup.document import Document
from dedup.errors import SchemeError, StateError
from dedup.explain.fate import find_fate
from dedup.explain.replay import config_of
from dedup.sites.site import Site
from dedup.store import JobStore

BY_URL = "url"


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
    """The pages of jobs, loaded to be compared with by content.

    Args:
        stores: of the jobs, which were made with the same settings; the first one that has a page
            is named.

    Raises:
        SchemeError: they were made with different settings.
        StateError: a job has no pages yet.
    """

    def __init__(self, stores: Sequence[JobStore]) -> None:
        self._stores = list(stores)
        self._layers = LayeredStore(stores[:-1], stores[-1])
        schemes = stores[0].schemes()
        for store in stores:
            _check(store, stores[0])
        self._sites = [sites_of_job(store) for store in stores]
        self._judge = Deduplicator(
            store=self._layers,
            config=config_of(schemes, json.loads(stores[0].meta("settings") or "{}")),
            stages=[stage for stage in STAGES if stage in schemes],
            bodies=self._body,
            rare_on=rare_lines(*self._sites),
        )

    def site(self, host: str) -> Site | None:
        """What the first job that knows a host knows of it; None: none does."""
        return next((site for find in self._sites if (site := find(host))), None)

    def find(self, document: Document) -> Seen | None:
        """The page that a document duplicates; None: no job has one."""
        match = self._judge.find(document)
        if match is None:
            return None
        store, number = self._place(match.original)
        number, _, url, title, fetched_at = store.decisions.earlier.origin(number)
        how = match.stage, match.distance, match.resemblance
        return Seen(store.job, number, url, title, *how, fetched_at)

    def _place(self, number: int) -> tuple[JobStore, int]:
        place = self._layers.base_place(number)
        if place is None:
            return self._stores[-1], number - self._layers.offset
        at, number = place
        return self._stores[at], number

    def _body(self, number: int) -> bytes | None:
        store, number = self._place(number)
        return store.body(number)


def _check(store: JobStore, first: JobStore) -> None:
    if not store.schemes():
        raise StateError(store.location, "its crawl has not fetched any page yet", "Ask later")
    try:
        store.check_schemes(first.schemes())
    except SchemeError as error:
        raise SchemeError(error.path, error.problem, "Ask about this job alone") from None
