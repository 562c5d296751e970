"""The characters of words, and those of scripts without spaces between words."""

import re

import numpy as np
from numpy.typing import NDArray

from dedup.text.character_table import CharacterTable

WORD, UNSPACED = 1, 2
r"""Kinds of `\w` characters; 0 is every other character."""

UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # Han iteration mark and zero
    (0x3041, 0x312F),  # hiragana, katakana, bopomofo
    (0x31A0, 0x31FF),  # their extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, the later extensions
)


def _kinds_of(characters: str) -> NDArray[np.uint8]:
    kinds = np.zeros(len(characters), np.uint8)
    for run in re.finditer(r"\w+", characters):
        kinds[run.start() : run.end()] = WORD
    start = ord(characters[0])
    for first, last in UNSPACED_RANGES:
        kinds[max(first - start, 0) : max(last + 1 - start, 0)] *= UNSPACED
    return kinds


character_kinds = CharacterTable(_kinds_of, np.uint8)
r"""0, `WORD` or `UNSPACED` for each code point; not 0 is what `\w` matches."""
