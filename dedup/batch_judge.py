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
    documents, and among those before in the batch. The indexed ones are compared at once. Documents
    that duplicate one of them do not stay, so later stages look for candidates neither for them nor
    among them. Documents for which an exact stage has candidates are left to it: hardly any of them
    is no copy. Most documents have no candidate, and stay.

    Then, document by document, candidates of the batch that stay are compared. A document that an
    exact stage leaves after all is looked up by itself in the later ones, as are those of which a
    stage says that limits bind (`Proposals.is_open`); for this, what stays is indexed first. So the
    answer is always that of one document after the other.

    Args:
        detectors: of all stages, in their order.
        check: its sketches are kept up to date.
    """

    def __init__(self, detectors: Sequence[Detector], check: SecondCheck, batch: Batch) -> None:
        self._detectors = detectors
        self._check = check
        self._batch = batch
        self._places: list[int] = []
        self._numbers: list[int] = []
        self._n_indexed = [0] * len(detectors)
        self._n_sketched = 0
        self._number_of: dict[int, int] = {}
        self._is_rest_open = check.is_limited  # what was compared before counts
        self._unlike: dict[int, set[int]] = {}
        self._proposals: list[Proposals] = []
        self._matches: list[dict[int, Match]] = []
        self._propose()

    def _propose(self) -> None:
        count = len(self._batch)
        is_asked = np.ones(count, np.bool_)
        is_candidate = np.ones(count, np.bool_)
        is_copy = np.zeros(count, np.bool_)
        has_any = np.zeros(count, np.bool_)
        for detector in self._detectors:
            proposals = detector.propose(self._batch, is_asked, is_candidate)
            matches = self._matched(detector, proposals)
            is_asked[list(matches)] = False
            is_candidate[list(matches)] = False
            is_candidate &= ~proposals.is_copy
            if detector.stage in EXACT_STAGES:
                is_asked &= ~proposals.has_any
            is_copy |= proposals.is_copy
            has_any |= proposals.has_any
            self._proposals.append(proposals)
            self._matches.append(matches)
        self._is_copy: list[bool] = is_copy.tolist()
        self._has_any: list[bool] = has_any.tolist()

    def _matched(self, detector: Detector, proposals: Proposals) -> dict[int, Match]:
        """Of documents, the best of the candidates in the index; each is compared once."""
        found = {}
        documents, unlike = self._batch.documents, self._unlike
        is_exact = detector.stage in EXACT_STAGES
        for place in proposals.indexed.places:
            numbers, distances = proposals.indexed.of(place)
            if place in unlike:
                pairs = zip(numbers, distances, strict=True)
                left = [pair for pair in pairs if pair[0] not in unlike[place]]
                if not left:
                    continue
                numbers, distances = map(list, zip(*left, strict=True))
            match = detector.choose(documents[place], numbers, distances)
            if match is not None:
                found[place] = match
            elif not is_exact:
                unlike.setdefault(place, set()).update(numbers)
        return found

    def find(self, place: int) -> Match | None:
        """The original of a document, after those before it were asked for, and kept."""
        if self._is_rest_open:
            return self._look_up(place, 0)
        if not self._has_any[place]:
            return None
        for stage, proposals in enumerate(self._proposals):
            if proposals.is_open[place]:
                return self._look_up(place, stage)
            if not proposals.has_any[place]:
                continue
            if (match := self._choose(place, stage)) is not None:
                return match
            if self._is_copy[place]:  # its original was dropped; another copy may have stayed
                return self._look_up(place, stage)
            if self._detectors[stage].stage in EXACT_STAGES:
                return self._look_up(place, stage + 1)
        return None

    def _choose(self, place: int, stage: int) -> Match | None:
        """The best of the candidates that a stage proposes, among those that are kept."""
        match = self._matches[stage].get(place)
        numbers, distances = self._proposals[stage].within.of(place)
        known = sorted(
            (self._number_of[-1 - number], distance)
            for number, distance in zip(numbers, distances, strict=True)
            if -1 - number in self._number_of
        )
        if not known or (match is not None and match.resemblance == 1):
            return match
        numbers, distances = map(list, zip(*known, strict=True))
        other = self._detectors[stage].choose(self._batch.documents[place], numbers, distances)
        return match if other is None or _is_nearer(match, other) else other

    def keep(self, place: int, number: int) -> None:
        """Note that a document stays, under a number that is greater than all before."""
        self._places.append(place)
        self._numbers.append(number)
        self._number_of[place] = number
        if self._is_copy[place]:
            self._is_rest_open = True  # it was left out where candidates were looked for

    def finish(self) -> None:
        """Index all that stay."""
        for stage in range(len(self._detectors)):
            self._index(stage)
        self._sketch()

    def _look_up(self, place: int, first_stage: int) -> Match | None:
        """What the detectors find, one after the other, when all that stay are indexed."""
        self._sketch()
        document = self._batch.document(place)
        for stage in range(first_stage, len(self._detectors)):
            self._index(stage)
            match = self._detectors[stage].find(document)
            if match is not None:
                return match
        return None

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


def _is_nearer(first: Match | None, second: Match) -> bool:
    """Is a match with an earlier document at least as near as one with a later one?"""
    return first is not None and (first.resemblance or 0) >= (second.resemblance or 0)
