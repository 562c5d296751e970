"""Documents in a temporary file: by number, in any order, in little memory."""

import marshal
import os
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.collection.writing.outputs import named_error
from dedup.document import Document, Match
from dedup.sites.second_look import Rest
from dedup.store.records import kept_fields, with_kept
from dedup.store.sql.decisions import Decisions

_BUFFER_BYTES = 1 << 18
_LABELS = 10_000
"""That are remembered of originals which were compared: some of them are asked for next."""


class SpoolStore:
    """Keeps the documents of one run; stores no signatures and no records of duplicates.

    A document takes 8 bytes of memory, and on the disk its text and its shingles: some 2.3 times
    its text, so that it is compared as it is read.

    Args:
        folder: of the temporary file, which has no name there.
        with_whole_rests: keep everything that is rare on a page, for pages not judged yet; else as
            much as stores keep of originals.

    Raises:
        OSError: the disk is full.
    """

    def __init__(self, folder: Path, *, with_whole_rests: bool = False) -> None:
        self.decisions = Decisions()
        self._folder = folder
        self._with_whole_rests = with_whole_rests
        self._file = tempfile.TemporaryFile("w+b", buffering=0, dir=folder)  # noqa: SIM115 -- see close
        self._ends = array("Q", [0])
        self._added: list[bytes] = []
        self._written = 0
        self._labels: dict[int, tuple[str, str | None]] = {}

    def __len__(self) -> int:
        return len(self._ends) - 1

    def close(self) -> None:
        self._file.close()

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        """Accept any: nothing is kept that was made by another."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:  # noqa: ARG002 -- the shape of all
        rest = document.rest
        if rest is not None and not self._with_whole_rests:
            rest = rest.kept()
        shingles: Any = document.known_shingles  # of an array, its bytes are kept
        rest_bytes = None if rest is None else rest.to_bytes()
        record = marshal.dumps((kept_fields(document), document.text, rest_bytes, shingles))
        self._ends.append(self._ends[-1] + len(record))
        self._added.append(record)
        if self._ends[-1] - self._written >= _BUFFER_BYTES:
            self._write()
        return len(self) - 1

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        raise NotImplementedError("records kept for one run cannot be changed")

    def add_duplicate(self, document: Document, match: Match) -> None:
        """Nothing is kept of it."""

    def document(self, number: int) -> Document:
        fields, text, rest, shingles = marshal.loads(self._record(number))  # noqa: S302 -- our own
        if len(self._labels) >= _LABELS:
            self._labels.clear()
        self._labels[number] = fields[:2]
        document = with_kept(fields, text, None if rest is None else Rest.from_bytes(rest))
        if shingles is not None:
            document.take(shingles=np.frombuffer(shingles, np.uint64))
        return document

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a document."""
        known = self._labels.get(number)
        if known is not None:
            return known
        (name, url, *_), *_ = marshal.loads(self._record(number))  # noqa: S302 -- our own
        return name, url

    def signatures(
        self,
        stage: str,  # noqa: ARG002 -- none are kept
        *,
        after: int = -1,  # noqa: ARG002 -- none are kept
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        return iter(())

    def _record(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise KeyError(number)
        start, end = self._ends[number], self._ends[number + 1]
        if start >= self._written:
            return self._added[number - len(self)]
        return os.pread(self._file.fileno(), end - start, start)

    def _write(self) -> None:
        try:
            with memoryview(b"".join(self._added)) as rest:
                done = 0
                while done < len(rest):
                    done += self._file.write(rest[done:])
        except OSError as error:
            raise named_error(
                error, f"{self._folder} (set TMPDIR to use another folder)"
            ) from error
        self._written = self._ends[-1]
        self._added.clear()
