"""The duplicates of a crawl's pages: its judge, and what it notes besides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.batch_judge import BatchJudge
from dedup.config import DedupConfig
from dedup.deduplicator import Deduplicator
from dedup.detectors.second_check import is_same_text
from dedup.document import Match
from dedup.errors import DamageError
from dedup.keys import differing
from dedup.scrapy.internals.refusal import refusing
from dedup.scrapy.job.baseline import Baseline
from dedup.sites.differing_lines import lines_of_body
from dedup.sites.learner import SiteLearner
from dedup.sites.site import PageText
from dedup.store import JobStore, Page
from dedup.store.records import KEY_STAGE, storable, with_text

_MAX_COMPARED_CHARACTERS = 16_000_000
"""Characters of all texts compared for one page, its own text counted each time: about two seconds.
Pages of 125,000 characters never reach it; pages made to hold a crawl up do."""


_FEW = 32
"""So few pages are looked up one by one: to look up many together takes a millisecond or more."""


class ContentIndex:
    """Finds the stored page that a page duplicates.

    Args:
        learner: knows which lines are rare on a host.
        baseline: the pages of earlier crawls. Outside of this class they have negative numbers.

    Attributes:
        stages: those in use, in the order of their pipelines.
        elsewhere_bytes: size of the indexes of other processes of the job.
        additions: grows whenever a page is added, by this process or by another.
    """

    def __init__(
        self, store: JobStore, config: DedupConfig, learner: SiteLearner, baseline: Baseline
    ) -> None:
        self._store = store
        self._baseline = baseline
        self._offset = baseline.offset
        self._config = config
        self._learner = learner
        self._judge: Deduplicator | None = None
        self._together: _Together | None = None
        self.stages = [KEY_STAGE]
        self.elsewhere_bytes = 0
        self.additions = 0

    @property
    def size_bytes(self) -> int:
        """Size of the detectors' indexes, in memory and in files."""
        return self.elsewhere_bytes + (0 if self._judge is None else self._judge.size_bytes)

    def use(self, stages: Iterable[str]) -> list[str]:
        """Switch the detectors of these stages on; return the stages that were off."""
        found = [stage for stage in stages if stage not in self.stages]
        self.stages.extend(found)
        return found

    def open(self) -> Deduplicator:
        """Load the detectors' index from the store, when all pipelines have joined.

        Raises:
            SchemeError: the store was made with other detectors or settings.
            DamageError: its signatures are none of these detectors'.
        """
        if self._judge is None:
            try:
                with refusing():
                    self._judge = Deduplicator(
                        store=self._baseline.layers,
                        config=self._config,
                        stages=self.stages,
                        bodies=self._baseline.body,
                        rare_on=self._baseline.rare_on(self._learner.known_site),
                        max_characters=_MAX_COMPARED_CHARACTERS,
                        remembers=self._store.workers.is_shared,  # each is judged twice
                        clean=storable,
                    )
            except ValueError as error:
                problem = f"its signatures are damaged ({error})"
                raise DamageError(self._store.location, problem) from error
            self._baseline.end_snapshots()
            self._store.workers.on_signatures(self._take_up)
        return self._judge

    def find(self, page: Page, stages: Collection[str] | None = None) -> Match | None:
        """The original of a page, by the detectors of some stages; None: by all.

        Nothing is found before the index is open.
        """
        if self._judge is None:
            return None
        if self._together is None or page not in self._together.places:
            return self._numbered(self._judge.find(page, stages))
        match = self._numbered(self._together.find(page))
        # The stages are the first ones: if another finds a match, they find none.
        return match if match is None or stages is None or match.stage in stages else None

    def _numbered(self, match: Match | None) -> Match | None:
        """What was found, with the number of the original in its own job."""
        if match is None or not self._offset:
            return match
        return replace(match, original=match.original - self._offset)

    def prepare(self, page: Page) -> None:
        """Compute what is stored of a page, as far as it is not computed yet."""
        self.signatures(page)
        _ = page.packed_text
        if self._store.keep_bodies:
            _ = page.packed_body

    @contextmanager
    def judging(self, pages: Sequence[Page]) -> Iterator[None]:
        """Judge pages together, in this order: `find` and `add` are called for each within."""
        self.open().check.compare_again()  # before, it knew less of hosts that others learn
        if len(pages) < _FEW:
            yield
            return
        self._together = _Together(self.open(), pages)
        try:
            yield
        finally:
            self._together.judge.finish()
            self._together = None

    def is_copy(self, page: Page) -> bool:
        """Is the body that of a stored page?"""
        return self.find(page, ("body",)) is not None

    def add(self, page: Page) -> int:
        """Store a page with its signatures; return its number."""
        self.additions += 1
        if self._together is not None and page in self._together.places:
            return self._together.add(page) - self._offset
        return self.open().add(page) - self._offset

    def add_duplicate(self, page: Page, match: Match) -> None:
        """Record a page that was dropped for one of this job, or of an earlier crawl."""
        self._baseline.add_duplicate(page, match)

    def change(self, number: int, own: PageText) -> None:
        """Replace the text of a stored page by the one read with what is known of its site now."""
        before = self._store.page(number)
        page = with_text(before, own)
        self._store.change_text(number, page)
        number += self._offset
        self.open().original.forget(number)
        if page.text != before.text:  # of which the signatures are made
            self.open().change(number, page)
        self._note_change()

    def add_version(self, number: int, page: Page) -> None:
        """Add the new version of a stored page to the index."""
        self.open().change(number + self._offset, page, is_stored=True)
        self._note_change()

    def url_of(self, number: int) -> str | None:
        """The URL of a stored page, or of one of an earlier crawl."""
        known = self.open().original.kept(number + self._offset)
        if known is not None:
            return known.url
        return self._baseline.layers.label(number + self._offset)[1]

    def signatures(self, page: Page) -> Mapping[str, bytes]:
        """All signatures of a page, by stage."""
        return self.open().signatures(page)

    def note_apart(self, number: int, page: Page) -> bool:
        """Note why a page was kept although its text resembles another page's; False: none does.

        That it resembles one of an earlier crawl is not recorded: a job names its own pages.
        """
        found = self.open().check.told_apart(page)
        if found is None or found.original < self._offset:
            return False
        lines = lines_of_body(page, found.difference.lines)
        self._store.note_apart(number, found.original - self._offset, lines)
        return True

    def differing_fields(self, page: Page) -> list[str]:
        """The fields in which an item differs from the first one of the same text; []: none."""
        number = self.open().keys.first_of_text(page) if page.key else None
        if number is None:
            return []
        first = self.open().original(number)
        if not is_same_text(page, first, with_title=False):
            return []
        return differing(page.key, first.key)

    def was_cut(self, page: Page) -> bool:
        """Was a page that has just been compared not compared with all candidates?"""
        return self.open().check.was_cut(page)

    def _note_change(self) -> None:
        if self._together is not None:
            self._together.judge.is_rest_open = True

    def _take_up(self, stage: str, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Index pages that another process has added, or whose text it has changed."""
        self.open().load(stage, numbers + self._offset, signatures)
        self.additions += 1


class _Together:
    """Pages that are judged together, see `BatchJudge`."""

    def __init__(self, deduplicator: Deduplicator, pages: Sequence[Page]) -> None:
        self.places = {page: place for place, page in enumerate(pages)}
        self._deduplicator = deduplicator
        self._batch = Batch(pages)
        self.judge = BatchJudge(deduplicator.detectors, deduplicator.check, self._batch)

    def find(self, page: Page) -> Match | None:
        match = self.judge.find(self.places[page])
        check = self._deduplicator.check
        if check.was_cut(page):  # by the order of comparison, which is another one for a batch
            check.compare_again()
            match = self.judge.look_up(self.places[page])
        return match

    def add(self, page: Page) -> int:
        return self._deduplicator.add_of_batch(self.judge, self._batch, self.places[page])
