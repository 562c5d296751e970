"""Collects what stands on a line, and writes it as Markdown."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from dedup.fields.markdown.escaping import destination, escaped, escaped_line_start, fenced

TEXT: Final = "text"
RAW: Final = "raw"
CODE: Final = "code"
BREAK: Final = "break"
OPEN: Final = "open"
CLOSE: Final = "close"

LINK: Final = "["
"""The mark of a link; other marks are those of emphasis, such as `**`."""

_SPACES = re.compile(r"\s+")
_FORMULA = re.compile(
    r"""\\\((?P<inline>(?:(?!\\\().)+?)\\\) | \\\[(?P<display>(?:(?!\\\[).)+?)\\\]
      | \$\$(?P<dollars>[^$]+)\$\$
      | (?<![\\$\w])\$(?P<dollar>(?=[^$]*[\\^_{])[^\s$](?:[^$]*[^\s$\\])?)\$(?![\d$])""",
    re.DOTALL | re.VERBOSE,
)
"""TeX in a text, which scripts would find there."""


@dataclass(slots=True)
class _Piece:
    """A piece of a line.

    Attributes:
        value: its text; of the beginning and end of a link or of emphasis, its mark.
        url: of the end of a link.
        outside: punctuation that was moved out of the emphasis which begins or ends here.
    """

    kind: str
    value: str
    url: str = ""
    outside: str = ""

    @property
    def is_mark(self) -> bool:
        return self.kind in (OPEN, CLOSE)


class Inline:
    """The pieces of a paragraph, and the links and emphasis around what comes next."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._around: list[_Piece] = []
        self._has_space = False

    def is_in(self, mark: str) -> bool:
        return any(each.value == mark for each in self._around)

    @property
    def ends_with_break(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].kind == BREAK

    def begin(self, mark: str, url: str = "") -> None:
        piece = _Piece(OPEN, mark, url)
        self._around.append(piece)
        self._add(piece)

    def end(self) -> None:
        piece = self._around.pop()
        self._pieces.append(_Piece(CLOSE, piece.value, piece.url))

    def add_text(self, text: str) -> None:
        """Add text, of which white space is folded; formulae of scripts become formulae."""
        start = 0
        for found in _FORMULA.finditer(text) if "\\" in text or "$" in text else ():
            self._add_words(text[start : found.start()])
            is_display = found["display"] is not None or found["dollars"] is not None
            self.add_formula(next(filter(None, found.groups())), is_display=is_display)
            start = found.end()
        self._add_words(text[start:])

    def _add_words(self, text: str) -> None:
        words = _SPACES.sub(" ", text)
        if words.startswith(" "):
            self.add_space()
            words = words[1:]
        if words:
            self._add(_Piece(TEXT, words.removesuffix(" ")))
            self._has_space = words.endswith(" ")

    def add_space(self) -> None:
        """Words before and after this are separate."""
        self._has_space = True

    def add_code(self, text: str) -> None:
        text = _SPACES.sub(" ", text)
        if not text.strip():
            self._has_space |= bool(text)
        elif self._pieces and self._pieces[-1].kind == CODE and not self._has_space:
            self._pieces[-1].value += text
        else:
            self._add(_Piece(CODE, text))

    def add_formula(self, tex: str, *, is_display: bool) -> None:
        tex = " ".join(tex.split())
        if tex:
            self.add_raw(f"$${tex}$$" if is_display else f"${tex}$")

    def add_raw(self, markdown: str) -> None:
        self._add(_Piece(RAW, markdown))

    def add_break(self) -> None:
        self._pieces.append(_Piece(BREAK, ""))
        self._has_space = False

    def _add(self, piece: _Piece) -> None:
        """Add a piece; a space in front of it belongs in front of links and emphasis, too."""
        if self._has_space:
            place = len(self._pieces)
            while place and self._pieces[place - 1].kind == OPEN:
                place -= 1
            self._pieces.insert(place, _Piece(TEXT, " "))
            self._has_space = False
        self._pieces.append(piece)

    def take(self, *, in_cell: bool = False, is_one_line: bool = False) -> str:
        """Return the paragraph as Markdown, and begin the next one.

        Links and emphasis that are still open end with it, and begin again.

        Args:
            in_cell: is it the content of a table's cell?
            is_one_line: are breaks spaces?
        """
        pieces = [*self._pieces, *(_Piece(CLOSE, e.value, e.url) for e in reversed(self._around))]
        self._pieces = list(self._around)
        self._has_space = False
        found = _tidied(pieces)
        return _Line(found, in_cell=in_cell, is_one_line=is_one_line).written() if found else ""


def _tidied(pieces: list[_Piece]) -> list[_Piece]:
    """Without spaces at edges, repeated breaks, and marks with nothing between them."""
    found: list[_Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if piece.kind == TEXT and piece.value == " " and _is_edge(last):
            continue
        if piece.kind == BREAK:
            while found and found[-1].kind == TEXT and found[-1].value == " ":
                found.pop()
            if all(each.is_mark for each in found):
                continue
        elif piece.kind == CLOSE and last is not None and last.kind == OPEN:
            found.pop()
            continue
        elif (
            piece.kind == OPEN
            and last is not None
            and last.kind == CLOSE
            and last.value == piece.value != LINK
        ):
            found.pop()  # emphasis goes on
            continue
        found.append(piece)
    while found and found[-1].kind in (BREAK, TEXT) and not found[-1].value.strip():
        found.pop()
    return _balanced(found)


def _is_edge(last: _Piece | None) -> bool:
    """Is a space behind this piece not seen?"""
    return last is None or last.kind == BREAK or (last.kind == TEXT and last.value == " ")


def _balanced(pieces: list[_Piece]) -> list[_Piece]:
    """Drop marks whose partner is missing."""
    waiting: list[int] = []
    is_kept = [True] * len(pieces)
    for number, piece in enumerate(pieces):
        if piece.kind == OPEN:
            waiting.append(number)
        elif piece.kind == CLOSE:
            is_pair = bool(waiting) and pieces[waiting[-1]].value == piece.value
            is_kept[number] = is_pair
            if is_pair:
                waiting.pop()
    for number in waiting:
        is_kept[number] = False
    return [piece for piece, kept in zip(pieces, is_kept, strict=True) if kept]


class _Line:
    """Writes the pieces of a paragraph."""

    def __init__(self, pieces: list[_Piece], *, in_cell: bool, is_one_line: bool) -> None:
        self._pieces = pieces
        self._in_cell, self._is_one_line = in_cell, is_one_line
        self._drop_wrong_emphasis()

    def written(self) -> str:
        texts = [piece.value for piece in self._pieces if piece.kind == TEXT]
        formulas = any(p.kind == RAW and p.value.startswith("$") for p in self._pieces)
        self._has_formulas = formulas or sum(text.count("$") for text in texts) > 1
        depth = 0
        found: list[str] = []
        for number, piece in enumerate(self._pieces):
            if piece.value == LINK and piece.is_mark:
                depth += 1 if piece.kind == OPEN else -1
            found.append(self._piece(number, piece, in_link=depth > 0))
        lines = "".join(found).split("\n")
        if self._in_cell:
            return "".join(lines).strip()
        first = 1 if self._pieces[0].kind == RAW else 0  # a box to be ticked is none of the text
        lines[first:] = map(escaped_line_start, lines[first:])
        return "\n".join(lines).strip()

    def _piece(self, number: int, piece: _Piece, *, in_link: bool) -> str:
        match piece.kind:
            case "text":
                return self._text(number, piece.value, in_link=in_link)
            case "code":
                return fenced(piece.value, in_cell=self._in_cell)
            case "break":
                return "<br>" if self._in_cell else " " if self._is_one_line else "  \n"
            case "raw":
                return piece.value.replace("|", "\\|") if self._in_cell else piece.value
        if piece.value != LINK:
            outside = self._escaped(piece.outside, "", in_link=in_link)
            return outside + piece.value if piece.kind == OPEN else piece.value + outside
        if piece.kind == OPEN:
            return LINK
        return f"]({destination(piece.url, in_cell=self._in_cell)})"

    def _text(self, number: int, text: str, *, in_link: bool) -> str:
        after = self._pieces[number + 1 : number + 2]
        is_known = bool(after) and (after[0].kind == TEXT or after[0].value == LINK)
        follows = after[0].value[:1] if is_known else ""
        return self._escaped(text, follows, in_link=in_link)

    def _escaped(self, text: str, follows: str, *, in_link: bool) -> str:
        found = escaped(text, follows=follows, in_link=in_link, has_formulas=self._has_formulas)
        return found.replace("|", "\\|") if self._in_cell else found

    def _drop_wrong_emphasis(self) -> None:
        """Drop emphasis that would not be read as such, after moving punctuation out of it.

        Source: CommonMark 6.2, left- and right-flanking delimiter runs.
        """
        waiting: list[int] = []
        for number, piece in enumerate(self._pieces):
            if piece.kind == OPEN:
                waiting.append(number)
            elif piece.kind == CLOSE:
                begin = waiting.pop()
                if piece.value != LINK and not self._is_read(begin, number):
                    for each in (begin, number):
                        self._pieces[each] = _Piece(TEXT, self._pieces[each].outside)

    def _is_read(self, begin: int, end: int) -> bool:
        before, after = self._beside(begin, -1), self._beside(end, 1)
        if _is_word(before):
            self._move_out(begin, begin + 1)
        if _is_word(after):
            self._move_out(end, end - 1)
        first, last = self._beside(begin, 1), self._beside(end, -1)
        return not (
            _is_space(first)
            or _is_space(last)
            or (_is_punctuation(first) and _is_word(before))
            or (_is_punctuation(last) and _is_word(after))
        )

    def _move_out(self, mark: int, inside: int) -> None:
        """Move punctuation from the edge of emphasis out of it: 「**注意：**x」 is not read."""
        piece = self._pieces[inside]
        if piece.kind != TEXT:
            return
        is_end = inside < mark
        length = _leading_punctuation(piece.value[::-1] if is_end else piece.value)
        place = len(piece.value) - length if is_end else length
        if 0 < length < len(piece.value):
            parts = piece.value[:place], piece.value[place:]
            piece.value, self._pieces[mark].outside = parts if is_end else parts[::-1]

    def _beside(self, number: int, step: int) -> str:
        """The character next to a mark, other marks of emphasis apart; a space at the edges."""
        place = number + step
        while 0 <= place < len(self._pieces):
            piece = self._pieces[place]
            if piece.value == LINK and piece.is_mark:
                return LINK
            if not piece.is_mark and piece.value:
                if piece.kind == CODE:
                    return "`"
                return piece.value[0] if step > 0 else piece.value[-1]
            place += step
        return " "


def _is_space(character: str) -> bool:
    return character.isspace()


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _is_word(character: str) -> bool:
    return not (_is_space(character) or _is_punctuation(character))


def _leading_punctuation(text: str) -> int:
    """The number of punctuation characters at its beginning."""
    return next((n for n, each in enumerate(text) if not _is_punctuation(each)), len(text))
