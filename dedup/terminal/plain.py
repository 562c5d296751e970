"""Untrusted text, made harmless for a terminal or a spreadsheet."""

import json
import re
from typing import Any

_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: ESC and CSI begin commands
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of what follows
    "\u2028\u2029\ud800-\udfff"  # line ends of Unicode; halves of surrogate pairs
)
_UNSAFE_CHARACTER = re.compile(f"[{_UNSAFE}]")

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
"""First characters of formulas in spreadsheets, as listed by OWASP (CSV injection)."""

_FORMULA = re.compile(
    r"[\s\0-\x1f\x7f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]*+[=+\-@＝＋－＠]"
)
"""The same after invisible characters: white space, and marks of order and direction."""


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
"""Control characters other than white space; CSV has no escapes for them."""


def plain(text: object, *, lines: bool = False) -> str:
    r"""Return the text with U+FFFD for characters that control a terminal.

    Tabs and, unless `lines`, line ends become spaces, so that the text stays in its place.

    >>> plain("a\x1b[31m\nb")
    'a�[31m b'
    """
    kept = str(text).replace("\t", " ")
    if not lines:
        kept = kept.replace("\n", " ")
    return _UNSAFE_CHARACTER.sub("\ufffd", kept)


def plain_json(value: Any) -> str:
    r"""Return indented JSON with escapes for such characters.

    >>> plain_json("\x9b語")
    '"\\u009b語"'
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def guarded(value: object) -> object:
    r"""Make a text harmless in a cell of CSV, in a spreadsheet and on a terminal.

    A text that a spreadsheet would take for a formula gets an apostrophe; control characters
    become U+FFFD.

    >>> guarded("=1+1"), guarded("1+1"), guarded(-1), guarded("a\x1b[31m")
    ("'=1+1", '1+1', -1, 'a�[31m')
    """
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(_FORMULA_STARTS) or _FORMULA.match(value) is not None
    text = _CONTROL.sub("\ufffd", value)
    return f"'{text}" if is_formula else text
