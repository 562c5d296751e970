import pytest

from dedup.fingerprints.w_shingles import w_shingles
from dedup.resemblance import containment, resemblance

ROSE = "a rose is a rose is a rose"


def bag_of(text, width):
    """The shingles as tuples of words, each with its occurrence."""
    words = text.split()
    found, seen = set(), []
    for start in range(len(words) - width + 1):
        shingle = tuple(words[start : start + width])
        found.add((shingle, seen.count(shingle)))
        seen.append(shingle)
    return found


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 9])
def test_rose_has_as_many_shingles_as_tuples_of_words(width):
    """With w = 4, Broder's example: three shingles in the set, five in the bag."""
    bag = bag_of(ROSE, width)
    assert len(w_shingles(ROSE, width)) == len({shingle for shingle, _ in bag})
    assert len(w_shingles(ROSE, width, as_bag=True)) == len(bag)


@pytest.mark.parametrize("as_bag", [False, True])
def test_resemblance_and_containment_are_those_of_the_tuples(as_bag):
    first, second = ROSE, "a rose is a rose"
    bags = [bag_of(text, 4) for text in (first, second)]
    if not as_bag:
        bags = [{shingle for shingle, _ in bag} for bag in bags]
    shared, every = len(bags[0] & bags[1]), len(bags[0] | bags[1])
    hashes = [w_shingles(text, 4, as_bag=as_bag) for text in (first, second)]
    assert resemblance(*hashes) == shared / every
    assert containment(hashes[1], hashes[0]) == 1.0
    assert containment(*hashes) == shared / len(bags[0])


def test_set_does_not_see_repetition_but_the_bag_does():
    """Broder: with w = 3, the longer rose resembles the shorter one by 1; their bags do not."""
    longer, shorter = ROSE, "a rose is a rose"
    assert resemblance(w_shingles(longer, 3), w_shingles(shorter, 3)) == 1.0
    assert resemblance(*(w_shingles(t, 3, as_bag=True) for t in (longer, shorter))) == 0.5


def test_unspaced_texts_have_shingles_of_characters():
    assert len(w_shingles("玫瑰，玫瑰玫瑰", 2, unspaced=True)) == 2


def test_width_must_be_positive():
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        w_shingles(ROSE, 0)
