"""Runs detectors over a stream of documents and keeps one of each."""

import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from reprlib import repr as shorten

import numpy as np

from dedup.batch import analyse
from dedup.config import DedupConfig
from dedup.detectors import Detector, Originals, default_detectors
from dedup.document import Document, Match, Verdict
from dedup.store.interface import Store
from dedup.store.memory import MemoryStore

_BATCH_DOCUMENTS = 512


class Deduplicator:
    """Tells of each document whether an earlier one makes it superfluous.

    The detectors are asked in their order and the first match wins. Where there is none, the
    document is kept: in the store, and in each detector's index. An index that starts on a store
    with documents is rebuilt from their signatures first.

    No document is dropped on a hash alone: see `dedup.detectors.SecondCheck`. The same documents
    in the same order get the same verdicts on every machine.

    Args:
        detectors: asked in this order; None: the default cascade. They fetch originals for their
            second check: give them `Originals` of the same store.
        store: where documents are kept; None: in memory.
        config: for the default cascade and the cache of originals.

    Raises:
        SchemeError: the store's signatures were made by other features, weights or widths.
        TypeError: `config` is no `DedupConfig`.

    >>> deduplicator = Deduplicator()
    >>> for text in ("One page.", "Another page.", "ONE  page."):
    ...     verdict = deduplicator.process(Document(id=text, text=text))
    ...     print(verdict.number, verdict.match and verdict.match.stage)
    0 None
    1 None
    None text
    """

    def __init__(
        self,
        detectors: Sequence[Detector] | None = None,
        *,
        store: Store | None = None,
        config: DedupConfig | None = None,
    ) -> None:
        config = DedupConfig() if config is None else config
        if not isinstance(config, DedupConfig):
            raise TypeError(f"config must be a DedupConfig, got {shorten(config)}")
        self.store: Store = MemoryStore() if store is None else store
        self._cache = OriginalsCache(self.store.document, size_bytes=config.cache_bytes)
        if detectors is None:
            detectors = default_detectors(self._cache, config)
        self.detectors = tuple(detectors)
        schemes = {each.stage: each.scheme for each in self.detectors if each.scheme}
        self.store.check_schemes(schemes)
        for detector in self.detectors:
            for numbers, signatures in self.store.signatures(detector.stage):
                detector.load(numbers, signatures)

    @property
    def size_bytes(self) -> int:
        """Memory of all indexes; the cache of originals comes on top."""
        return sum(detector.size_bytes for detector in self.detectors)

    def find(self, document: Document) -> Match | None:
        """Return what the first detector that finds anything finds. Changes nothing.

        Raises:
            TypeError: `document` is no `Document`; so in the other methods.
        """
        _check(document)
        for detector in self.detectors:
            if match := detector.find(document):
                return match
        return None

    def add(self, document: Document) -> int:
        """Keep `document`, whatever it may duplicate; return its number."""
        _check(document)
        number = self.store.add(document, self._signatures(document))
        for detector in self.detectors:
            detector.add(document, number)
        return number

    def change(self, number: int, document: Document) -> None:
        """Have a document found by another text than before; the store keeps its signatures."""
        _check(document)
        self.store.change_signatures(number, self._signatures(document))
        for detector in self.detectors:
            detector.add(document, number)
        self._cache.forget(number)

    def process(self, document: Document) -> Verdict:
        """Find what `document` duplicates and record that, or else keep it."""
        if match := self.find(document):
            self.store.add_duplicate(document, match)
            return Verdict(number=None, match=match)
        return Verdict(number=self.add(document), match=None)

    def process_many(self, documents: Iterable[Document]) -> Iterator[Verdict]:
        """Yield for each document what `process` would return, several times as fast.

        Signatures are computed, and looked up, for a batch at a time. A detector is asked only
        about documents that share one of its keys with one before; it has no candidate for others.
        Reads a batch ahead: a verdict may come only after the next 511 documents were asked for.
        """
        if not isinstance(documents, Iterable):
            raise TypeError(f"documents must be an iterable of Document, got {shorten(documents)}")
        rest = iter(documents)
        while batch := list(islice(rest, _BATCH_DOCUMENTS)):
            yield from self._process_batch(batch)

    def _process_batch(self, documents: list[Document]) -> Iterator[Verdict]:
        for document in documents:
            _check(document)
        analyse([document for document in documents if document.known_shingles is None])
        may_match = np.zeros((len(self.detectors), len(documents)), np.bool_)
        is_asked = np.zeros(len(documents), np.bool_)
        for row, detector in zip(may_match, self.detectors, strict=True):
            # What an earlier stage may match is hardly ever left for the later ones.
            row[:] = is_asked | detector.may_match(documents, ~is_asked)
            is_asked |= row
        passed = _Passed(self.detectors)
        for place, document in enumerate(documents):
            match = None
            if is_asked[place]:
                asked = np.flatnonzero(may_match[:, place]).tolist()
                answers = (passed.indexed(number).find(document) for number in asked)
                match = next((each for each in answers if each is not None), None)
            if match is not None:
                self.store.add_duplicate(document, match)
                yield Verdict(number=None, match=match)
                continue
            signatures = self._signatures(document)
            number = self.store.add(document, signatures)
            passed.add(number, signatures)
            yield Verdict(number=number, match=None)
        for place in range(len(self.detectors)):
            passed.indexed(place)

    def _signatures(self, document: Document) -> dict[str, bytes]:
        return {
            detector.stage: signature
            for detector in self.detectors
            if (signature := detector.signature(document)) is not None
        }


def _check(document: object) -> None:
    if not isinstance(document, Document):
        raise TypeError(f"document must be a Document, got {shorten(document)}")


class _Passed:
    """Documents that were stored and are to be indexed, many at once."""

    def __init__(self, detectors: Sequence[Detector]) -> None:
        self._detectors = detectors
        self._signatures: dict[str, tuple[list[int], list[bytes]]] = {}

    def add(self, number: int, signatures: Mapping[str, bytes]) -> None:
        for stage, signature in signatures.items():
            numbers, found = self._signatures.setdefault(stage, ([], []))
            numbers.append(number)
            found.append(signature)

    def indexed(self, place: int) -> Detector:
        """The detector of this place, which finds all of them now."""
        detector = self._detectors[place]
        numbers, signatures = self._signatures.pop(detector.stage, ((), ()))
        if numbers:
            detector.load(np.array(numbers, np.int64), signatures)
        return detector


class OriginalsCache:
    """Fetches originals, and keeps those used last with what was computed of them."""

    def __init__(self, originals: Originals, *, size_bytes: int) -> None:
        self._originals = originals
        self._capacity_bytes = size_bytes
        self._kept: OrderedDict[int, tuple[Document, int]] = OrderedDict()
        self._kept_bytes = 0

    def __call__(self, number: int) -> Document:
        if number in self._kept:
            document, size_bytes = self._kept[number]
            now = _analysed_bytes(document)  # since it was kept, more may have been computed
            self._kept[number] = document, now
            self._kept.move_to_end(number)
            self._kept_bytes += now - size_bytes
            return document
        document = self._originals(number)
        self.keep(number, document)
        return document

    def keep(self, number: int, document: Document) -> None:
        """Keep an original, which has just been fetched, or stored."""
        self.forget(number)
        self._kept[number] = document, _analysed_bytes(document)
        self._kept_bytes += self._kept[number][1]
        while self._kept_bytes > self._capacity_bytes:
            _, (_, size_bytes) = self._kept.popitem(last=False)
            self._kept_bytes -= size_bytes

    def forget(self, number: int) -> None:
        """Fetch this one anew when it is asked for again: it has changed."""
        _, size_bytes = self._kept.pop(number, (None, 0))
        self._kept_bytes -= size_bytes


def _analysed_bytes(document: Document) -> int:
    """Estimate the memory of a document, its normal text and its shingles, from above.

    Shingles that are not computed yet may be as many as there are characters.
    """
    text = sys.getsizeof(document.text)
    shingles = document.known_shingles
    length = len(document.text) if shingles is None else len(shingles)
    rest = 0 if document.rest is None else 8 * len(document.rest.shingles)
    return 2 * text + 8 * length + rest + _OBJECTS_BYTES


_OBJECTS_BYTES = 1_500
"""Of a document, its dict, names and arrays."""
