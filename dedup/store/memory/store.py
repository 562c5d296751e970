"""A store in memory, which is lost when the process ends."""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import zstandard

from dedup.document import Document, Match
from dedup.sites.second_look import Rest
from dedup.store.interface import Schemes, Signatures
from dedup.store.records import kept_fields, with_kept

_ZSTD_LEVEL = -1


class MemoryStore:
    """Keeps compressed texts, signatures and duplicate records, but no bodies.

    Attributes:
        duplicates: ids of dropped documents and what they duplicate, in the order of dropping.
    """

    def __init__(self) -> None:
        self.duplicates: list[tuple[str, Match]] = []
        self._documents: list[tuple[tuple[Any, ...], bytes, Rest | None]] = []
        self._signatures: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
        self._decompressor = zstandard.ZstdDecompressor()

    def __len__(self) -> int:
        """The number of unique documents. Their numbers count from 0."""
        return len(self._documents)

    def check_schemes(self, schemes: Schemes, *, of: str = "detectors") -> None:
        """Accept any: a new store has no signatures yet."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        number = len(self._documents)
        text = self._compressor.compress(document.text.encode(errors="surrogatepass"))
        rest = None if document.rest is None else document.rest.kept()
        self._documents.append((kept_fields(document), text, rest))
        for stage, signature in signatures.items():
            self._signatures[stage].append((number, signature))
        return number

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        for stage in {*self._signatures, *signatures}:
            kept = self._signatures[stage]
            kept[:] = [each for each in kept if each[0] != number]
            if stage in signatures:
                insort(kept, (number, signatures[stage]), key=itemgetter(0))

    def add_duplicate(self, document: Document, match: Match) -> None:
        self.duplicates.append((document.id, match))

    def document(self, number: int) -> Document:
        if not 0 <= number < len(self._documents):
            raise KeyError(number)
        fields, packed, rest = self._documents[number]
        text = self._decompressor.decompress(packed).decode(errors="surrogatepass")
        return with_kept(fields, text, rest)

    def signatures(self, stage: str, *, after: int = -1) -> Signatures:
        kept = self._signatures.get(stage, [])
        later = kept[bisect_right(kept, after, key=itemgetter(0)) :]
        if later:
            numbers, signatures = zip(*later, strict=True)
            yield np.array(numbers, np.int64), signatures
