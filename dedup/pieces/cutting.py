"""Cuts the markup of a page's own text into pieces.

A section, from a heading to the next one, is never joined with another. One that is too long is cut
at boundaries that its content chooses: each boundary has a rank, by its level and by the hash of
the words behind it; it is cut if from the nearest boundary of a lower rank before it to the nearest
one behind it there are more words than a piece may have. What is further away than that has no
influence, so a paragraph that is added changes only the pieces around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import xxhash

from dedup.fields.markdown import to_markdown
from dedup.pieces.atoms import Atom
from dedup.pieces.markup import atoms_of
from dedup.pieces.words import Count, count_words, id_of, words_of


class Piece(NamedTuple):
    """A piece of a page.

    Attributes:
        id: the same for the same words, on whatever page; see `dedup.pieces.words.id_of`.
        text: Markdown, without the addresses of links, and without images.
        headings: those that it stands under, from the outermost one; its own included.
    """

    id: str
    text: str
    headings: tuple[str, ...]


def cut(markup: str, size: int, count: Count = count_words) -> list[Piece]:
    r"""Return the pieces of a page's own markup in their order.

    Only a row of a table, a program, a formula or a sentence may be longer than a piece should be,
    or a heading with one of these.

    Args:
        markup: see `dedup.fields.own_markup`.
        size: how long a piece may be.
        count: the length of a text.

    >>> [piece.text for piece in cut("<h2>A</h2>One.<h2>B</h2><p>Two.<p>Three words more.", 3)]
    ['## A\n\nOne.', '## B\n\nTwo.', 'Three words more.']
    """
    sections = _sections(atoms_of(markup, count))
    return [_piece(part) for section in sections for part in _parts(section, size)]


def _sections(atoms: Sequence[Atom]) -> Iterator[Sequence[Atom]]:
    starts = [place for place, atom in enumerate(atoms) if atom.level is None]
    for first, end in pairwise([*starts, len(atoms)]):
        yield atoms[first:end]


def _parts(atoms: Sequence[Atom], size: int) -> Iterator[Sequence[Atom]]:
    for first, end in pairwise([0, *_cuts(atoms, size), len(atoms)]):
        yield atoms[first:end]


def _cuts(atoms: Sequence[Atom], size: int) -> list[int]:
    """The atoms of a section that pieces begin with, without the first one."""
    sums = [0, *accumulate(atom.length for atom in atoms)]
    if sums[-1] <= size:
        return []
    ranks = [(atom.level or 0, xxhash.xxh3_64_intdigest(_bytes(atom.words))) for atom in atoms]
    before, behind = _lower(ranks)
    return [
        place for place in range(1, len(atoms)) if sums[behind[place]] - sums[before[place]] > size
    ]


def _lower(ranks: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The nearest places of lower ranks before and behind each place.

    Of equal ranks the first is the lowest. The first place, and the one behind the last, are lower
    than all others.
    """
    before, behind = [0] * len(ranks), [len(ranks)] * len(ranks)
    waiting = [0]
    for place in range(1, len(ranks)):
        while len(waiting) > 1 and ranks[place] < ranks[waiting[-1]]:
            behind[waiting.pop()] = place
        before[place] = waiting[-1]
        waiting.append(place)
    return before, behind


def _piece(atoms: Sequence[Atom]) -> Piece:
    first = atoms[0]
    words = filter(None, [words_of(first.start_text), *(atom.words for atom in atoms)])
    markup = first.start + "".join(atom.markup for atom in atoms)
    return Piece(id_of(" ".join(words)), to_markdown(markup, ""), first.headings)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
