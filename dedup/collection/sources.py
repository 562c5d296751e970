"""Which files a collection consists of: files, globs, folders and standard input."""

import glob
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from dedup.collection.formats import format_of, known_format
from dedup.collection.remote import fetched, is_address
from dedup.files import is_compressed, open_binary

STANDARD_INPUT = "-"

_START_BYTES = 512


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a collection.

    Attributes:
        path: where it can be read, more than once.
        name: what messages call it.
        format: how it is read.
        size_bytes: as it lies on the disk.
    """

    path: Path
    name: str
    format: str
    size_bytes: int


def find_sources(inputs: Sequence[str], folder: Path, *, option: str = "IN") -> list[Source]:
    """Return the files that `inputs` name, in their order; those of a folder or a glob by name.

    Of a folder all files count that have the ending of a known format, those of folders in it too.
    What can be read only once (`-` for standard input, a named pipe), and what is elsewhere, see
    `fetched`, is copied to `folder` first.

    Raises:
        FileNotFoundError: there is no such file, nothing fits a glob, or a folder has no such file.
        ValueError: a file is named twice.
        OSError: what can be read only once, or is elsewhere, cannot be copied.
    """
    sources: list[Source] = []
    for given in inputs:
        place = folder / f"input-{len(sources)}"
        if given == STANDARD_INPUT:
            sources.append(_copied(sys.stdin.buffer, place, "-"))
            continue
        if is_address(given):
            sources += (
                Source(copy, name, format_of(copy), copy.stat().st_size)
                for copy, name in fetched(given, place)
            )
            continue
        for path in _paths(given):
            if path.is_file():
                source = Source(path, str(path), format_of(path), path.stat().st_size)
            else:
                with path.open("rb") as file:
                    source = _copied(file, folder / f"input-{len(sources)}", str(path))
            sources.append(source)
    seen: set[object] = set()
    for source in sources:
        real = source.name if is_address(source.name) else source.path.resolve()
        if real in seen:
            raise ValueError(f"{option} must name each file once, got {source.name!r} twice")
        seen.add(real)
    return sources


def _paths(given: str) -> Iterator[Path]:
    path = Path(given)
    if path.is_dir():
        yield from _files_in(path)
    elif not path.exists() and glob.has_magic(given):
        found = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 -- takes absolute ones too
        if not found:
            raise FileNotFoundError(f"no file matches {given!r}")
        for each in found:
            yield from _paths(each)
    elif not path.exists():
        raise FileNotFoundError(f"{given}: file not found")
    else:
        yield path


def _files_in(folder: Path) -> list[Path]:
    found = sorted(
        Path(place) / name
        for place, folders, names in os.walk(folder, followlinks=True)
        for name in names
        if not name.startswith(".") and known_format(name) is not None
    )
    if not found:
        raise FileNotFoundError(
            f"{folder}: the folder has no .jsonl, .csv, .tsv, .parquet, .warc or .wet file"
        )
    return found


def _copied(file: BinaryIO, path: Path, name: str) -> Source:
    """Copy what can be read only once; its first bytes determine the format."""
    with path.open("wb") as copy, zstandard.ZstdCompressor(level=1).stream_writer(copy) as writer:
        shutil.copyfileobj(file, writer, 1 << 20)
    with open_binary(path) as whole:
        inner = whole.read(_START_BYTES)
    if is_compressed(inner):
        _unpack_once(path)  # it came compressed: one compression is enough
    elif inner.startswith(b"PAR1"):
        _unpack_once(path)  # Parquet is read from its end
    return Source(path, name, _format_by_content(path), path.stat().st_size)


def _unpack_once(path: Path) -> None:
    plain = path.with_name(path.name + "-plain")
    with open_binary(path) as file, plain.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
    plain.replace(path)


def _format_by_content(path: Path) -> str:
    with open_binary(path) as file:
        start = file.read(_START_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"WARC/"):
        return "warc"
    if not start or start[:1] in b"{[":
        return "jsonl"
    header = start.partition(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"
