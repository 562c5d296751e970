"""The jobs of earlier crawls, whose pages a crawl does not store again. They are only read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from dedup.collection.jobs import sites_of_job
from dedup.collection.layered import LayeredStore
from dedup.collection.sites import rare_lines
from dedup.detectors.second_check import RareOn
from dedup.document import Match
from dedup.errors import SchemeError, StateError
from dedup.sites.site import Site
from dedup.sites.state import SiteState, read_state
from dedup.store import JobStore, Page, open_store, store_path
from dedup.store.interface import Schemes
from dedup.store.postgresql import is_address, without_password

_EXTRACTOR = "DEDUP_TEXT_EXTRACTOR"
_REMEDY = "Crawl with the settings of that job, or leave it out of DEDUP_BASELINE"


class Baseline:
    """The pages of earlier crawls, numbered before those of the job.

    Args:
        own: the job's store.
        jobs: those of earlier crawls, as users name them; there may be none.
        stores: theirs.

    Attributes:
        layers: the documents of all.
        offset: the number in `layers` of a page of the job is its own number plus this.
    """

    def __init__(self, own: JobStore, jobs: Sequence[str], stores: Sequence[JobStore]) -> None:
        self.layers = LayeredStore(stores, own)
        self.offset = self.layers.offset
        self._own = own
        self._jobs = [without_password(job) for job in jobs]
        self._stores = list(stores)

    def rare_on(self, known: Callable[[str], Site | None]) -> RareOn:
        """The test for lines that are rare on a host: in each crawl that knows it.

        Args:
            known: what this crawl knows of a host.
        """
        return rare_lines(known, *map(sites_of_job, self._stores))

    def learned(self, host: str) -> Iterator[SiteState]:
        """What each of the earlier crawls has learned of a host."""
        for store in self._stores:
            yield read_state(host, store.learned.site(host))

    def body(self, number: int) -> bytes | None:
        """The body of a page in `layers`; None: it was not kept."""
        place = self.layers.base_place(number)
        if place is None:
            return self._own.body(number - self.offset)
        at, number = place
        return self._stores[at].body(number)

    def add_duplicate(self, page: Page, match: Match) -> None:
        """Record a page that was dropped for one in `layers`, whose number is less by `offset`."""
        place = self.layers.base_place(match.original + self.offset)
        if place is None:
            self._own.add_duplicate(page, match)
        else:
            at, number = place
            origin = self._stores[at].decisions.earlier.origin(number)
            self._own.decisions.earlier.add(page, match, self._jobs[at], origin)

    def on_error(self, call: Callable[[StateError], object]) -> None:
        """Have `call` called with each error of an earlier job before it is raised."""
        for store in self._stores:
            store.on_error(call)

    def end_snapshots(self) -> None:
        """Let jobs that go on discard what they have replaced, once their pages are indexed."""
        for store in self._stores:
            store.database.end_snapshot()

    def close(self) -> None:
        """Close the earlier jobs. A second call does nothing."""
        while self._stores:
            with suppress(StateError):
                self._stores.pop().close()


def open_baseline(
    own: JobStore, jobs: Sequence[str], schemes: Schemes, *, extractor: str
) -> Baseline:
    """Open the jobs of earlier crawls.

    Args:
        own: the job's store.
        jobs: the folders, files or addresses of the others.
        schemes: of the detectors in use.
        extractor: what takes texts from pages.

    Raises:
        StateError: one of them cannot be used.
        SchemeError: one of them was made with other settings.
        ValueError: one is named twice, or is the job itself.
    """
    places = [_place(each) for each in (own.job, *jobs)]
    if len(set(places)) < len(places):
        named = ",".join(map(without_password, jobs))
        raise ValueError(
            f"DEDUP_BASELINE must name each job once, and not that of the crawl, got {named!r}"
        )
    stores: list[JobStore] = []
    try:
        for job in jobs:
            stores.append(open_store(job, read_only=True))
            _check(stores[-1], schemes, extractor)
        return Baseline(own, jobs, stores)
    except BaseException:
        _close(stores)
        raise


def _place(job: str) -> str:
    return job if is_address(job) else str(store_path(job).resolve())


def _check(store: JobStore, schemes: Schemes, extractor: str) -> None:
    if not store.schemes():
        raise StateError(store.location, "its crawl has not fetched any page yet", _REMEDY)
    try:
        store.check_schemes(schemes)
    except SchemeError as error:
        raise SchemeError(error.path, error.problem, _REMEDY) from None
    made = store.schemes(of="verdicts").get("setting", {}).get(_EXTRACTOR, extractor)
    if made != extractor:
        problem = f"made with different settings: {_EXTRACTOR} {made!r}, now {extractor!r}"
        raise SchemeError(store.location, problem, _REMEDY)


def _close(stores: Iterable[JobStore]) -> None:
    for store in stores:
        store.close()
