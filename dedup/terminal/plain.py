"""What strangers wrote, made harmless for a terminal."""

import json
import re
from typing import Any

_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: ESC and CSI begin commands
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of what follows
    "\u2028\u2029\ud800-\udfff"  # line ends of Unicode; halves of surrogate pairs
)
_UNSAFE_CHARACTER = re.compile(f"[{_UNSAFE}]")


def plain(text: object, *, lines: bool = False) -> str:
    r"""Return a text in which nothing steers a terminal: such characters become U+FFFD.

    Tabs and, unless `lines`, line ends become blanks, so that the text keeps to its place.

    >>> plain("a\x1b[31m\nb")
    'a�[31m b'
    """
    kept = str(text).replace("\t", " ")
    if not lines:
        kept = kept.replace("\n", " ")
    return _UNSAFE_CHARACTER.sub("\ufffd", kept)


def plain_json(value: Any) -> str:
    r"""Return indented JSON, in which such characters are written as escapes.

    >>> plain_json("\x9b語")
    '"\\u009b語"'
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
