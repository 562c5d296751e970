"""A property of characters, computed when a character first occurs."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup.text.codepoints import CodePoints

T = TypeVar("T", bound=np.unsignedinteger[Any])

_BLOCK = 256
_FEW = 8
"""Of this number of characters, one may be above the first block: quotation marks and the like."""


class CharacterTable(Generic[T]):
    """A number for each character, computed with those of its block when one of them first occurs.

    Blocks have 256 characters. The pages of a site have characters of a few, while to compute all
    takes tens of milliseconds to tenths of a second, in each process that reads pages.

    Args:
        compute: from the characters of a block to their numbers, none of them the type's greatest.
        dtype: the type of the numbers.
        size: the table is for code points below; a multiple of 256.
    """

    def __init__(
        self,
        compute: Callable[[str], NDArray[T]],
        dtype: type[T],
        *,
        size: int = 0x110000,
    ) -> None:
        self._compute = compute
        self._unknown = dtype(np.iinfo(dtype).max)
        self._numbers = np.full(size, self._unknown, dtype)
        self._first_block: bytes | None = None

    def __call__(self, codes: CodePoints) -> NDArray[T]:
        """Return the number of each code point.

        If the numbers are bytes, those of code points below 256 take a tenth of the time.
        """
        if self._numbers.dtype != np.uint8:
            return self._looked_up(codes)
        if codes.dtype == np.uint8:
            return self._of_bytes(codes)
        others = np.flatnonzero(codes >= _BLOCK)
        if _FEW * len(others) > len(codes):
            return self._looked_up(codes)
        numbers = self._of_bytes(codes.astype(np.uint8)).copy()
        numbers[others] = self._looked_up(codes[others])
        return numbers

    def _of_bytes(self, codes: CodePoints) -> NDArray[T]:
        if self._first_block is None:
            self._fill(0)
            self._first_block = self._numbers[:_BLOCK].tobytes()
        found: NDArray[Any] = np.frombuffer(codes.tobytes().translate(self._first_block), np.uint8)
        return found

    def _looked_up(self, codes: CodePoints) -> NDArray[T]:
        numbers = self._numbers[codes]
        if len(numbers) and numbers.max() == self._unknown:
            for block in set((codes[numbers == self._unknown] // _BLOCK).tolist()):
                self._fill(block)
            numbers = self._numbers[codes]
        return numbers

    def _fill(self, block: int) -> None:
        first = block * _BLOCK
        characters = "".join(map(chr, range(first, first + _BLOCK)))
        self._numbers[first : first + _BLOCK] = self._compute(characters)
