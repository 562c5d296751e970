"""Files of other machines, such as `s3://bucket/x.jsonl`: fsspec reads and writes them.

What is read is copied to this machine first, because some collections are read twice, and a file
must not change in between. What is written is sent when all of it is there.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import has_magic
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

from dedup.collection.formats import known_format
from dedup.extras import load_extra

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""`pathlib` leaves one slash; a single letter is a drive of Windows."""

_SHOWN_CHARACTERS = 200


def is_address(path: str) -> bool:
    """Does a path lead to another machine, or to another kind of file system?

    >>> is_address("s3://bucket/x.jsonl"), is_address("c:/x.jsonl"), is_address("a:b.jsonl")
    (True, False, False)
    """
    return _ADDRESS.match(path) is not None


def local_path(given: str) -> str:
    """The path that an address of this machine stands for; others as they are.

    >>> local_path("file:///data/x.jsonl"), local_path("s3://bucket/x.jsonl")
    ('/data/x.jsonl', 's3://bucket/x.jsonl')
    """
    return given.removeprefix("file://") if given.startswith("file:///") else given


def fetched(address: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Copy what an address names: a file, those of a folder, or those that fit a glob.

    Args:
        address: of the files; of a folder, all that have the ending of a known format.
        folder: for the copies, which keep the names of their files.

    Yields:
        Each copy, and the address of its file, in the order of the addresses.

    Raises:
        ValueError, ModuleNotFoundError: nothing that is installed knows such addresses.
        OSError: a file cannot be read, or there is none.
    """
    system, path = _system(address)
    with _telling(address):
        files = list(_files(system, path, address))
    for number, (file, name) in enumerate(files):
        copy = folder / str(number) / PurePosixPath(file).name
        copy.parent.mkdir(parents=True)
        with _telling(name), system.open(file, "rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        yield copy, name


@contextmanager
def sent(address: str, *, is_folder: bool = False) -> Iterator[Path]:
    """Give a path to write to; the file is sent to the address after everything succeeded.

    Of a folder that cannot be sent, nothing stays there.

    Args:
        address: of what is not there yet, or is to be replaced.
        is_folder: give a folder to write files to.

    Raises:
        ValueError, ModuleNotFoundError: nothing that is installed knows such addresses.
        OSError: it cannot be sent.
    """
    system, path = _system(address)
    with TemporaryDirectory(prefix="dedup-") as folder:
        part = Path(folder) / PurePosixPath(path).name
        if is_folder:
            part.mkdir()
        yield part
        with _telling(address):
            _send(system, part, path)


def _send(system: Any, part: Path, path: str) -> None:
    if part.is_file():
        system.put_file(str(part), path)
        return
    try:
        files = [each for each in part.rglob("*") if each.is_file()]
        for file in sorted(files, key=lambda each: (-len(each.parts), each)):  # a card comes last
            there = f"{path}/{file.relative_to(part).as_posix()}"
            system.makedirs(there.rpartition("/")[0], exist_ok=True)
            system.put_file(str(file), there)
    except BaseException:
        with suppress(Exception):  # the first error tells more
            system.rm(path, recursive=True)
        raise


def check_addresses(
    outputs: Mapping[str, str],
    inputs: Mapping[str, Iterable[str]],
    *,
    overwrite: bool,
    has_spark: bool = True,
    remedy: str = "--overwrite replaces it",
) -> None:
    """Check the outputs that are addresses, as `check_outputs` checks files.

    Args:
        outputs: by option.
        inputs: the names of what is read, by what names them.
        overwrite: files that are there may be replaced; inputs never.
        has_spark: could Spark read and write them instead?
        remedy: what to do about an output that is there.

    Raises:
        ValueError: two options, or an option and an input, name one file; or nothing that is
            installed knows such an address.
        ModuleNotFoundError: fsspec is not installed.
        FileExistsError: an output is there already.
    """
    read = {each: name for name, addresses in inputs.items() for each in addresses}
    seen: dict[str, str] = {}
    for option, address in outputs.items():
        system, path = _system(address, has_spark=has_spark)
        name = system.unstrip_protocol(path)
        if name in seen:
            raise ValueError(f"{seen[name]} and {option} must be two files, got {address!r} twice")
        seen[name] = option
        if other := read.get(name) or read.get(address):
            raise ValueError(f"{option} must not be the same file as {other}, got {address!r}")
        with _telling(address):
            is_there = not overwrite and system.exists(path)
        if is_there:
            raise FileExistsError(f"{option}: {address!r} already exists; {remedy}")


def _system(address: str, *, has_spark: bool = True) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    purpose = f"{address!r} (or --engine spark)" if has_spark else repr(address)
    fsspec = load_extra("fsspec", extra="remote", purpose=purpose)
    try:
        system, path = fsspec.url_to_fs(address)
    except (ImportError, ValueError) as error:
        or_spark = "; --engine spark takes the addresses that Spark knows" if has_spark else ""
        raise ValueError(f"{address!r} cannot be opened: {error}{or_spark}") from error
    except Exception as error:
        raise _sentence(address, error) from error
    return system, path


def _files(system: Any, path: str, address: str) -> Iterator[tuple[str, str]]:
    if system.isfile(path):  # first: a `?` may be part of an address
        yield path, address
        return
    found = system.glob(path) if has_magic(path) else system.find(path)
    names = [each for each in sorted(found) if not PurePosixPath(each).name.startswith(".")]
    if not has_magic(path):
        names = [each for each in names if known_format(each) is not None]
    if not names:
        raise FileNotFoundError
    for each in names:
        yield each, system.unstrip_protocol(each)


@contextmanager
def _telling(address: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _sentence(address, error) from error


def _sentence(address: str, error: Exception) -> OSError:
    """What the driver of a file system says, which has errors of its own."""
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(f"{address}: file not found")
    said = shorten(str(error), _SHOWN_CHARACTERS, placeholder=" …") or type(error).__name__
    return OSError(f"{address}: {said}")
