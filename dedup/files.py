"""Files that are written completely or not at all, and input that may be compressed."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

import zstandard

from dedup.errors import StateError

_PART_BYTES = 2_048
"""Compressed bytes read at a time: at most 64 MiB come out, at the highest ratio of zstd."""

_UNPACKED_FREE_BYTES = 256 << 20
_UNPACKED_TIMES = 200
"""Beyond the first 256 MiB, output may be 200 times the input. Text decompresses to 3 to 30 times
its size, a bomb to 1,000 (gzip) or 30,000 times (zstd)."""

_START_BYTES = 10
"""As many bytes as the longest beginning of a compressed file has."""

_LOOK_BACK_BYTES = 1 << 20
"""How late damage may be noticed: a truncated member runs into the next one."""

_PART_PREFIX = ".part-"
_OLD_SECONDS = 3600.0
_OPEN_FILES = Path("/dev/fd")
_MAX_JSON_BYTES = 16 << 20
_BUFFER_BYTES = 1 << 18
_GZIP_LEVEL = 6  # as `gzip`; Python's default of 9 takes several times as long for 1% less
_ZSTD_WINDOW_BYTES = 2**31  # the limit of `zstd --long`; that of the library is 2**27


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text as `replacing` does. Only the owner can read the file."""
    with replacing(path, mode=0o600) as part:
        part.write_bytes(text.encode("utf-8", "replace"))


def check_plain(*paths: Path, is_read_only: bool = False) -> None:
    """Check that each path is a regular file or does not exist.

    A job's folder may come from anyone: a link would lead out of it, and a pipe would block.

    Args:
        paths: of files in a job's folder.
        is_read_only: allow hard links, because nothing is written.

    Raises:
        StateError: a path is something else.
    """
    for path in paths:
        try:
            found = path.lstat()
        except OSError:  # opening it reports what is wrong
            continue
        if not stat.S_ISREG(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "something else"
            raise StateError(path, f"expected a file, found {kind}", "Remove or move it")
        if found.st_nlink > 1 and not is_read_only:
            raise StateError(
                path, "the file has another name elsewhere (a hard link)", "Put a copy in its place"
            )


def read_json(path: Path) -> Any:
    """Read a small JSON file in a job's folder, which may come from anyone.

    Raises:
        FileNotFoundError: it does not exist.
        StateError: it is not a file, not JSON, larger than 16 MiB, or nested too deeply for Python.
    """
    check_plain(path, is_read_only=True)
    try:
        with path.open("rb") as file:
            stored = file.read(_MAX_JSON_BYTES + 1)
        if len(stored) > _MAX_JSON_BYTES:
            raise ValueError(f"it is larger than {_MAX_JSON_BYTES:,} bytes")
        return json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise StateError(path, f"expected JSON ({error})", "Move it") from error


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file in binary mode, unbuffered. Only the owner can read a new file."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, mode, buffering=0, opener=opener)


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Yield a new file beside `path`, with the same extension; it replaces `path` at the end.

    Its name is random, so nobody can have put a link in its place. After an error `path` is
    unchanged.

    Args:
        path: the file to replace.
        mode: the file's permissions, before the process's umask is applied.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ending = "".join(path.suffixes[-2:])
    part = path.with_name(f"{_PART_PREFIX}{secrets.token_hex(8)}{ending}")
    try:  # also where a signal ends the process right after the file was made
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_old_parts(folder: Path) -> None:
    """Remove the temporary files of `replacing` that killed processes have left in a folder.

    Files less than an hour old are kept: another process may be writing them.
    """
    for part in folder.glob(f"{_PART_PREFIX}{'[0-9a-f]' * 16}*"):
        with suppress(OSError):
            found = part.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_mtime < time.time() - _OLD_SECONDS:
                part.unlink()


def open_binary(path: Path) -> BinaryIO:
    """Open a file or a pipe for reading; decompress gzip, zstd, xz and bzip2, by first bytes.

    Raises:
        OSError: the file cannot be read; or, while reading, the compressed data are damaged,
            truncated or a bomb.
    """
    file = path.open("rb")
    compression = _compression_of(file.peek(_START_BYTES))
    return file if compression is None else io.BufferedReader(Unpacked(file, compression))


def is_compressed(start: bytes) -> bool:
    """Are these the first bytes of a file that `open_binary` decompresses?"""
    return _compression_of(start) is not None


class BombError(OSError):
    """A compressed file holds far more than its size."""


def check_unpacked(name: str, n_unpacked: int, n_read: int) -> None:
    """Check that a compressed file is not a decompression bomb.

    Raises:
        BombError: it is one.
    """
    if n_unpacked > _UNPACKED_FREE_BYTES + _UNPACKED_TIMES * n_read:
        raise BombError(
            f"{name}: the compressed file holds more than {_UNPACKED_TIMES} times its size;"
            " if it is meant to, unpack it first"
        )


def bytes_read(file: BinaryIO) -> int:
    """How many bytes of a file were read, as stored on disk, decompressed by this reader or not."""
    found: int | None = getattr(getattr(file, "raw", None), "bytes_read", None)
    return file.tell() if found is None else found


def create_binary(path: Path) -> BinaryIO:
    """Open a file for writing bytes, compressed if it ends in .gz or .zst.

    An open file (`/dev/fd/N`) is written on, and closed; opened once more, it would be emptied.
    """
    if path.parent == _OPEN_FILES:
        return os.fdopen(int(path.name), "wb")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path, "wb", _GZIP_LEVEL))
    if path.suffix.lower() == ".zst":
        writer = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(
            path.open("wb"), closefd=True
        )
        return cast("BinaryIO", writer)
    return path.open("wb", buffering=_BUFFER_BYTES)


class _Compression(NamedTuple):
    """A compression: the first bytes of a member or frame, and what decompresses one."""

    start: re.Pattern[bytes]
    decompressor: Callable[[], Any]


def _zstd_decompressor() -> Any:
    return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()


_COMPRESSIONS = (
    _Compression(re.compile(rb"\x1f\x8b\x08"), partial(zlib.decompressobj, zlib.MAX_WBITS | 16)),
    _Compression(re.compile(rb"\x28\xb5\x2f\xfd"), _zstd_decompressor),
    _Compression(re.compile(rb"\xfd7zXZ\0"), lzma.LZMADecompressor),
    _Compression(re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor),
)


def _compression_of(start: bytes) -> _Compression | None:
    return next((each for each in _COMPRESSIONS if each.start.match(start)), None)


class Unpacked(io.RawIOBase):
    """The content of a compressed file, one member or frame after the other.

    The readers of `gzip` and `zstandard` are not used: the first does not close the file, the
    second takes a truncated file for a complete one.

    Attributes:
        stops_between: report the end of the file once after each member that is not empty.
        bytes_read: from the compressed file.
    """

    def __init__(self, file: BinaryIO, compression: _Compression) -> None:
        self.stops_between = False
        self.bytes_read = 0
        self._file = file
        self._compression = compression
        self._begin()

    def _begin(self) -> None:
        self._decompressor = self._compression.decompressor()
        self._is_between = True
        self._rest = memoryview(b"")
        self._member = self._began = self.bytes_read
        self._n_unpacked = self._n_stopped = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            has_ended = self.stops_between and self._decompressor.eof
            if has_ended and self._n_unpacked > self._n_stopped:
                self._n_stopped = self._n_unpacked
                return 0
            compressed = self._decompressor.unused_data or self._read(_PART_BYTES)
            if self._decompressor.eof:
                self._decompressor = self._compression.decompressor()
                self._is_between = True
            if not compressed:
                if self._is_between:
                    return 0
                raise OSError(f"{self._file.name}: the compressed file is cut off")
            if self._is_between:
                compressed = compressed.lstrip(b"\0")  # padding, which gzip allows
                self._member = self.bytes_read - len(compressed)
            if compressed:
                self._is_between = False
                self._rest = memoryview(self._decompress(compressed))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def skip_member(self) -> bool:
        """Skip to the member after one that could not be decompressed; False: there is none."""
        if not self._file.seekable():
            return False
        self.bytes_read = max(self._member + 1, self.bytes_read - _LOOK_BACK_BYTES)
        self._file.seek(self.bytes_read)
        part = b""
        while more := self._read(1 << 20):
            part = part[1 - _START_BYTES :] + more
            if found := self._compression.start.search(part):
                self.bytes_read += found.start() - len(part)
                self._file.seek(self.bytes_read)
                self._begin()
                return True
        return False

    def close(self) -> None:
        self._file.close()
        super().close()

    def _read(self, size: int) -> bytes:
        found = self._file.read(size)
        self.bytes_read += len(found)
        return found

    def _decompress(self, compressed: bytes) -> bytes:
        try:
            found: bytes = self._decompressor.decompress(compressed)
        except (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError) as error:  # bz2's
            raise OSError(f"{self._file.name}: the compressed file is damaged ({error})") from error
        self._n_unpacked += len(found)
        check_unpacked(str(self._file.name), self._n_unpacked, self.bytes_read - self._began)
        return found
