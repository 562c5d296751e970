"""Files that are there whole or not at all, and input that may be compressed."""

import gzip
import io
import json
import lzma
import os
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TextIO, cast

import zstandard

from dedup.errors import StateError

_PART_BYTES = 65_536
_PART_PREFIX = ".part-"
_OLD_SECONDS = 3600.0
_MAX_JSON_BYTES = 16 << 20
_GZIP_LEVEL = 6  # as `gzip` has it; Python's own 9 takes several times as long for 1% less
_ZSTD_WINDOW_BYTES = 2**31  # as far as `zstd --long` goes; the library's own limit is 2**27


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text as `replacing` does. The file is for its owner alone."""
    with replacing(path, mode=0o600) as part:
        part.write_bytes(text.encode("utf-8", "replace"))


def check_plain(*paths: Path, is_read_only: bool = False) -> None:
    """Check that there is a file, or nothing, at each path: a job's folder may come from anyone.

    A link would lead out of the folder, and a pipe would never answer.

    Args:
        paths: of files in a job's folder.
        is_read_only: a hard link will do, for it is not written to.

    Raises:
        StateError: there is something else.
    """
    for path in paths:
        try:
            found = path.lstat()
        except OSError:  # whoever opens it says what is wrong
            continue
        if not stat.S_ISREG(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "something else"
            raise StateError(path, f"expected a file, found {kind}", "Remove it, or move it away")
        if found.st_nlink > 1 and not is_read_only:
            raise StateError(
                path, "the file has another name elsewhere (a hard link)", "Put a copy in its place"
            )


def read_json(path: Path) -> Any:
    """The JSON of a small file in a job's folder, which may come from anyone.

    Raises:
        FileNotFoundError: there is none.
        StateError: it is no file, no JSON, larger than 16 MiB, or nested more deeply than Python
            can read.
    """
    check_plain(path, is_read_only=True)
    try:
        with path.open("rb") as file:
            stored = file.read(_MAX_JSON_BYTES + 1)
        if len(stored) > _MAX_JSON_BYTES:
            raise ValueError(f"it is larger than {_MAX_JSON_BYTES:,} bytes")
        return json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise StateError(path, f"expected JSON ({error})", "Move it away") from error


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file in binary mode, unbuffered; a new one can be read by its owner alone."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, mode, buffering=0, opener=opener)


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give a new file beside `path`, of the same ending, to write to; it becomes `path` at the end.

    Its name cannot be foretold, so that nobody can have put a link in its place. On an error,
    `path` stays as it was.

    Args:
        path: the file to replace.
        mode: the file's permissions, of which the process's umask takes some away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ending = "".join(path.suffixes[-2:])
    part = path.with_name(f"{_PART_PREFIX}{secrets.token_hex(8)}{ending}")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_old_parts(folder: Path) -> None:
    """Remove what killed processes have left of files that `replacing` was to write there.

    Another process may be writing one just now, so only files of over an hour ago are removed.
    """
    for part in folder.glob(f"{_PART_PREFIX}{'[0-9a-f]' * 16}*"):
        with suppress(OSError):
            found = part.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_mtime < time.time() - _OLD_SECONDS:
                part.unlink()


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; by its first bytes, gzip, zstd and xz are decompressed.

    A pipe will do as well as a file.

    Raises:
        OSError: the file cannot be read; when reading, also: what is compressed is damaged or cut
            off.
    """
    file = path.open("rb")
    start = file.peek(6)[:6]
    decompressor: Callable[[], _Decompressor] | None = None
    if start[:2] == b"\x1f\x8b":
        decompressor = _gzip_decompressor
    elif start[:4] == b"\x28\xb5\x2f\xfd":
        decompressor = _zstd_decompressor
    elif start == b"\xfd7zXZ\0":
        decompressor = lzma.LZMADecompressor
    return file if decompressor is None else io.BufferedReader(_Plain(file, decompressor))


def bytes_read(file: BinaryIO) -> int:
    """How much of the file that `open_binary` has opened was read, as it lies on the disk."""
    raw = getattr(file, "raw", None)
    return raw.bytes_read if isinstance(raw, _Plain) else file.tell()


def create_binary(path: Path) -> BinaryIO:
    """Open a file for writing bytes; the ending .gz or .zst compresses them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path, "wb", _GZIP_LEVEL))
    if path.suffix.lower() == ".zst":
        writer = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(
            path.open("wb"), closefd=True
        )
        return cast("BinaryIO", writer)
    return path.open("wb")


def create_text(path: Path) -> TextIO:
    """Open a text file for writing; the ending .gz or .zst compresses it."""
    return io.TextIOWrapper(create_binary(path), encoding="utf-8", errors="replace")


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _gzip_decompressor() -> _Decompressor:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def _zstd_decompressor() -> _Decompressor:
    return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()


class _Plain(io.RawIOBase):
    """What a compressed file holds, its members or frames one after the other.

    The readers of `gzip` and `zstandard` would do, but the one leaves the file open and the other
    takes a file that is cut off for a whole one.
    """

    def __init__(self, file: BinaryIO, decompressor: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._new = decompressor
        self._decompressor = decompressor()
        self._is_between = True
        self._rest = memoryview(b"")

    @property
    def bytes_read(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            compressed = self._decompressor.unused_data or self._file.read(_PART_BYTES)
            if self._decompressor.eof:
                self._decompressor = self._new()
                self._is_between = True
            if not compressed:
                if self._is_between:
                    return 0
                raise OSError(f"{self._file.name}: the compressed file is cut off")
            if self._is_between:
                compressed = compressed.lstrip(b"\0")  # padding, which gzip allows
            if compressed:
                self._is_between = False
                self._rest = memoryview(self._decompress(compressed))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()

    def _decompress(self, compressed: bytes) -> bytes:
        try:
            return self._decompressor.decompress(compressed)
        except (zlib.error, zstandard.ZstdError, lzma.LZMAError) as error:
            raise OSError(f"{self._file.name}: the compressed file is damaged ({error})") from error
