"""Long texts are hashed in portions: the same hashes, in less memory."""

import random

import numpy as np
import pytest

from dedup.text import codepoints
from dedup.text.character_kinds import character_kinds
from dedup.text.codepoints import code_points, hash_words


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1_000])
@pytest.mark.parametrize("alphabet", ["ab ", "aé ,。漢字\ud800", "a"])
def test_portions_change_no_hash(size: int, alphabet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = random.Random(size)
    for length in (0, 1, size, size + 1, 500):
        codes = code_points("".join(choose.choices(alphabet, k=length)))
        is_word = character_kinds(codes) != 0
        expected = hash_words(codes, is_word)
        with monkeypatch.context() as patch:
            patch.setattr(codepoints, "_CODES_AT_ONCE", size)
            assert np.array_equal(hash_words(codes, is_word), expected)
