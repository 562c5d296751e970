"""Where the characters of a normal text stand in the text that it was made from."""

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.text.character_table import CharacterTable
from dedup.text.codepoints import code_points
from dedup.text.normal import composes_backward, normalise

Spans = NDArray[np.int64]


class Alignment(NamedTuple):
    """A normal text, cut into the pieces that characters became.

    Attributes:
        normal: the text as `normalise` gives it.
        places: where each piece begins in it; at last, the length.
        sources: where each begins in the text; at last, the length.
    """

    normal: str
    places: Spans
    sources: Spans

    def spans(self, starts: Spans, stops: Spans) -> tuple[Spans, Spans]:
        """Where parts of the normal text stand in the text.

        A piece that is only partly in one (`½`, which becomes `1⁄2`) is left out of it.
        """
        begins = self.sources[np.searchsorted(self.places, starts)]
        ends = self.sources[np.searchsorted(self.places, stops, side="right") - 1]
        return begins, np.maximum(begins, ends)


def aligned(text: str) -> Alignment:
    """Normalise a text, and tell where each character came from.

    >>> starts, ends = aligned("Große ½").spans(np.array([0, 6]), np.array([6, 8]))
    >>> starts.tolist(), ends.tolist()
    ([0, 5], [5, 6])
    """
    if text.isascii():
        places = np.arange(len(text) + 1)
        return Alignment(normalise(text), places, places)
    begins = _begins(code_points(text)) == 1
    begins[:1] = True
    sources = np.append(np.flatnonzero(begins), len(text))
    bounds = sources.tolist()
    pieces = [_normal_piece(text[a:b]) for a, b in pairwise(bounds)]
    places = np.zeros(len(sources), np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=places[1:])
    return Alignment("".join(pieces), places, sources)


@lru_cache(maxsize=1 << 14)
def _normal_piece(piece: str) -> str:
    return normalise(piece)


def _begins_of(characters: str) -> NDArray[np.uint8]:
    """Which characters of a block never change, or join, what stands before them."""
    return np.array([not composes_backward(each) for each in characters], np.uint8)


_begins = CharacterTable(_begins_of, np.uint8)
