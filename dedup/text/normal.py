"""One form for texts that differ only in width, compatibility forms, case or Chinese script."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from opencc import OpenCC

from dedup.text.character_kinds import UNSPACED, character_kinds
from dedup.text.character_table import CharacterTable
from dedup.text.codepoints import CodePoints, code_points, from_code_points, joined

_BETWEEN = "\0"

_MARKS_KEPT = 30
"""Combining marks kept in a row: the Stream-Safe Text Format of Unicode Annex 15, section 13."""

_INVOLVED = np.uint32(0xFFFF_FFFE)
"""Marks a character that has to be normalised in full, together with its neighbours."""

_TABLE_SIZE = 0x1_0000
_MAX_LATIN = 255

_TRADITIONAL_SHARE = 0.05

_HAN = (range(0x3400, 0xA000), range(0x20000, 0x32000))
"""Blocks of unified ideographs. Compatibility ones are replaced by NFKC."""


def normalise(text: str) -> str:
    """Return `text` after NFKC, case folding, and traditional Chinese characters simplified.

    Full-width letters become half-width, ligatures are taken apart, `STRASSE` equals `straße`.
    Characters are simplified one by one (OpenCC's table): words that Taiwan or Hong Kong chose for
    themselves stay. Normalising twice changes nothing more.
    Never raises, lone surrogates included. Of a run of more than 30 combining marks the rest is
    dropped: ordering them takes quadratic time, and a page of marks alone would hold up a crawl.

    >>> normalise("Ｆｕｌｌ Width，Straße"), normalise("簡體與繁體")
    ('full width,strasse', '简体与繁体')
    """
    if text.isascii():
        return text.lower()
    codes = code_points(text)
    if codes.dtype == np.uint8 and (found := _normalise_latin(codes.tobytes())) is not None:
        return found
    simple, involved = _simple_and_involved(codes)
    if not len(involved):
        return from_code_points(simple)
    if len(involved) > len(text) // 8:
        return _normalise_by_the_book(text)
    return _normalise_runs(text, simple, involved)


def normalise_many(texts: Sequence[str]) -> list[str]:
    """Return what `normalise` returns for each of some texts.

    They are normalised together, with a character between them that composes with nothing: for
    short texts several times as fast.
    """
    found = normalise(_BETWEEN.join(texts)).split(_BETWEEN)
    if len(found) != len(texts):  # one has the character itself, or there are none
        return list(map(normalise, texts))
    return found


def is_unspaced(normal_text: str) -> bool:
    r"""Tell whether over half of the `\w` characters belong to scripts without word spaces.

    These are Han, kana, bopomofo, Thai, Lao, Khmer and Myanmar. Korean puts spaces between words.
    A text without any `\w` character counts as spaced.

    >>> is_unspaced("两个版本 v2"), is_unspaced("the word 两个字"), is_unspaced("")
    (True, False, False)
    """
    try:
        normal_text.encode("latin-1")  # the fastest way to find that it has none of them
    except UnicodeEncodeError:
        pass
    else:
        return False
    kinds = character_kinds(code_points(normal_text))
    return 2 * int(np.count_nonzero(kinds == UNSPACED)) > int(np.count_nonzero(kinds))


def are_unspaced(normal_texts: Sequence[str]) -> list[bool]:
    """Return what `is_unspaced` returns for each of some texts."""
    text, starts = joined(normal_texts)
    codes = code_points(text)
    if codes.dtype == np.uint8:  # none of these scripts has characters below 256
        return [False] * len(normal_texts)
    kinds = character_kinds(codes)
    unspaced, every = (
        np.add.reduceat(each, starts[:-1], dtype=np.int64)
        for each in (kinds == UNSPACED, kinds != 0)
    )
    found: list[bool] = (2 * unspaced > every).tolist()
    return found


def is_traditional(text: str) -> bool:
    """Tell whether over a twentieth of the Chinese characters have another simplified form.

    In traditional texts it is a third, in simplified ones almost none.

    >>> is_traditional("簡體與繁體"), is_traditional("简体与繁体"), is_traditional("kanji")
    (True, False, False)
    """
    if text.isascii():
        return False
    codes = code_points(text)
    han = codes[(codes >= _HAN[0].start) & (codes < _HAN[0].stop)].astype(np.uint32)
    changed = int(np.count_nonzero(_simple_characters(han) != han))
    return changed > _TRADITIONAL_SHARE * len(han)


def words(normal_text: str) -> list[str]:
    r"""Return the runs of `\w` characters in their order.

    >>> words("it's 3.14, 对吗?")
    ['it', 's', '3', '14', '对吗']
    """
    return re.findall(r"\w+", normal_text)


def composes_backward(character: str) -> bool:
    """May a character, or its normal form, join or change one before it?

    Before any other, a text can be cut: its parts are normalised as in the whole.
    """
    composing = _characters_that_compose_backward()
    return character in composing or _normalise_by_the_book(character)[:1] in composing


def _normalise_by_the_book(text: str) -> str:
    text = _long_mark_runs().sub(r"\1", text)
    # Folding may leave a text decomposed, or with a mark that folds further (U+0345): twice.
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    return folded.translate(_simplified)


def _simple_and_involved(codes: CodePoints) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Return what each character becomes, and the places of those that are `_INVOLVED`.

    Bytes are translated several times as fast as characters are looked up in a table.
    """
    becoming, is_other = _latin_tables()
    latin = codes.astype(np.uint8).tobytes()
    others = np.flatnonzero(
        (codes > _MAX_LATIN) | (np.frombuffer(latin.translate(is_other), np.uint8) != 0)
    )
    simple = np.frombuffer(latin.translate(becoming), np.uint8).astype(np.uint32)
    found = _simple_characters(np.minimum(codes[others], np.uint32(_TABLE_SIZE)))
    simple[others] = found
    return simple, others[found == _INVOLVED]


def _normalise_latin(text: bytes) -> str | None:
    """A normal text of code points below 256; None: one of them becomes another."""
    simple, is_other = _latin_tables()
    if b"\1" in text.translate(is_other):
        return None
    return text.translate(simple).decode("latin-1")


@cache
def _latin_tables() -> tuple[bytes, bytes]:
    """What each code point below 256 becomes, and whether that is something else than one such."""
    simple = _simple_characters(np.arange(256, dtype=np.uint32))
    return np.minimum(simple, 255).astype(np.uint8).tobytes(), (simple > 255).tobytes()


def _normalise_runs(text: str, simple: NDArray[np.uint32], involved: NDArray[np.intp]) -> str:
    """Normalise by the book each run of involved characters with the simple one before it.

    A simple character composes with nothing before it, so a run ends where the next one starts.
    On Chinese pages, where the punctuation is full-width, this takes a thirtieth of the time.
    """
    breaks = np.flatnonzero(np.diff(involved) > 1)
    first_places = involved[np.concatenate(([0], breaks + 1))]
    last_places = involved[np.concatenate((breaks, [len(involved) - 1]))]
    pieces, done = [], 0
    for first, last in zip(first_places.tolist(), last_places.tolist(), strict=True):
        start = max(first - 1, done)
        pieces.append(from_code_points(simple[done:start]))
        pieces.append(_normalise_by_the_book(text[start : last + 1]))
        done = last + 1
    pieces.append(from_code_points(simple[done:]))
    return "".join(pieces)


class _Simplified(dict[int, int]):
    """The simplified character of each, found for a block of 256 when one of them is asked for."""

    def __missing__(self, code: int) -> int:
        if not any(code in block for block in _HAN):
            self[code] = code
            return code
        first = code & ~0xFF
        characters = [chr(each) for each in range(first, first + 0x100)]
        simplified = _simplified_one_by_one(characters)
        self.update(zip(map(ord, characters), map(ord, simplified), strict=True))
        return self[code]


_simplified = _Simplified()


def _simplified_one_by_one(characters: Iterable[str]) -> list[str]:
    simplified, again = "\n".join(characters), ""
    while simplified != again:  # a few are simplified in two steps
        again = simplified
        simplified = _to_simplified().convert(again)
    return simplified.split("\n")


@cache
def _to_simplified() -> OpenCC:
    return OpenCC("t2s")


@cache
def _long_mark_runs() -> re.Pattern[str]:
    """Match a run of too many combining marks; group 1 is what stays of it."""
    return re.compile(f"([{_marks()}]{{{_MARKS_KEPT}}})[{_marks()}]+")


def _simple_characters_of(characters: str) -> NDArray[np.uint32]:
    """Return what each character of a block becomes, where that is one character.

    All others, what composes with a character before it, and all characters beyond the first plane
    are `_INVOLVED`.
    """
    simple = np.full(len(characters), _INVOLVED)
    if ord(characters[0]) >= _TABLE_SIZE:
        return simple
    composing = _characters_that_compose_backward()
    separator = "\U0010ffff"  # composes with nothing: all of them are normalised in one call
    normals = _normalise_by_the_book(separator.join(characters)).split(separator)
    for place, (character, normal) in enumerate(zip(characters, normals, strict=True)):
        if len(normal) == 1 and character not in composing and normal not in composing:
            simple[place] = ord(normal)
    return simple


_simple_characters = CharacterTable(_simple_characters_of, np.uint32, size=_TABLE_SIZE + 0x100)


@cache
def _characters_that_compose_backward() -> frozenset[str]:
    characters = set(map(chr, range(0x1100, 0x1200)))  # Hangul letters compose by arithmetic
    characters.update(_marks())
    for decomposition in filter(None, map(unicodedata.decomposition, _composing_planes())):
        parts = decomposition.split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            characters.add(chr(int(parts[1], 16)))
    return frozenset(characters)


@cache
def _marks() -> str:
    return "".join(filter(unicodedata.combining, _composing_planes()))


@cache
def _composing_planes() -> str:
    """Where characters compose: the first two planes, without ideographs, Hangul and private use.

    Combining marks beyond are tags and variation selectors, of combining class 0.
    """
    blocks = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x20000))
    return "".join(from_code_points(np.arange(*block, dtype="<u4")) for block in blocks)
