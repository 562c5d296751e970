"""Where results go: beside, then renamed, so that nothing is lost or overwritten."""

import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dedup.files import replacing

STANDARD_OUTPUT = "-"
FOLDER_IS_THERE = "remove it, or name another folder"
"""What to do about a folder that is to be new."""


def check_outputs(
    outputs: Mapping[str, str], inputs: Mapping[str, Iterable[Path]], *, overwrite: bool = False
) -> None:
    """Check that no output is an input, another output, or there already.

    Two paths are equal where they lead to one file: links count as what they lead to. Devices and
    pipes, such as `/dev/null`, are no files that could be lost.

    Args:
        outputs: paths by option; `-` is standard output.
        inputs: the files that are read, by what names them.
        overwrite: files that are there may be replaced; inputs never.

    Raises:
        ValueError: two options, or an option and an input, name one file.
        FileExistsError: an output is there already.
        IsADirectoryError: an output is a folder.
    """
    sources = {_identity(path): name for name, paths in inputs.items() for path in paths}
    named: dict[object, str] = {}
    for option, given in outputs.items():
        path = Path(given)
        identity = given if given == STANDARD_OUTPUT else _identity(path)
        if is_device(path):
            continue
        if identity in named:
            both = f"{named[identity]} and {option}"
            raise ValueError(f"{both} must be two files, got {given!r} twice")
        named[identity] = option
        if given == STANDARD_OUTPUT:
            continue
        if path.is_dir():
            raise IsADirectoryError(f"{option} must be a file, got the folder {given!r}")
        if identity in sources:
            raise ValueError(
                f"{option} must not be the same file as {sources[identity]}, got {given!r}"
            )
        if path.is_file() and not overwrite:
            raise FileExistsError(f"{option}: {given!r} already exists; --overwrite replaces it")


def is_device(path: Path) -> bool:
    """Is it a device or a pipe, and no file that can be replaced?"""
    return path.exists() and not path.is_file() and not path.is_dir()


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return str(path.resolve())
    return found.st_dev, found.st_ino


@contextmanager
def output_path(given: str) -> Iterator[Path]:
    """Give the path to write to; the file gets its own name after everything succeeded.

    Raises:
        OSError: it cannot be written; the message names the file.
    """
    path = Path(given)
    try:
        if is_device(path):
            yield path
            return
        with replacing(path.resolve()) as part:
            yield part
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            raise OSError(f"{given}: {error.filename} is a file, not a folder") from error
        raise named_error(error, given) from error


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write to; it gets its own name after everything succeeded.

    Raises:
        FileExistsError: there is something of that name, other than an empty folder.
    """
    check_new(path)
    part = path.with_name(f".part-{secrets.token_hex(8)}")
    part.mkdir(parents=True)
    try:
        yield part
        for file in part.rglob("*"):
            if file.is_file():
                with file.open("rb") as written:
                    os.fsync(written.fileno())
        part.replace(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_new(path: Path) -> None:
    """Check that there is nothing of that name, other than an empty folder.

    Raises:
        FileExistsError: there is.
    """
    is_empty = path.is_dir() and not path.is_symlink() and not any(path.iterdir())
    if os.path.lexists(path) and not is_empty:
        raise FileExistsError(f"{str(path)!r} already exists; {FOLDER_IS_THERE}")


def named_error(error: OSError, name: str) -> OSError:
    """The error with the file in its message, and what to do about a full disk."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OSError(f"{name}: the disk is full; nothing was written")
    if error.errno is None or error.filename is None:
        return error if error.errno is None else OSError(f"{name}: {error.strerror}")
    return error


@contextmanager
def standard_output() -> Iterator[Path]:
    """Give a path that leads to standard output."""
    sys.stdout.flush()
    yield Path(f"/dev/fd/{os.dup(sys.stdout.fileno())}")
