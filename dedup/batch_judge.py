"""Judging a batch: what its documents duplicate, as if they had come one after the other."""

from collections.abc import Sequence

import numpy as np

from dedup.batch import Batch
from dedup.detectors import EXACT_STAGES, Detector, SecondCheck
from dedup.detectors.proposals import Proposals
from dedup.document import Match


class BatchJudge:
    """Finds the originals of a batch's documents, which are asked for in their order.

    First each stage proposes candidates for the whole batch, by array operations: among the indexed
    documents, and among those before in the batch. Documents for which an exact stage has some are
    left to it: hardly any of them is no copy. Most documents have no candidate, and stay.

    Then, document by document, candidates are compared: those in the index, and those of the batch
    that stay. A document that an exact stage leaves after all is looked up by itself in the later
    ones, as are those of which a stage says that limits bind (`Proposals.is_open`); for this, what
    stays is indexed first. So the answer is always that of one document after the other.

    Args:
        detectors: of all stages, in their order.
        check: its sketches are kept up to date.
        keeps: may documents stay? If not, only what is indexed is looked at.

    Attributes:
        is_rest_open: is each further document looked up by itself? Set it when an indexed document
            has changed.
    """

    def __init__(
        self,
        detectors: Sequence[Detector],
        check: SecondCheck,
        batch: Batch,
        *,
        keeps: bool = True,
    ) -> None:
        self._detectors = detectors
        self._check = check
        self._batch = batch
        self._keeps = keeps
        self._places: list[int] = []
        self._numbers: list[int] = []
        self._n_indexed = [0] * len(detectors)
        self._n_sketched = 0
        self._number_of: dict[int, int] = {}
        self.is_rest_open = False
        self._is_copy: list[bool] = []
        self._has_any: list[bool] = []
        self._proposals = self._proposed()

    def _proposed(self) -> list[Proposals]:
        count = len(self._batch)
        is_asked = np.ones(count, np.bool_)
        is_copy, has_any = np.zeros((2, count), np.bool_)
        found = []
        for detector in self._detectors:
            proposals = detector.propose(self._batch, is_asked, ~is_copy & self._keeps)
            is_copy |= proposals.is_copy
            if detector.stage in EXACT_STAGES:
                is_asked &= ~proposals.has_any
            has_any |= proposals.has_any
            found.append(proposals)
        self._is_copy, self._has_any = is_copy.tolist(), has_any.tolist()
        return found

    def find(self, place: int) -> Match | None:
        """The original of a document, after those before it were asked for, and kept."""
        if self.is_rest_open:
            return self.look_up(place)
        if not self._has_any[place]:
            return None
        for stage, proposals in enumerate(self._proposals):
            if proposals.are_open[place]:
                return self.look_up(place, stage)
            numbers, distances = proposals.of(place)
            if not numbers:
                continue
            if (match := self._choose(place, stage, numbers, distances)) is not None:
                return match
            if self._is_copy[place]:  # its original was dropped; another copy may have stayed
                return self.look_up(place, stage)
            if self._detectors[stage].stage in EXACT_STAGES:
                return self.look_up(place, stage + 1)
        return None

    def look_up(self, place: int, first_stage: int = 0) -> Match | None:
        """What the detectors find, one after the other, when all that stay are indexed."""
        self._sketch()
        document = self._batch.document(place)
        for stage in range(first_stage, len(self._detectors)):
            self._index(stage)
            match = self._detectors[stage].find(document)
            if match is not None:
                return match
        return None

    def _choose(
        self, place: int, stage: int, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        """The best of the candidates that a stage proposes, among those that are kept."""
        known = [
            (number if number >= 0 else self._number_of[-1 - number], distance)
            for number, distance in zip(numbers, distances, strict=True)
            if number >= 0 or -1 - number in self._number_of
        ]
        if not known:
            return None
        known.sort()
        document = self._batch.documents[place]
        return self._detectors[stage].choose(document, *zip(*known, strict=True))

    def keep(self, place: int, number: int) -> None:
        """Note that a document stays, under a number that is greater than all before."""
        self._places.append(place)
        self._numbers.append(number)
        self._number_of[place] = number
        if self._is_copy[place]:
            self.is_rest_open = True  # it was left out where candidates were looked for

    def finish(self) -> None:
        """Index all that stay."""
        for stage in range(len(self._detectors)):
            self._index(stage)
        self._sketch()

    def _index(self, stage: int) -> None:
        new = slice(self._n_indexed[stage], None)
        if self._places[new]:
            places = np.array(self._places[new], np.intp)
            numbers = np.array(self._numbers[new], np.int64)
            self._detectors[stage].add_many(self._batch, places, numbers)
            self._n_indexed[stage] = len(self._places)

    def _sketch(self) -> None:
        new = slice(self._n_sketched, None)
        if self._places[new]:
            places = np.array(self._places[new], np.intp)
            self._check.sketch_many(self._batch, places, np.array(self._numbers[new], np.int64))
            self._n_sketched = len(self._places)
