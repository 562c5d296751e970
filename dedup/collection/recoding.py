"""Text files that are not UTF-8, read as if they were."""

import codecs
import io
from typing import Any, BinaryIO

from dedup.files import bytes_read

_AT_ONCE = 64 * 2**10


class Recoded(io.RawIOBase):
    """The content of a file in UTF-8.

    Bytes above 127 that are not valid in its encoding stay as they are, so that rows with
    different ones stay different.

    Args:
        file: is closed with this one.
        encoding: a text encoding that Python knows.

    Raises:
        OSError: other bytes are not valid; while reading.
    """

    def __init__(self, file: BinaryIO, name: str, encoding: str) -> None:
        self._file = file
        self._name = name
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        self._rest = b""
        self._has_ended = False

    @property
    def bytes_read(self) -> int:
        """From the file, as it is stored on disk."""
        return bytes_read(self._file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._has_ended:
            part = self._file.read(_AT_ONCE)
            self._has_ended = not part
            try:
                text = self._decoder.decode(part, final=self._has_ended)
            except (
                UnicodeError
            ) as error:  # one without a byte order mark is not told by its subclass
                reason = getattr(error, "reason", error)
                raise OSError(f"{self._name}: not {self._encoding} ({reason})") from error
            self._rest = text.encode("utf-8", "surrogateescape")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
