import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dedup.text.character_kinds import UNSPACED, WORD, character_kinds
from dedup.text.character_table import CharacterTable
from dedup.text.codepoints import code_points


@pytest.fixture
def blocks():
    return []


@pytest.fixture
def low_bytes(blocks):
    """A table of the lower seven bits, which notes what it computes."""

    def compute(characters):
        blocks.append(ord(characters[0]))
        return np.array([ord(character) & 0x7F for character in characters], np.uint8)

    return CharacterTable(compute, np.uint8)


def test_each_block_is_computed_once_and_when_it_is_asked_for(low_bytes, blocks):
    for text in ("", "plain", "中文 and 文", "plain", "中文", "é"):
        codes = code_points(text)
        assert_array_equal(low_bytes(codes), codes & 0x7F)
    assert sorted(blocks) == [0x0000, 0x4E00, 0x6500]


def test_bytes_and_code_points_agree(low_bytes):
    codes = np.arange(256)
    assert_array_equal(low_bytes(codes.astype(np.uint8)), low_bytes(codes.astype(np.uint32)))


def test_a_few_characters_above_the_first_block_are_looked_up_by_themselves(low_bytes, blocks):
    codes = code_points("a “plain” text, é, 中 …" + "." * 30)
    assert_array_equal(low_bytes(codes), codes & 0x7F)
    assert sorted(blocks) == [0x0000, 0x2000, 0x4E00]


def test_numbers_may_be_wider_than_bytes():
    table = CharacterTable(lambda text: code_points(text) + np.uint32(7), np.uint32)
    codes = code_points("aé中😀")
    assert_array_equal(table(codes), codes + 7)


def test_code_points_beyond_the_table_are_refused(low_bytes):
    with pytest.raises(IndexError):
        low_bytes(np.array([0x110000], np.uint32))


def test_kinds_are_those_of_every_character():
    codes = np.arange(0x110000, dtype=np.uint32)
    kinds = character_kinds(codes)
    assert_array_equal(kinds != 0, [re.match(r"\w", chr(code)) is not None for code in codes])
    assert [kinds[ord(character)] for character in "aß한中がก -"] == [WORD] * 3 + [UNSPACED] * 3 + [
        0,
        0,
    ]
