"""Deciding about documents, with a store that is new or goes on from an interrupted run."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dedup.batch import Batch
from dedup.collection.layered import CollectionStore, LayeredStore
from dedup.collection.names import Names
from dedup.collection.rules import Rules
from dedup.collection.spool import SpoolStore
from dedup.deduplicator import Deduplicator
from dedup.detectors.second_check import RareOn, of_no_host
from dedup.document import Match
from dedup.store.query_results import RecordRow
from dedup.store.sql.decisions import KNOWN
from dedup.store.sql.store import JobStore

_RECORDS_AT_ONCE = 10_000


class Decider:
    """Asks the cascade, and keeps what stays.

    Args:
        rules: the cascade's.
        own: where documents are kept; a job's store may hold some already.
        bases: stores whose documents they are compared with, too.
        base_groups: where `rules.within` names a column, of each group the numbers that its
            documents have in the only one of `bases`.
        rare_on: see `SecondCheck`.

    Raises:
        SchemeError: the store's signatures were made by other rules.
    """

    def __init__(
        self,
        rules: Rules,
        own: CollectionStore,
        bases: Sequence[JobStore] = (),
        base_groups: Mapping[str, range] | None = None,
        *,
        rare_on: RareOn = of_no_host,
    ) -> None:
        self._base_groups = base_groups or {}
        self._decisions = own.decisions
        self._store: CollectionStore | LayeredStore = own
        self._offset = 0
        if bases:
            self._store = LayeredStore(bases, own)
            self._offset = self._store.offset
        self._new_judge = partial(
            Deduplicator,
            store=self._store,
            config=rules.config,
            stages=rules.judging_stages,
            rare_on=rare_on,
            # What the spool has is read as fast as kept in memory.
            clean=None if isinstance(own, SpoolStore) else self._decisions.clean,
            has_sketches=True,
        )
        self._names = Names()
        self._limit_reached = 0
        self.done = self._decisions.count()
        """Documents that were judged before, by a run that was interrupted."""
        self._recorded = self._records()
        self._n_recalled = 0
        self._group_starts: dict[str, int] = {}
        known = (range(sys.maxsize),) if rules.within is None else ()
        self._judge = self._new_judge(known=known)

    def decide(self, batch: Batch, kinds: Sequence[int]) -> list[Match | None]:
        """Judge documents.

        Those that an interrupted run judged get its verdicts.

        Args:
            batch: the last of the documents, all that were not judged before among them.
            kinds: of the names of all.
        """
        n_old = min(self.done - self._n_recalled, len(kinds))
        found = self.recall(kinds[:n_old])
        new = batch.part(len(batch) - (len(kinds) - n_old), len(batch))
        for kind, outcome in zip(kinds[n_old:], self._judge.decide_batch(new), strict=True):
            if isinstance(outcome, Match):
                found.append(outcome)
            else:
                self._names.note(outcome, kind)
                found.append(None)
        return found

    def recall(self, kinds: Sequence[int]) -> list[Match | None]:
        """What was decided before about the next documents; `kinds` are those of their names."""
        self._n_recalled += len(kinds)
        found: list[Match | None] = []
        for kind in kinds:
            number, match = next(self._recorded)
            if match is None:
                self._names.note(number, kind)
            found.append(match)
        return found

    @property
    def limit_reached(self) -> int:
        """How often a row had more candidates than were compared, stage by stage."""
        return self._limit_reached + self._judge.limit_reached

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
        self._limit_reached += self._judge.limit_reached
        self._judge = self._new_judge(known=(self._base_groups.get(name, range(0)), own))

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
