"""The hashes of the longest sentences of many texts are those of each text's."""

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup.text import longest_sentences
from dedup.text.joined_texts import JoinedTexts
from dedup.text.sentences import NO_SENTENCE, hash_longest_sentences

texts_of_few_letters = st.lists(
    st.text("ab .…!?\n好。 1٣©", max_size=40) | st.sampled_from(["(c) x. y!", "a. a. a. b.", ""]),
    max_size=6,
)


def hashes(text: str, count: int) -> set[int]:
    """The definition, one sentence after the other."""
    found = longest_sentences(text, count)
    return {xxhash.xxh3_64_intdigest(each.encode(errors="surrogatepass")) for each in found}


@given(texts_of_few_letters, st.integers(1, 4))
def test_hashes_are_those_of_each_texts_longest_sentences(texts: list[str], count: int) -> None:
    for unspaced in (False, True):
        found = hash_longest_sentences(JoinedTexts(texts, unspaced=unspaced), count)
        assert found.shape == (len(texts), count)
        rows = [set(row.tolist()) - {int(NO_SENTENCE)} for row in found]
        assert rows == [hashes(text, count) for text in texts]


def test_no_text_has_no_sentence() -> None:
    assert np.array_equal(
        hash_longest_sentences(JoinedTexts([""], unspaced=False), 2), [[NO_SENTENCE] * 2]
    )
