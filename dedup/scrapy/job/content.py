"""The detectors of a crawl, their index, and the originals with which they compare pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.config import DedupConfig
from dedup.deduplicator import Deduplicator, OriginalsCache
from dedup.detectors import Detector, SecondCheck, default_detectors
from dedup.detectors.key import KeyRecord
from dedup.detectors.second_check import is_same_text
from dedup.document import Document, Match
from dedup.errors import DamageError
from dedup.keys import differing
from dedup.scrapy.internals.refusal import refusing
from dedup.sites.learner import SiteLearner
from dedup.sites.site import PageText
from dedup.sites.telling import lines_of_body
from dedup.store import JobStore, Page
from dedup.store.records import as_kept, storable, with_text

_MAX_COMPARED_CHARACTERS = 16_000_000
"""Characters of all texts compared for one page, its own text counted each time: about two seconds.
Pages of 125,000 characters never reach it; pages made to hold a crawl up do."""


class ContentIndex:
    """Finds the stored page that a page duplicates.

    Args:
        learner: knows which lines are rare on a host.

    Attributes:
        detectors: those in use, in the order of their pipelines.
        additions: grows whenever a page is added, by this process or by another.
    """

    def __init__(self, store: JobStore, config: DedupConfig, learner: SiteLearner) -> None:
        self._store = store
        self._keys = KeyRecord()
        self._originals = OriginalsCache(store.document, size_bytes=config.cache_bytes)
        self._check = SecondCheck.of(
            self._originals,
            config,
            rare_on=learner.rare_on,
            max_characters=_MAX_COMPARED_CHARACTERS,
        )
        cascade = default_detectors(self._originals, config, check=self._check, bodies=store.body)
        self._cascade = {detector.stage: detector for detector in cascade}
        self.detectors: list[Detector] = [self._keys]
        self._deduplicator: Deduplicator | None = None
        self.additions = 0

    @property
    def size_bytes(self) -> int:
        """Memory held by the detectors."""
        return sum(detector.size_bytes for detector in self.detectors)

    def use(self, stages: Iterable[str]) -> list[Detector]:
        """Switch the detectors of these stages on; return those that were off."""
        detectors = [
            self._cascade[stage] for stage in stages if self._cascade[stage] not in self.detectors
        ]
        self.detectors.extend(detectors)
        return detectors

    def open(self) -> Deduplicator:
        """Load the detectors' index from the store, when all detectors are known.

        Raises:
            SchemeError: the store was made with other detectors or settings.
            DamageError: its signatures are none of these detectors'.
        """
        if self._deduplicator is None:
            try:
                with refusing():
                    self._deduplicator = Deduplicator(self.detectors, store=self._store)
            except ValueError as error:
                problem = f"its signatures are damaged ({error})"
                raise DamageError(self._store.location, problem) from error
            self._store.workers.on_signatures(self._take_up)
        return self._deduplicator

    def add(self, page: Page) -> int:
        """Store a page with its signatures; return its number."""
        number = self.open().add(page)
        self.additions += 1
        self._originals.keep(number, _as_fetched(page, number))
        return number

    def change(self, number: int, own: PageText) -> None:
        """Replace the text of a stored page by the one read with what is known of its site now."""
        before = self._store.page(number)
        page = with_text(before, own)
        self._store.change_text(number, page)
        self._originals.forget(number)
        if page.text != before.text:  # of which the signatures are made
            self.open().change(number, page)

    def add_version(self, number: int, page: Page) -> None:
        """Add the new version of a stored page to the index."""
        for detector in self.detectors:
            detector.add(page, number)
        self._originals.forget(number)

    def signatures(self, page: Page) -> dict[str, bytes]:
        """All signatures of a page, by stage."""
        found = {detector.stage: detector.signature(page) for detector in self.detectors}
        return {stage: value for stage, value in found.items() if value is not None}

    def note_apart(self, number: int, page: Page) -> bool:
        """Note why a page was kept although its text resembles another page's; False: none does."""
        found = self._check.told_apart(page)
        if found is None:
            return False
        lines = lines_of_body(page, found.difference.lines)
        self._store.note_apart(number, found.original, lines)
        return True

    def differing_fields(self, page: Page) -> list[str]:
        """The fields in which an item differs from the first one of the same text; []: none."""
        number = self._keys.first_of_text(page) if page.key else None
        if number is None:
            return []
        first = self._originals(number)
        if not is_same_text(page, first, with_title=False):
            return []
        return differing(page.key, first.key)

    def was_cut(self, page: Page) -> bool:
        """Was a page that has just been compared not compared with all candidates?"""
        return self._check.was_cut(page)

    def is_copy(self, page: Page) -> bool:
        """Is the body that of a stored page?"""
        return any(each.stage == "body" and each.find(page) for each in self.detectors)

    def _take_up(self, stage: str, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Index pages that another process has added, or whose text it has changed."""
        for detector in self.detectors:
            if detector.stage == stage:
                detector.load(numbers, signatures)
        for number in numbers.tolist():
            self._originals.forget(number)
        self.additions += 1


def first_match(detectors: Sequence[Detector], page: Page) -> Match | None:
    """The match of the first detector that has one."""
    found = (detector.find(page) for detector in detectors)
    return next((match for match in found if match is not None), None)


def _as_fetched(page: Page, number: int) -> Document:
    """The page as detectors get it from the store, with its shingles if they were needed."""
    document = as_kept(page, number, storable)
    document.take(shingles=page.known_shingles)
    return document
