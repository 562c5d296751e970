"""Long texts are hashed in portions: the same hashes, in less memory."""

import random

import numpy as np
import pytest

from dedup.text import codepoints
from dedup.text.joined_texts import JoinedTexts


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1_000])
@pytest.mark.parametrize("alphabet", ["ab ", "aé ,。漢字\ud800", "a"])
def test_portions_change_no_hash(size: int, alphabet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = random.Random(size)
    for length in (0, 1, size, size + 1, 500):
        text = "".join(choose.choices(alphabet, k=length))
        expected = JoinedTexts([text], unspaced=False).units
        with monkeypatch.context() as patch:
            patch.setattr(codepoints, "_CODES_AT_ONCE", size)
            assert np.array_equal(JoinedTexts([text], unspaced=False).units, expected)
