"""The judge of documents: which earlier document, if any, makes each of them superfluous."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from reprlib import repr as shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.batch_judge import BatchJudge
from dedup.config import DedupConfig
from dedup.detectors import STAGES, Detector, Originals, SecondCheck, default_detectors
from dedup.detectors.cascade import Bodies
from dedup.detectors.key import KeyRecord
from dedup.detectors.second_check import RareOn, of_no_host
from dedup.detectors.sketches import Sketches
from dedup.document import Document, Match, Verdict
from dedup.index.arrays import Arrays
from dedup.store.interface import Store
from dedup.store.memory import MemoryStore
from dedup.store.records import as_kept

_BATCH_DOCUMENTS = 512

_EVERY = (range(sys.maxsize),)


class Deduplicator:
    """Decides for each document whether an earlier one makes it superfluous.

    The detectors are asked in their order and the first match wins. Where there is none, the
    document is kept: in the store, and in each detector's index. An index that starts on a store
    with documents is rebuilt from their signatures first.

    No document is dropped on a hash alone: see `dedup.detectors.SecondCheck`. The same documents
    in the same order get the same verdicts on every machine.

    Args:
        detectors: asked in this order; None: the default cascade. They fetch originals for their
            second check: give them `Originals` of the same store.
        store: where documents are kept; None: in memory.
        config: for the default cascade, the bound of its indexes, and the cache of originals.
        stages: which detectors of the default cascade are asked, in this order; `KEY_STAGE` stands
            for the record of keys.
        bodies: fetches the bodies of originals, for stores that keep them apart.
        rare_on, max_characters, remembers: see `SecondCheck`.
        known: only documents with these numbers are loaded from the store.
        clean: what the store replaces in titles and URLs. Documents are then cached as they are
            stored; None: they are fetched when they are first compared.
        has_sketches: sketches of the documents, 133 bytes each, rule out candidates that are not
            near before the most promising ones are chosen.

    Attributes:
        check: the second check of the default cascade.
        keys: the record of keys.

    Raises:
        SchemeError: the store's signatures were made by other features, weights or widths.
        TypeError: `config` is not a `DedupConfig`.

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
        stages: Iterable[str] = STAGES,
        bodies: Bodies | None = None,
        rare_on: RareOn = of_no_host,
        max_characters: int | None = None,
        remembers: bool = False,
        known: Sequence[range] = _EVERY,
        clean: Callable[[Any], Any] | None = None,
        has_sketches: bool = False,
    ) -> None:
        config = DedupConfig() if config is None else config
        if not isinstance(config, DedupConfig):
            raise TypeError(f"config must be a DedupConfig, got {shorten(config)}")
        self.store: Store = MemoryStore() if store is None else store
        self.original = OriginalsCache(self.store.document, size_bytes=config.cache_bytes)
        arrays = Arrays(config.index_bytes, config.index_folder)
        self.keys = KeyRecord()
        self.keys.use(arrays)
        self.check = SecondCheck.of(
            self.original,
            config,
            sketches=Sketches() if has_sketches else None,
            rare_on=rare_on,
            max_characters=max_characters,
            remembers=remembers,
        )
        self._clean = clean
        if detectors is None:
            cascade = default_detectors(
                self.original, config, check=self.check, bodies=bodies, arrays=arrays
            )
            by_stage = {each.stage: each for each in (self.keys, *cascade)}
            detectors = [by_stage[stage] for stage in stages]
        self.detectors = tuple(detectors)
        schemes = {each.stage: each.scheme for each in self.detectors if each.scheme}
        self.store.check_schemes(schemes)
        for detector in self.detectors:
            for numbers, signatures in _signatures_of(self.store, detector.stage, known):
                detector.load(numbers, signatures)

    @property
    def size_bytes(self) -> int:
        """Size of all indexes, in memory and in files; the cache of originals comes on top."""
        return sum(detector.size_bytes for detector in self.detectors)

    @property
    def limit_reached(self) -> int:
        """How often a document had more candidates than were compared, in all stages."""
        return sum(getattr(detector, "limit_reached", 0) for detector in self.detectors)

    def find(self, document: Document, stages: Iterable[str] | None = None) -> Match | None:
        """Return what the first detector that finds anything finds. Changes nothing.

        Args:
            document: any.
            stages: only the detectors of these stages are asked; None: all.

        Raises:
            TypeError: `document` is not a `Document`; as in the other methods.
        """
        _check(document)
        for detector in self.detectors:
            if (stages is None or detector.stage in stages) and (match := detector.find(document)):
                return match
        return None

    def add(self, document: Document) -> int:
        """Keep `document`, whatever it may duplicate; return its number."""
        number = self.store.add(document, self.signatures(document))
        for detector in self.detectors:
            detector.add(document, number)
        self.check.sketch(number, document)
        self._note_stored(number, document)
        return number

    def change(self, number: int, document: Document, *, is_stored: bool = False) -> None:
        """Index a document by its new text; the store keeps the new signatures.

        Args:
            number: of the document.
            document: with the other text.
            is_stored: the store has the new signatures already.
        """
        if not is_stored:
            self.store.change_signatures(number, self.signatures(document))
        for detector in self.detectors:
            detector.add(document, number)
        self._forget(number)

    def load(self, stage: str, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Index documents that another process has stored, or whose text it has changed."""
        for detector in self.detectors:
            if detector.stage == stage:
                detector.load(numbers, signatures)
        for number in numbers.tolist():
            self._forget(number)

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
        while part := list(islice(rest, _BATCH_DOCUMENTS)):
            for document in part:
                _check(document)
            yield from self.process_batch(Batch(part))

    def process_batch(self, batch: Batch) -> Iterator[Verdict]:
        """Yield for each document of a batch what `process` would return; all are processed."""
        for found in self.decide_batch(batch):
            if isinstance(found, Match):
                yield Verdict(number=None, match=found)
            else:
                yield Verdict(number=found, match=None)

    def decide_batch(self, batch: Batch) -> list[int | Match]:
        """Process a batch; of each document the number under which it was kept, or the match."""
        judge = BatchJudge(self.detectors, self.check, batch)
        found: list[int | Match] = []
        try:
            for place, document in enumerate(batch.documents):
                match = judge.find(place)
                if match is not None:
                    self.store.add_duplicate(document, match)
                found.append(self.add_of_batch(judge, batch, place) if match is None else match)
        finally:
            judge.finish()
        return found

    def add_of_batch(self, judge: BatchJudge, batch: Batch, place: int) -> int:
        """Keep a document of a batch that is being judged, as `add` does; return its number."""
        document = batch.documents[place]
        number = self.store.add(document, _SignaturesOf(self.signatures, batch, place))
        judge.keep(place, number)
        if self._clean is not None:
            self._note_stored(number, document)
        return number

    def signatures(self, document: Document) -> dict[str, bytes]:
        """The signatures of a document by stage, as the store keeps them."""
        _check(document)
        return {
            detector.stage: signature
            for detector in self.detectors
            if (signature := detector.signature(document)) is not None
        }

    def _note_stored(self, number: int, document: Document) -> None:
        if self._clean is None:
            return
        kept = as_kept(document, number, self._clean)
        shingles = document.known_shingles
        # A copy: they may be a part of the array of a whole batch.
        kept.take(shingles=None if shingles is None else shingles.copy())
        self.original.keep(number, kept)

    def _forget(self, number: int) -> None:
        self.original.forget(number)
        self.check.forget(number)


def _signatures_of(
    store: Store, stage: str, known: Sequence[range]
) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
    """The signatures of documents with some numbers, which are ascending ranges."""
    for part in filter(None, known):
        for numbers, signatures in store.signatures(stage, after=part.start - 1):
            count = int(np.searchsorted(numbers, part.stop))
            if count:
                yield numbers[:count], signatures[:count]
            if count < len(numbers):
                break


def _check(document: object) -> None:
    if not isinstance(document, Document):
        raise TypeError(f"document must be a Document, got {shorten(document)}")


class _SignaturesOf(Mapping[str, bytes]):
    """The signatures of a document of a batch by stage, made when they are asked for."""

    def __init__(
        self, signatures: Callable[[Document], dict[str, bytes]], batch: Batch, place: int
    ):
        self._given = signatures, batch, place

    @cached_property
    def _signatures(self) -> dict[str, bytes]:
        signatures, batch, place = self._given
        return signatures(batch.document(place))

    def __getitem__(self, stage: str) -> bytes:
        return self._signatures[stage]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)


class OriginalsCache:
    """Fetches originals, and keeps those used last with the features computed from them."""

    def __init__(self, originals: Originals, *, size_bytes: int) -> None:
        self._originals = originals
        self._capacity_bytes = size_bytes
        self._kept: OrderedDict[int, tuple[Document, int]] = OrderedDict()
        self._kept_bytes = 0

    def __call__(self, number: int) -> Document:
        known = self._kept.get(number)
        if known is None:
            document = self._originals(number)
            self.keep(number, document)
            return document
        document, size_bytes = known
        self._kept.move_to_end(number)
        now = _analysed_bytes(document)
        if now != size_bytes:  # since it was kept, more has been computed
            self._kept[number] = document, now
            self._kept_bytes += now - size_bytes
        return document

    def clear(self) -> None:
        """Forget all originals."""
        self._kept.clear()
        self._kept_bytes = 0

    def kept(self, number: int) -> Document | None:
        """An original, if it is kept."""
        return self._kept[number][0] if number in self._kept else None

    def keep(self, number: int, document: Document) -> None:
        """Keep an original, which has just been fetched, or stored."""
        self.forget(number)
        size_bytes = _analysed_bytes(document)
        self._kept[number] = document, size_bytes
        self._kept_bytes += size_bytes
        while self._kept_bytes > self._capacity_bytes:
            _, (_, size_bytes) = self._kept.popitem(last=False)
            self._kept_bytes -= size_bytes

    def forget(self, number: int) -> None:
        """Fetch this document again when it is next asked for: it has changed."""
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
