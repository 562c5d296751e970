"""What goes into a detector and what comes out of it.

A `Document` computes each of its features once, when first asked; detectors that need the same
feature share it. Inside an index a document is known by its *number*, the row of its page in the
store; `id` is the caller's own name for it.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dedup.text import is_traditional, is_unspaced, normalise
from dedup.text.joined_texts import JoinedTexts

if TYPE_CHECKING:
    from dedup.sites.second_look import Rest

_ENOUGH_WORDS = 50

_TEXTS = ("text", "title", "heading", "key")

TextSource = Literal["given", "box", "document", "landmark", "page", "shell", "state"]


@dataclass(frozen=True, eq=False)
class Document:
    """A page's main text, and what else the detectors look at.

    Attributes:
        id: the caller's name for the document; unique in its collection.
        text: the main text, without markup.
        url: where it came from, for the record; no detector compares URLs.
        title: compared, with the text, where the text is too short for fingerprints.
        body: the raw bytes, where there are any (the `body` detector compares them).
        heading: the page's own, where it has one; with the title it is the page's name.
        own_title: the title without the part that all titles of the site share; None: unchanged.
        source: where the text comes from. `given`: from the caller, who vouches that it is the
            document's own; `box`: a learned content box; `document`: a document that is not
            HTML; `landmark`: what the page itself declares to be its article or main part; `page`:
            rules, or all that is visible. In these two there may be text that all pages of the
            site have. `shell`: the page has no text of its own before its scripts run; `state`:
            neither has this one, and its text is from the data from which scripts make it.
        key: the document's other fields, see `dedup.keys.key_of`: documents with different keys are
            never duplicates.
        rest: what is rare on the page around the text; None: there is no page around it.
        signatures: those that have been computed, by `dedup.detectors.signing.Signer.key`.

    Raises:
        TypeError: a text is not a `str`, or the body is one; the message names the argument.
    """

    id: str
    text: str
    url: str | None = None
    title: str = ""
    body: bytes | None = None
    heading: str = ""
    own_title: str | None = None
    source: TextSource = "given"
    key: str = ""
    rest: "Rest | None" = None
    signatures: dict[str, bytes | None] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not (type(self.text) is type(self.title) is type(self.heading) is type(self.key) is str):
            for name in _TEXTS:
                if not isinstance(value := getattr(self, name), str):
                    raise TypeError(f"{name} must be a str, got {shorten(value)}")
        if isinstance(self.body, str):
            raise TypeError(f"body must be bytes or None, got {shorten(self.body)}")

    @classmethod
    def of_fields(cls, **fields: Any) -> Self:
        """A document of fields that have the right types: they are not checked, which is faster.

        Those that are not given have their defaults.
        """
        document = object.__new__(cls)
        fields["signatures"] = {}
        object.__setattr__(document, "__dict__", fields)
        return document

    @property
    def has_own_text(self) -> bool:
        """Is the text surely the document's own, without furniture of its site?"""
        return self.source in ("given", "box", "document")

    @property
    def needs_rendering(self) -> bool:
        """Does the page show its text only in a browser? Then no detector looks at it."""
        return self.source in ("shell", "state")

    @cached_property
    def normal_text(self) -> str:
        """The text as `normalise` gives it: width, case and Chinese script do not count."""
        return normalise(self.text)

    @cached_property
    def is_unspaced(self) -> bool:
        """Is the text mostly in a script without spaces between words (Chinese, Japanese, Thai)?"""
        return is_unspaced(self.normal_text)

    @cached_property
    def is_traditional(self) -> bool:
        """Is the text in traditional Chinese characters?"""
        return is_traditional(self.text)

    @cached_property
    def sorted_lines(self) -> str | None:
        """The lines of the normal text in ascending order; None: fewer than 50 words in all.

        In a script without spaces between words, characters count.
        """
        count = len(self.normal_text if self.is_unspaced else self.words.units)
        return "\n".join(sorted(self.normal_text.splitlines())) if count >= _ENOUGH_WORDS else None

    @cached_property
    def words(self) -> JoinedTexts:
        """The words, or characters, of the normal text."""
        return JoinedTexts([self.normal_text], unspaced=self.is_unspaced)

    @cached_property
    def shingles(self) -> NDArray[np.uint64]:
        """The 64-bit hashes of the set of shingles, ascending, without repeats."""
        return self.words.shingles

    def take(
        self,
        *,
        shingles: NDArray[np.uint64] | None = None,
        signatures: Mapping[str, bytes | None] | None = None,
    ) -> None:
        """Take features computed elsewhere, so that they are not computed again.

        Args:
            shingles: as the property of this name.
            signatures: see the attribute.
        """
        if shingles is not None:
            self.__dict__["shingles"] = shingles  # where `cached_property` keeps its values
        if signatures is not None:
            self.signatures.update(signatures)

    @property
    def known_shingles(self) -> NDArray[np.uint64] | None:
        """The shingles, where they have been computed or taken; None: not yet."""
        found: NDArray[np.uint64] | None = self.__dict__.get("shingles")
        return found

    def with_key(self, key: str) -> Self:
        """The document with another key, and with what has been computed of its text."""
        found = copy(self)
        vars(found).update(key=key, signatures={})  # they depend on the key
        return found


@dataclass(frozen=True, slots=True)
class Match:
    """An earlier document that this one duplicates.

    Attributes:
        original: the number of the earlier document.
        stage: the detector that found it, by default `body`, `text`, `sentences`, `simhash` or
            `minhash`.
        distance: Hamming distance of the fingerprints in bits, or None where the stage has none.
        resemblance: Jaccard coefficient of the shingle sets, 0 to 1, or None where not computed.
    """

    original: int
    stage: str
    distance: int | None = None
    resemblance: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a document: stored under `number`, or a duplicate as `match` says."""

    number: int | None
    match: Match | None

    @property
    def is_duplicate(self) -> bool:
        return self.match is not None
