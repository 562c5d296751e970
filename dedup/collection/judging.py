"""Judging the rows of a collection: which stay, and what the others duplicate."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dedup.batch import Batch
from dedup.collection.account import FileAccount
from dedup.collection.columns import NoTextError
from dedup.collection.deciding import Decider
from dedup.collection.documents import Held, NoText, Read, read_given
from dedup.collection.evaluation import CONTAINS
from dedup.collection.judging_order import judging_order
from dedup.collection.names import Names, kind_of
from dedup.collection.portions import PORTION_ROWS, RowPortion, portions, row_portions
from dedup.collection.rows import Broken, Row
from dedup.collection.rules import Rules
from dedup.collection.signing import SigningProcesses, Task
from dedup.collection.spool import SpoolStore
from dedup.collection.survivor import Preferences
from dedup.detectors import STAGES
from dedup.document import Document, Match

Rows = Callable[[], Iterable[tuple[int, Row | Broken]]]
"""Begins to read the collection; each row with the number of its file."""

_Result = Read | Held | NoText | Broken

_NEVER = 2**63
_NOTHING = Document("", "")
_DOCUMENT, _BROKEN, _WITHOUT_TEXT = range(3)


class Judged(NamedTuple):
    """A row, and what became of it.

    Attributes:
        id: the row's own, or its URL, or its number.
        match: None: the row stays.
        duplicate_of, duplicate_of_url: of the row that stays for it.
        number: of the row in the collection, from 1.
        more: further columns of `--mark`.
        has_text: False: there was nothing to judge; the document is empty.
    """

    row: Row
    document: Document
    id: Any
    match: Match | None
    duplicate_of: Any = None
    duplicate_of_url: str | None = None
    number: int = 0
    has_text: bool = True
    more: Mapping[str, Any] = {}

    @property
    def marks(self) -> dict[str, Any]:
        """The columns that `--mark` adds."""
        match = self.match
        return {
            "duplicate_of": self.duplicate_of,
            "resemblance": match and match.resemblance,
            "stage": match and match.stage,
            "group": self.id if match is None else self.duplicate_of,
            **self.more,
        }


class RowJudge:
    """Judges collections.

    Args:
        rules: what counts as a duplicate, and which row stays.
        decider: knows what stays.
        workers: read rows, and compute signatures.
        accounts: of each file.
        folder: for temporary files.
        on_broken: is called with each broken row, once.

    Attributes:
        told: sentences on what could not be followed.
    """

    def __init__(
        self,
        rules: Rules,
        decider: Decider,
        workers: SigningProcesses,
        accounts: Sequence[FileAccount],
        *,
        folder: Path,
        on_broken: Callable[[int, Broken], object],
    ) -> None:
        self._rules = rules
        self._decider = decider
        self._workers = workers
        self._accounts = accounts
        self._folder = folder
        self._on_broken = on_broken
        self.told: list[str] = []

    def judge(self, rows: Rows) -> Iterator[Judged]:
        """Yield each row that is not broken, in the order of the collection.

        Where the first of several stays, the rows are read once; for another order they are read,
        judged, and read again.

        Raises:
            OSError: a file cannot be read, or a temporary one cannot be written.
            ValueError: nothing but broken rows in a file, or a column that none has.
        """
        return self._in_order(rows) if self._rules.is_in_order else self._by_preference(rows)

    def _in_order(self, rows: Rows) -> Iterator[Judged]:
        for part, results, batch in self._read(rows, signed_from=self._decider.done + 1):
            kinds = [kind_of(each.id) for each in results if isinstance(each, Read)]
            matches = iter(self._decider.decide(batch, kinds))
            for number, row, result in zip(count(part.first), part.rows, results, strict=False):
                if isinstance(row, Broken):
                    continue
                if isinstance(result, Read):
                    yield self._judged(number, row, result.document, result.id, next(matches))
                elif isinstance(result, Held):
                    yield _holding(number, row, result.read.document, result.read.id, result)
                elif isinstance(result, NoText):
                    yield _without_text(number, row, result.id)

    def _judged(
        self, number: int, row: Row, document: Document, name: Any, match: Match | None
    ) -> Judged:
        name = number if name is None else name
        if match is None:
            return Judged(row, document, name, None, None, None, number)
        original, url = self._decider.label(match.original)
        return Judged(row, document, name, match, original, url, number)

    def _name_without_text(self, number: int, file: int, row: Row) -> Any:
        """The name of a row that has no text, when it is read again."""
        account = self._accounts[file]
        try:
            read_given(row.given(), account.columns, {}, number)
        except NoTextError as error:
            return NoText.of(error).id
        raise OSError(f"{account.source.name}: the file has changed since the run started")

    def _read(
        self, rows: Rows, *, signed_from: int
    ) -> Iterator[tuple[RowPortion, list[_Result], Batch]]:
        """Yield rows and what each says, in portions; count them, check each file at its end."""
        parts = row_portions(rows())
        tasks = ((part, Task(part.given, part.numbers, signed_from)) for part in parts)
        account: FileAccount | None = None
        for part, found in self._workers.read(tasks):
            results = iter(found.rows)
            answer: list[_Result] = []
            for file, row in zip(part.files, part.rows, strict=True):
                if account is not self._accounts[file]:
                    if account is not None:
                        account.check()
                    account = self._accounts[file]
                result = row if isinstance(row, Broken) else next(results)
                if isinstance(result, Read):
                    account.add(result.present, result.names)
                elif isinstance(result, Held):
                    account.add(result.read.present, result.read.names)
                else:
                    result = self._unread(file, row, result)
                answer.append(result)
            yield part, answer, found.batch
        if account is not None:
            account.check()

    def _unread(
        self, file: int, row: Row | Broken, result: NoText | Broken | str
    ) -> NoText | Broken:
        """Count, and tell, a row that is no document."""
        account = self._accounts[file]
        if isinstance(result, NoText):
            broken = _broken(row, result.reason, lacks_text=True)
            account.add_without_text(broken, result.present, result.names)
            self._on_broken(file, broken)
            return result
        broken = _broken(row, result) if isinstance(result, str) else result
        account.add_broken(broken)
        self._on_broken(file, broken)
        return broken

    def _by_preference(self, rows: Rows) -> Iterator[Judged]:
        spool = SpoolStore(self._folder, with_whole_rests=True)
        try:
            read = self._spooled(rows, spool)
            matches = self._matches(spool, read)
            place = 0
            for number, (file, row) in enumerate(rows(), start=1):
                if number > len(read.outcomes):
                    raise OSError(
                        f"{self._accounts[file].source.name}: the file has grown since the run"
                        " started"
                    )
                outcome = read.outcomes[number - 1]
                if isinstance(row, Broken) or outcome == _BROKEN:
                    continue
                if outcome == _WITHOUT_TEXT:
                    name = self._name_without_text(number, file, row)
                    yield _without_text(number, row, name)
                    continue
                document = spool.document(place)
                name = read.names.value(place, document.id)
                if (held := read.held.get(place)) is not None:
                    yield _holding(number, row, document, name, held)
                else:
                    yield self._judged(number, row, document, name, matches[place])
                place += 1
        finally:
            spool.close()

    def _spooled(self, rows: Rows, spool: SpoolStore) -> "_Spooled":
        """Keep all documents, and by what they are ordered."""
        preferences = Preferences(self._rules.criteria)
        read = _Spooled(Names(), array("q"), {}, preferences, bytearray(), {})
        for _, results, _ in self._read(rows, signed_from=_NEVER):
            for result in results:
                if isinstance(result, NoText | Broken):
                    read.outcomes.append(_BROKEN if isinstance(result, Broken) else _WITHOUT_TEXT)
                    continue
                read.outcomes.append(_DOCUMENT)
                each = result.read if isinstance(result, Held) else result
                if isinstance(result, Held):
                    read.held[len(spool)] = result._replace(read=_NOT_KEPT)
                read.names.note(spool.add(each.document, {}), kind_of(each.id))
                others: dict[str | None, Any]
                others = dict(zip(self._rules.others, each.others, strict=True))
                group = repr(others.get(self._rules.within))
                read.groups.append(read.group_names.setdefault(group, len(read.group_names)))
                read.preferences.add(each.document.text, others)
        return read

    def _matches(self, spool: SpoolStore, read: "_Spooled") -> "_Matches":
        order = judging_order(read.groups, read.preferences.ranked()).tolist()
        self.told = read.preferences.told()
        order = [place for place in order if place not in read.held]
        matches = _Matches(len(read.groups))
        done = self._decider.done
        for start in range(0, done, PORTION_ROWS):
            places = order[start : min(start + PORTION_ROWS, done)]
            kinds = [read.names.kind(place) for place in places]
            for place, match in zip(places, self._decider.recall(kinds), strict=True):
                matches.set(place, match)
        begun = read.groups[order[done - 1]] if done else None
        group: int | None = None
        names = list(read.group_names)
        to_judge = ((place, spool.document(place)) for place in order[done:])
        parts = portions(to_judge, lambda pair: len(pair[1].text))
        unsigned = (([place for place, _ in part], [each for _, each in part]) for part in parts)
        for places, batch in self._workers.sign(unsigned):
            start = 0
            for number, members in groupby(places, key=read.groups.__getitem__):
                if number != group and self._rules.within is not None:
                    self._decider.begin_group(names[number], goes_on=number == begun)
                    group = number
                found = list(members)
                kinds = [read.names.kind(place) for place in found]
                part = batch.part(start, start + len(found))
                start += len(found)
                for place, match in zip(found, self._decider.decide(part, kinds), strict=True):
                    matches.set(place, match)
        return matches


def _broken(row: Row | Broken, reason: str, *, lacks_text: bool = False) -> Broken:
    if isinstance(row, Broken):
        return row
    return Broken(row.place, reason, row.source_text(), lacks_text)


class _Spooled(NamedTuple):
    """What is kept in memory of rows that are not judged in their order."""

    names: Names
    groups: "array[int]"
    group_names: dict[str, int]
    preferences: Preferences
    outcomes: bytearray
    held: dict[int, Held]


_NOT_KEPT = Read(_NOTHING, None)


def _holding(number: int, row: Row, document: Document, name: Any, held: Held) -> Judged:
    name = number if name is None else name
    match = Match(held.known, CONTAINS)
    return Judged(row, document, name, match, held.known_id, held.known_url, number)


def _without_text(number: int, row: Row, name: Any) -> Judged:
    name = number if name is None else name
    return Judged(row, _NOTHING, name, None, number=number, has_text=False)


_MATCH = np.dtype("i8, i1, i2, f8")
"""Original, stage, distance and resemblance."""


class _Matches:
    """The match of each place: 19 bytes each."""

    def __init__(self, count: int) -> None:
        self._rows = np.full(count, np.array((-1, 0, -1, np.nan), _MATCH))

    def set(self, place: int, match: Match | None) -> None:
        if match is not None:
            distance = -1 if match.distance is None else match.distance
            resemblance = np.nan if match.resemblance is None else match.resemblance
            stage = STAGES.index(match.stage)
            self._rows[place] = match.original, stage, distance, resemblance

    def __getitem__(self, place: int) -> Match | None:
        original, stage, distance, resemblance = self._rows[place].item()
        if original < 0:
            return None
        return Match(
            original,
            STAGES[stage],
            None if distance < 0 else distance,
            None if np.isnan(resemblance) else resemblance,
        )
