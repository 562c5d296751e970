"""Documents that are judged together, with what the stages look at as arrays."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document
from dedup.text.joined_texts import JoinedTexts, portions_of
from dedup.text.normal import are_unspaced, normalise_many

_PORTION_CHARACTERS = 1 << 16
"""Of texts that are joined: so few that their arrays, 8 bytes a word or character, stay in the
cache."""
_UNSPACED_CHARACTERS = 1 << 14


@dataclass(frozen=True, slots=True)
class Signatures:
    """The signatures of some documents by one signer.

    Attributes:
        rows: of each document, its bytes from the left; shape (documents, width), uint8.
        lengths: how many these are; 0: it has none.
    """

    rows: NDArray[np.uint8]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, signatures: Sequence[bytes | None]) -> Self:
        """Of signatures that are there one by one."""
        lengths = np.fromiter((len(each or b"") for each in signatures), np.int64, len(signatures))
        width = int(lengths.max(initial=0))
        joined = b"".join((each or b"").ljust(width, b"\0") for each in signatures)
        return cls(np.frombuffer(joined, np.uint8).reshape(len(signatures), width), lengths)

    @classmethod
    def none(cls, count: int) -> Self:
        """Of documents without any."""
        return cls(np.empty((count, 0), np.uint8), np.zeros(count, np.int64))

    @classmethod
    def of_keys(cls, keys: NDArray[np.unsignedinteger[Any]], lengths: NDArray[np.int64]) -> Self:
        """Of rows of keys, of which each document has so many, from the left."""
        keys = np.ascontiguousarray(keys)
        return cls(keys.view(np.uint8).reshape(len(keys), -1), lengths * keys.itemsize)

    def __getitem__(self, place: int) -> bytes | None:
        length = self.lengths[place]
        return self.rows[place, :length].tobytes() if length else None

    def __iter__(self) -> Iterator[bytes | None]:
        return map(self.__getitem__, range(len(self.lengths)))

    def take(self, places: NDArray[np.intp]) -> "Signatures":
        """Those of the documents at some places."""
        return Signatures(self.rows[places], self.lengths[places])


class Portion:
    """Documents in one kind of script whose texts are worked on together."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def texts(self) -> JoinedTexts:
        first = self.documents[0]
        if len(self.documents) == 1:
            return first.words
        texts = [document.normal_text for document in self.documents]
        return JoinedTexts(texts, unspaced=first.is_unspaced)

    @property
    def shingles(self) -> NDArray[np.uint64]:
        """The shingles of all, one document after the other."""
        return self.documents[0].shingles if len(self) == 1 else self.texts.shingles

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many shingles each document has."""
        if len(self) == 1:
            return sizes_of(self.documents)
        return np.diff(self.texts.shingle_bounds)

    @cached_property
    def has_keys(self) -> bool:
        """Has any document a key?"""
        return any(document.key for document in self.documents)

    @cached_property
    def owners(self) -> NDArray[np.intp]:
        """The place of each shingle's document."""
        return np.repeat(np.arange(len(self)), self.sizes)


class PortionSigner(Protocol):
    """What is asked of a `dedup.detectors.Signer`."""

    @property
    def key(self) -> str: ...

    def compute(self, portion: Portion) -> Signatures: ...

    def sign(self, document: Document) -> bytes | None: ...


class Batch:
    """Documents, in the order in which they are judged; each knows its shingles from then on.

    Args:
        documents: those without shingles are analysed here, many at once.
        signatures: of all of them, computed elsewhere, by `Signer.key`.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        signatures: Mapping[str, Signatures] | None = None,
    ) -> None:
        self.documents = documents
        self._signatures = dict(signatures or {})
        self._new = [
            place
            for place, document in enumerate(documents)
            if not (
                document.signatures
                or "shingles" in vars(document)
                or document.needs_rendering  # it gets none
            )
        ]
        self._portions = self._analysed()

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many shingles each document has."""
        return sizes_of(self.documents)

    @property
    def computed(self) -> dict[str, Signatures]:
        """The signatures computed so far."""
        return self._signatures

    def signatures(self, signer: PortionSigner) -> Signatures:
        """The signatures of all documents; computed, many at once, where they are asked first."""
        if signer.key not in self._signatures:
            self._signatures[signer.key] = self._signed(signer)
        return self._signatures[signer.key]

    def part(self, start: int, stop: int) -> "Batch":
        """The documents from one place to another, as a batch."""
        if (start, stop) == (0, len(self)):
            return self
        places = np.arange(start, stop)
        signatures = {key: found.take(places) for key, found in self._signatures.items()}
        return Batch(self.documents[start:stop], signatures)

    def document(self, place: int) -> Document:
        """A document that knows all signatures computed so far."""
        document = self.documents[place]
        for key, found in self._signatures.items():
            document.signatures[key] = found[place]
        return document

    def _signed(self, signer: PortionSigner) -> Signatures:
        if len(self._new) < len(self.documents):
            for places, portion in self._portions:
                found = signer.compute(portion)
                for at, place in enumerate(places.tolist()):
                    self.documents[place].signatures[signer.key] = found[at]
            return Signatures.of(list(map(signer.sign, self.documents)))
        parts = [(places, signer.compute(portion)) for places, portion in self._portions]
        width = max((part.rows.shape[1] for _, part in parts), default=0)
        rows = np.zeros((len(self.documents), width), np.uint8)
        lengths = np.zeros(len(self.documents), np.int64)
        for places, part in parts:
            rows[places, : part.rows.shape[1]] = part.rows
            lengths[places] = part.lengths
        return Signatures(rows, lengths)

    def _analysed(self) -> list[tuple[NDArray[np.intp], Portion]]:
        """The documents that are new, in portions, which know their normal texts and shingles."""
        texts = [self.documents[place].text for place in self._new]
        kinds: dict[bool | None, list[int]] = {None: [], False: [], True: []}
        ascii_places = [at for at, text in enumerate(texts) if text.isascii()]
        normal = list(texts)
        for at in ascii_places:
            normal[at] = texts[at].lower()
        others = sorted(set(range(len(texts))).difference(ascii_places))
        for part in portions_of(others, texts, _PORTION_CHARACTERS):
            found = normalise_many([texts[at] for at in part])
            for at, text, unspaced in zip(part, found, are_unspaced(found), strict=True):
                normal[at] = text
                kinds[unspaced].append(at)
        kinds[None] = ascii_places
        portions = []
        for kind, places in kinds.items():
            limit = _UNSPACED_CHARACTERS if kind else _PORTION_CHARACTERS
            for part in portions_of(places, normal, limit):
                found_at = [self._new[at] for at in part]
                documents = [self.documents[place] for place in found_at]
                texts_of = [normal[at] for at in part]
                portion = Portion(documents)
                portion.texts = JoinedTexts(texts_of, unspaced=bool(kind))
                for document, text, shingles in zip(
                    documents, texts_of, portion.texts.sets(), strict=True
                ):
                    known = vars(document)  # where `cached_property` keeps its values
                    known["normal_text"] = text
                    known["is_unspaced"] = bool(kind)
                    known["shingles"] = shingles
                portions.append((np.array(found_at, np.intp), portion))
        return portions


def sizes_of(documents: Iterable[Document]) -> NDArray[np.int64]:
    """How many shingles each of some documents has."""
    return np.array([len(document.shingles) for document in documents], np.int64)
