"""Passages of a collection: which rows repeat what others say, at length."""

import os
import pickle
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dedup.collection.changed_rows import with_text
from dedup.collection.columns import Columns
from dedup.collection.judging import Judged, Rows
from dedup.collection.rows import Broken, Row, TableRow, WarcRow
from dedup.collection.sorted_runs import Numbers, SortedRuns
from dedup.collection.writing.outputs import named_error
from dedup.document import Document, Match
from dedup.text.passages import (
    Passages,
    Stretch,
    Units,
    passages_of,
    place_of,
    placed_windows,
    repeated,
    stretches,
    text_at,
)

PASSAGES = "passages"
"""The stage of rows of which nothing is left, and the column of `--mark`."""

_PORTION_CHARACTERS = 1 << 20
_SOURCES_IN_MEMORY = 64


class PassageFinder:
    """Finds the passages of texts, in the order in which they are added.

    Args:
        width: the number of units of the shortest passage.
        folder: for temporary files: 16 bytes a word.

    Raises:
        OSError: the disk is full.
    """

    def __init__(self, width: int, folder: Path) -> None:
        self._width = width
        self._folder = folder
        self._windows = SortedRuns(folder)
        self._numbers: list[int] = []
        self._texts: list[str] = []
        self._size = 0

    def add(self, number: int, text: str) -> None:
        """Take a text; numbers ascend."""
        self._numbers.append(number)
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _PORTION_CHARACTERS:
            self._take()

    def found(self) -> Iterator[tuple[int, list[Stretch]]]:
        """Yield the number of each text with repeated windows, and these, by ascending numbers."""
        self._take()
        repeats = SortedRuns(self._folder)
        try:
            for hashes, places in self._windows.portions():
                repeats.add(*repeated(hashes, places, self._width))
            self._windows.close()
            for places, firsts in _of_whole_texts(repeats.portions()):
                yield from stretches(places, firsts)
        finally:
            repeats.close()
            self._windows.close()

    def _take(self) -> None:
        for hashes, places in placed_windows(self._numbers, self._texts, self._width):
            self._windows.add(hashes, places)
        self._numbers, self._texts, self._size = [], [], 0


def _of_whole_texts(
    portions: Iterable[tuple[Numbers, Numbers]],
) -> Iterator[tuple[Numbers, Numbers]]:
    """Cut portions between texts."""
    rest = (np.empty(0, np.uint64),) * 2
    for places, firsts in portions:
        places, firsts = np.concatenate((rest[0], places)), np.concatenate((rest[1], firsts))
        last = place_of(text_at(int(places[-1]))) if len(places) else 0
        cut = int(np.searchsorted(places, np.uint64(last)))
        yield places[:cut], firsts[:cut]
        rest = places[cut:], firsts[cut:]
    yield rest


@dataclass(slots=True)
class PassageCounts:
    """What was found.

    Attributes:
        passages: all of them.
        characters: that they have together, those of several passages once.
        not_searched: rows that stay whose text was taken out of markup and is not written.
    """

    passages: int = 0
    characters: int = 0
    not_searched: int = 0


class PassageCutter:
    """Cuts passages out of judged rows, or marks them.

    Only rows that stay are searched, so that what a passage repeats is written. All rows are judged
    first, and then the collection is read again.

    Args:
        width: the number of words, or characters, of the shortest passage.
        columns: where the text stands.
        folder: for temporary files.
        marks: leave texts whole, and list their passages in a further mark.
    """

    def __init__(self, width: int, columns: Columns, folder: Path, *, marks: bool) -> None:
        self.counts = PassageCounts()
        self._width = width
        self._columns = columns
        self._folder = folder
        self._marks = marks
        self._source = lru_cache(maxsize=_SOURCES_IN_MEMORY)(self._units)
        self._spool = _JudgedSpool(folder)

    def close(self) -> None:
        self._spool.close()

    def cut(self, judged: Iterable[Judged], rows: Rows) -> Iterator[Judged]:
        """Yield all judged rows, in their order.

        Args:
            judged: without passages.
            rows: reads the collection once more.

        Raises:
            OSError: the files have changed, or the disk is full.
        """
        finder = PassageFinder(self._width, self._folder)
        for each in judged:
            self._spool.append(each)
            if self._is_searched(each):
                finder.add(each.number, each.document.text)
            elif each.has_text and each.match is None:
                self.counts.not_searched += 1
        found = finder.found()
        number, stretches_found = next(found, (0, []))
        for each in self._spool.with_rows(rows()):
            if each.number == number:
                yield self._with_passages(each, stretches_found)
                number, stretches_found = next(found, (0, []))
            elif self._marks:
                yield each._replace(more={PASSAGES: [] if self._is_searched(each) else None})
            else:
                yield each

    def _is_searched(self, judged: Judged) -> bool:
        is_kept = judged.has_text and judged.match is None
        return is_kept and (judged.document.source == "given" or isinstance(judged.row, WarcRow))

    def _with_passages(self, judged: Judged, found: list[Stretch]) -> Judged:
        text = judged.document.text
        units = Units(text)
        sound = [each for each in found if self._is_equal(units, each)]
        if not sound:
            return judged._replace(more={PASSAGES: []}) if self._marks else judged
        passages = passages_of(text, sound, self._width)
        self.counts.passages += len(passages.listed)
        self.counts.characters += len(text) - len(passages.rest or "")
        if passages.rest is None:
            original = self._spool.judged(passages.main)
            judged = judged._replace(
                match=Match(passages.main, PASSAGES),
                duplicate_of=original.id,
                duplicate_of_url=original.document.url,
            )
        elif not self._marks:
            document = replace(judged.document, text=passages.rest)
            row = with_text(judged.row, passages.rest, self._columns)
            return judged._replace(row=row, document=document)
        return judged._replace(more={PASSAGES: self._listed(passages)}) if self._marks else judged

    def _is_equal(self, units: Units, stretch: Stretch) -> bool:
        count = stretch.n_windows + self._width - 1
        source = self._source(text_at(stretch.source))
        return units.at(stretch.start, count) == source.at(stretch.source, count)

    def _units(self, number: int) -> Units:
        return Units(self._spool.judged(number).document.text)

    def _listed(self, passages: Passages) -> list[list[Any]]:
        return [
            [start, end, self._spool.judged(source).id] for start, end, source in passages.listed
        ]


class _JudgedSpool:
    """Judged rows in a temporary file: by number, and in their order; 16 bytes of memory a row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = tempfile.TemporaryFile("w+b", dir=folder)  # noqa: SIM115 -- see close
        self._numbers = array("Q")
        self._starts = array("Q", [0])

    def close(self) -> None:
        self._file.close()

    def append(self, judged: Judged) -> None:
        document = judged.document
        kept = Document(
            document.id, document.text, document.url, document.title, source=document.source
        )
        record = pickle.dumps(judged._replace(row=_NO_ROW, document=kept))
        try:
            self._file.write(record)
        except OSError as error:
            raise named_error(
                error, f"{self._folder} (set TMPDIR to use another folder)"
            ) from error
        self._numbers.append(judged.number)
        self._starts.append(self._starts[-1] + len(record))

    def judged(self, number: int) -> Judged:
        """A row's judgement, without the row."""
        return self._at(bisect_left(self._numbers, number))

    def with_rows(self, rows: Iterable[tuple[int, Row | Broken]]) -> Iterator[Judged]:
        """Yield all, with their rows.

        Raises:
            OSError: one of them is no longer there.
        """
        place = 0
        for number, (_, row) in enumerate(rows, start=1):
            if place < len(self._numbers) and number == self._numbers[place]:
                if isinstance(row, Broken):
                    break
                yield self._at(place)._replace(row=row)
                place += 1
        if place < len(self._numbers):
            raise OSError("the files have changed since the run started; run it again")

    def _at(self, place: int) -> Judged:
        self._file.flush()
        start, end = self._starts[place], self._starts[place + 1]
        found: Judged = pickle.loads(os.pread(self._file.fileno(), end - start, start))  # noqa: S301 -- our own
        return found


_NO_ROW = TableRow("", {}, ())
