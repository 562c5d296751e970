"""Reading JSON: an object a line, or a file that is one array of objects."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from dedup.collection.rows import MAX_ROW_BYTES, Broken, JsonRow, Row
from dedup.files import bytes_read

_AT_ONCE = 64 * 2**10
"""So little that a row is still in the cache when it is parsed."""
_BOM = b"\xef\xbb\xbf"

_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*[{\]]")
_BETWEEN = re.compile(rb"[\s,]*")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(_STRING + rb'|[\[\]{}]|"', re.DOTALL)
"""A text, a bracket, or the beginning of a text whose end has not been read yet."""

_SCALAR = re.compile(_STRING + rb'|[^\s,\[\]{}"]+(?=[\s,\]])', re.DOTALL)
_BREAK = re.compile(rb"[ \t]*[\r\n][ \t\r\n]*")


def is_array(start: bytes) -> bool:
    r"""Does a file that begins with these bytes hold one array of objects?

    >>> is_array(b' [\n  {"text": '), is_array(b'[1]\n[2]\n')
    (True, False)
    """
    return _ARRAY.match(start) is not None


def read_lines(file: BinaryIO, at: Callable[[int], object]) -> Iterator[Row | Broken]:
    """Read one object a line."""
    for number, line in enumerate(_lines(file, at), start=1):
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) > MAX_ROW_BYTES:
            yield Broken(f"line {number}", f"it is longer than {MAX_ROW_BYTES >> 20} MiB")
        elif line and not line.isspace():
            yield JsonRow(f"line {number}", line)


def _lines(file: BinaryIO, at: Callable[[int], object]) -> Iterator[bytes]:
    """Yield the lines without their ends, and of a line that is too long its beginning."""
    begun: list[bytes] = []
    size = 0
    while block := file.read(_AT_ONCE):
        *lines, last = block.split(b"\n")
        if lines:
            lines[0] = b"".join((*begun, lines[0]))
            yield from lines
            begun, size = [last], len(last)
        elif size <= MAX_ROW_BYTES:
            begun.append(last)
            size += len(last)
        at(bytes_read(file))
    if size:
        yield b"".join(begun)
    at(bytes_read(file))


def read_array(file: BinaryIO, at: Callable[[int], object]) -> Iterator[Row | Broken]:
    """Read the items of an array one by one; each becomes a line, with its values as they came.

    Memory holds one item. An item that is no JSON is a broken row. Where no item can be found any
    more, the last broken row says so.
    """
    array = _Array(file, at)
    number = 0
    try:
        while array.has_next():
            number += 1
            place = f"item {number}, line {array.line}"
            item, is_broken = array.next_item()
            if is_broken:
                yield Broken(place, "invalid JSON: a text has a line break")
            else:
                yield JsonRow(place, _BREAK.sub(b" ", item))
    except _EndError as error:
        yield Broken(f"item {max(number, 1)}, line {array.line}", str(error))


class _EndError(Exception):
    """Why nothing more can be read of an array."""


class _Array:
    """The items of an array.

    Attributes:
        line: of the next item.
    """

    def __init__(self, file: BinaryIO, at: Callable[[int], object]) -> None:
        self.line = 1
        self._file = file
        self._told = at
        self._data = b""
        self._at = 0
        self._read()
        self._pass(self._data.index(b"[") + 1)

    def has_next(self) -> bool:
        """Go to the next item; False: the array ends."""
        self._pass_between()
        if self._data[self._at] != ord("]"):
            return True
        self._pass(self._at + 1)
        try:
            self._pass_between()
        except _EndError:
            return False
        raise _EndError("the array ends before it; the rest of the file is not read")

    def next_item(self) -> tuple[bytes, bool]:
        """The next item, and whether a text of it has a line break, which JSON forbids."""
        start = self._data[self._at]
        end, is_broken = self._bracket() if start in b"{[" else (self._scalar(), False)
        item = self._data[self._at : end]
        self._pass(end)
        return item, is_broken

    def _bracket(self) -> tuple[int, bool]:
        depth, length, is_broken = 0, 0, False
        while True:
            found = _TOKEN.search(self._data, self._at + length)
            if found is None or found[0] == b'"':
                end = len(self._data) if found is None else found.start()
                length = end - self._at
                self._read()
                continue
            token = found[0]
            length = found.end() - self._at
            if token in b"{[":
                depth += 1
            elif token in b"}]":
                depth -= 1
                if depth == 0:
                    return found.end(), is_broken
            else:
                is_broken = is_broken or b"\n" in token or b"\r" in token

    def _scalar(self) -> int:
        while (found := _SCALAR.match(self._data, self._at)) is None:
            if self._data[self._at] in b"}]":
                raise _EndError("invalid JSON; the rest of the array is not read")
            self._read()
        return found.end()

    def _pass_between(self) -> None:
        while True:
            self._pass(_BETWEEN.match(self._data, self._at).end())  # type: ignore[union-attr]  # matches nothing, too
            if self._at < len(self._data):
                return
            self._read()

    def _pass(self, end: int) -> None:
        self.line += self._data.count(b"\n", self._at, end)
        self._at = end

    def _read(self) -> None:
        """Read at least as much again, so that a long item is looked at a few times only."""
        rest = self._data[self._at :]
        if len(rest) > MAX_ROW_BYTES:
            size = MAX_ROW_BYTES >> 20
            raise _EndError(f"it is longer than {size} MiB; the rest of the array is not read")
        more = self._file.read(max(_AT_ONCE, len(rest)))
        self._told(bytes_read(self._file))
        if not more:
            raise _EndError("the array is cut off")
        self._data, self._at = rest + more, 0
