"""Deciding about documents, with a store that is new or goes on from an interrupted run."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.collection.layered import CollectionStore, LayeredStore
from dedup.collection.names import Names
from dedup.collection.rules import Rules
from dedup.deduplicator import Deduplicator, OriginalsCache
from dedup.detectors.second_check import RareOn, of_no_host
from dedup.detectors.sketches import Sketches, SketchSigner
from dedup.document import Document, Match
from dedup.store.interface import Store
from dedup.store.records import as_kept
from dedup.store.results import RecordRow
from dedup.store.sql.decisions import KNOWN
from dedup.store.sql.store import JobStore

_RECORDS_AT_ONCE = 10_000


class Decider:
    """Asks the cascade, and keeps what stays.

    Args:
        rules: the cascade's.
        own: where documents are kept; a job's store may hold some already.
        base: a store whose documents they are compared with, too.
        base_groups: where `rules.within` names a column, of each group the numbers that its
            documents have in `base`.
        rare_on: see `SecondCheck`.

    Raises:
        SchemeError: the store's signatures were made by other rules.
    """

    def __init__(
        self,
        rules: Rules,
        own: CollectionStore,
        base: JobStore | None = None,
        base_groups: Mapping[str, range] | None = None,
        *,
        rare_on: RareOn = of_no_host,
    ) -> None:
        self._rules = rules
        self._rare_on = rare_on
        self._base_groups = base_groups or {}
        self._decisions = own.decisions
        self._store: CollectionStore | LayeredStore = own
        self._offset = 0
        if base is not None:
            self._store = LayeredStore(base, own)
            self._offset = self._store.offset
        self._cache = OriginalsCache(self._store.document, size_bytes=rules.config.cache_bytes)
        self._sketches = Sketches()
        self._signer = SketchSigner()
        self._least_sketched = rules.config.short_shingles
        self._names = Names()
        self._limit_reached = 0
        self.done = self._decisions.count()
        """Documents that were judged before, by a run that was interrupted."""
        self._recorded = self._records()
        self._group_starts: dict[str, int] = {}
        known = (range(sys.maxsize),) if rules.within is None else ()
        self._deduplicator = self._new(known)

    def decide(
        self, documents: Sequence[tuple[Document, Any]], *, are_kinds: bool = False
    ) -> list[Match | None]:
        """Judge documents that have their signatures; each comes with its id, or the id's kind."""
        verdicts = self._deduplicator.process_many([document for document, _ in documents])
        found: list[Match | None] = []
        for (document, name), verdict in zip(documents, verdicts, strict=True):
            if verdict.number is not None:
                self._note(verdict.number, name, are_kinds=are_kinds)
                stored = as_kept(document, verdict.number, self._decisions.clean)
                # Not a part of a portion's array.
                stored.take(shingles=document.shingles.copy())
                self._cache.keep(verdict.number, stored)
                if len(stored.shingles) >= self._least_sketched:
                    sketch = self._signer.sign(document)
                    self._sketches.add(verdict.number, stored.shingles, sketch)
            found.append(verdict.match)
        return found

    def recall(
        self, count: int, names: Sequence[Any], *, are_kinds: bool = False
    ) -> list[Match | None]:
        """What was decided about the next `count` documents before."""
        found: list[Match | None] = []
        for name in names[:count]:
            number, match = next(self._recorded)
            if match is None:
                self._note(number, name, are_kinds=are_kinds)
            found.append(match)
        return found

    @property
    def limit_reached(self) -> int:
        """How often a row had more candidates than were compared, stage by stage."""
        return self._limit_reached + _limit_reached(self._deduplicator)

    def begin_group(self, name: str, *, goes_on: bool = False) -> None:
        """Forget what stays: from here on, documents are compared with those of one group only.

        Args:
            name: of the group.
            goes_on: an interrupted run had begun it.
        """
        if not goes_on:
            self._decisions.begin_group()
        last = self.done if goes_on else self._decisions.count() + 1
        first = self._decisions.group_start(last)
        self._group_starts[name] = first
        own = range(first + self._offset, sys.maxsize) if goes_on else range(0)
        self._limit_reached += _limit_reached(self._deduplicator)
        self._deduplicator = self._new((self._base_groups.get(name, range(0)), own))

    @property
    def groups(self) -> dict[str, range]:
        """Of each group that has begun, the numbers of its records, in a store that keeps them."""
        stops = [*self._group_starts.values(), self._decisions.count() + 1][1:]
        starts = self._group_starts.items()
        return {name: range(start, stop) for (name, start), stop in zip(starts, stops, strict=True)}

    def label(self, number: int) -> tuple[Any, str | None]:
        """The id, as it was given, and the URL of a document that stays."""
        text, url = self._store.label(number)
        return self._names.value(number, text), url

    def _new(self, known: Sequence[range]) -> Deduplicator:
        """A cascade that knows of the store's documents those of some numbers."""
        store = _Part(self._store, known)
        detectors = self._rules.detectors(self._cache, self._sketches, self._rare_on)
        return Deduplicator(detectors, store=store)

    def _note(self, number: int, name: Any, *, are_kinds: bool) -> None:
        if are_kinds:
            self._names.note_kind(number, name)
        else:
            self._names.note(number, name)

    def _records(self) -> Iterator[tuple[int, Match | None]]:
        for first in range(1, self.done + 1, _RECORDS_AT_ONCE):
            rows = self._decisions.between(first, first + _RECORDS_AT_ONCE - 1)
            yield from map(self._recorded_match, rows)

    def _recorded_match(self, row: RecordRow) -> tuple[int, Match | None]:
        number = row.number + self._offset
        if row.stage == KNOWN:
            return number, Match(**json.loads(row.detail or "{}"))
        if row.original is None or row.stage is None:
            return number, None
        original = row.original + self._offset
        return number, Match(original, row.stage, row.distance, row.resemblance)


def _limit_reached(deduplicator: Deduplicator) -> int:
    return sum(getattr(detector, "limit_reached", 0) for detector in deduplicator.detectors)


class _Part:
    """A store of which only the signatures of some numbers are there, in ascending ranges."""

    def __init__(self, store: Store, known: Sequence[range]) -> None:
        self._known = known
        self.check_schemes = store.check_schemes
        self.add = store.add
        self.change_signatures = store.change_signatures
        self.add_duplicate = store.add_duplicate
        self.document = store.document
        self._all = store.signatures

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        for each in filter(None, self._known):
            for numbers, signatures in self._all(stage, after=max(after, each.start - 1)):
                count = int(np.searchsorted(numbers, each.stop))
                if count:
                    yield numbers[:count], signatures[:count]
                if count < len(numbers):
                    break
