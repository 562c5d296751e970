"""The words of a piece: how many it has, and the id that they give it."""

import hashlib
import re
from collections.abc import Callable
from uuid import UUID

from dedup.text.character_kinds import UNSPACED_RANGES
from dedup.text.normal import normalise

Count = Callable[[str], int]
"""The length of a text in words, or in what else pieces are measured by."""

_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)
_COUNTED = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

_PUNCTUATION = re.escape(
    """.,;:!?…'"`()[]{}、。，；：！？「」『』《》〈〉【】〔〕“”‘’«»„‚‹›·•¿¡‐‑–—―-"""
)
_WORD = re.compile(rf"\w+|(?<!\w)-(?=\d)|[^\w\s{_PUNCTUATION}]")
"""Words, signs before numbers, and symbols: `C#` is not `C++`, and `x < 5` not `x > 5`."""


def count_words(text: str) -> int:
    """The number of words; in scripts without spaces between words, of characters.

    >>> count_words("it is 3 o'clock"), count_words("两个版本 v2")
    (5, 5)
    """
    return sum(1 for _ in _COUNTED.finditer(text))


def words_of(text: str) -> str:
    """The words of a text in one form, whatever its case, width, punctuation and white space.

    >>> words_of("Full Width, C#; Ｗｉｄｅ")
    'full width c # wide'
    """
    return " ".join(_WORD.findall(normalise(text)))


def words_of_program(text: str) -> str:
    """The words of a program, in which every character but white space counts."""
    return " ".join(text.split())


def id_of(words: str) -> str:
    """The id of a piece with these words: a UUID, which vector stores take as ids.

    Its version is 8 (RFC 9562, 5.8): 122 bits of BLAKE2b.
    """
    digest = hashlib.blake2b(words.encode(errors="surrogatepass"), digest_size=16).digest()
    bits = int.from_bytes(digest) & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62
    return str(UUID(int=bits))
