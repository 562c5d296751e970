"""Documents in a temporary file: by number, in any order, in little memory."""

import os
import pickle
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from dedup.collection.writing.outputs import named_error
from dedup.document import Document, Match
from dedup.sites.second_look import Rest
from dedup.store.records import as_page, kept_fields, with_kept
from dedup.store.sql.decisions import Decisions

_BUFFER_BYTES = 1 << 20


class SpoolStore:
    """Keeps the documents of one run; stores no signatures and no records of duplicates.

    A document takes 8 bytes of memory, and some 0.4 of its text on the disk.

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
        self._starts = array("Q", [0])
        self._buffer = bytearray()
        self._written = 0
        self._decompressor = zstandard.ZstdDecompressor()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def close(self) -> None:
        self._file.close()

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        """Accept any: nothing is kept that was made by another."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:  # noqa: ARG002 -- the shape of all
        page = as_page(document)
        rest = page.rest if page.rest is None or self._with_whole_rests else page.rest.kept()
        packed_rest = None if rest is None else rest.to_bytes()
        kept = kept_fields(page), page.packed_text, packed_rest
        self._buffer += pickle.dumps(kept, pickle.HIGHEST_PROTOCOL)
        self._starts.append(self._written + len(self._buffer))
        if len(self._buffer) >= _BUFFER_BYTES:
            self._flush()
        return len(self) - 1

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        raise NotImplementedError("records kept for one run cannot be changed")

    def add_duplicate(self, document: Document, match: Match) -> None:
        """Nothing is kept of it."""

    def document(self, number: int) -> Document:
        fields, packed, rest = self._record(number)
        text = self._decompressor.decompress(packed).decode(errors="surrogatepass")
        return with_kept(fields, text, None if rest is None else Rest.from_bytes(rest))

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a document."""
        kept, _, _ = self._record(number)
        return kept[0], kept[1]

    def signatures(
        self,
        stage: str,  # noqa: ARG002 -- none are kept
        *,
        after: int = -1,  # noqa: ARG002 -- none are kept
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        return iter(())

    def _record(self, number: int) -> Any:
        if not 0 <= number < len(self):
            raise KeyError(number)
        start, end = self._starts[number], self._starts[number + 1]
        if end > self._written:
            self._flush()
        return pickle.loads(os.pread(self._file.fileno(), end - start, start))  # noqa: S301 -- our own

    def _flush(self) -> None:
        rest = memoryview(bytes(self._buffer))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise named_error(
                error, f"{self._folder} (set TMPDIR to use another folder)"
            ) from error
        self._written += len(self._buffer)
        self._buffer.clear()
