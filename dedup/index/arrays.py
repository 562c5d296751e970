"""Where the arrays of an index are: in memory up to a bound, beyond it in files that are mapped."""

import errno
import logging
import math
import mmap
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_LEAST_BYTES = 1 << 20
"""Smaller arrays are always in memory, and not counted: an index has a few dozen of them."""

_IN_MEMORY = 3 / 4
"""Share of the bound for arrays in memory; the rest is for pages of files that are in use."""

_SPARE_BYTES = 1 << 28
"""Left free on the disk, for the store: a store that cannot write ends the crawl."""

_LOOKUPS_BETWEEN = 64
"""Lookups after which the pages in use are counted, which takes some 20 µs."""

_ScalarT = TypeVar("_ScalarT", bound=np.generic)


class Arrays:
    """Makes the arrays that runs consist of, for all indexes of a job.

    Arrays that do not fit into the bound are in files without a name: they take no memory but the
    system's cache of files, which it frees for others, and they vanish with the process, however
    that ends. The answers of an index are the same wherever its arrays are.

    Pages of files that were read count as memory of the process while they are mapped. When they
    are more than a quarter of the bound, they are unmapped (on Linux): they stay in the system's
    cache, and the next access takes a microsecond instead of a read from the disk.

    Where a file cannot be made, because the disk is full, the array is in memory nevertheless, and
    a warning tells it once. A file that cannot be read later, as the disk fails, ends the process
    (SIGBUS) or raises `OSError`: no answer is wrong.

    Args:
        memory_bytes: the bound; None: all arrays are in memory.
        folder: of the files; None: the system's folder for temporary files.

    Attributes:
        memory_bytes: of the arrays that are in memory now.
        has_files: has any array been in a file?
    """

    def __init__(self, memory_bytes: int | None = None, folder: Path | None = None) -> None:
        self.memory_bytes = 0
        self.has_files = False
        self._is_bounded = memory_bytes is not None
        bound = memory_bytes or 0
        self._most_in_memory = int(_IN_MEMORY * bound)
        self._most_mapped = bound - self._most_in_memory
        self._folder = folder
        self._mappings: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._mapped_before = 0
        self._lookups = 0
        self._has_warned = False

    @property
    def file_bytes(self) -> int:
        """Of the arrays that are in files."""
        return sum(map(len, self._mappings))

    def empty(self, shape: int | tuple[int, ...], dtype: type[_ScalarT]) -> NDArray[_ScalarT]:
        """An array that is still to be filled, as `numpy.empty` makes it."""
        return self._made(shape, dtype)[0]

    def pages(self, count: int, length: int) -> "Pages":
        """As many pages of `length` 64-bit integers, still to be filled."""
        return Pages(*self._made((count, length), np.uint64))

    def note_lookups(self, count: int) -> None:
        """Unmap pages if lookups have mapped too many; to be called where there are files."""
        self._lookups += count
        if self._lookups >= _LOOKUPS_BETWEEN:
            self._lookups = 0
            self.trim()

    def trim(self) -> None:
        """Unmap the pages of all files if too many are mapped. Their content stays."""
        if self.has_files and _mapped_bytes() - self._mapped_before > self._most_mapped:
            for mapping in self._mappings:
                mapping.madvise(mmap.MADV_DONTNEED)

    def _made(
        self, shape: int | tuple[int, ...], dtype: type[_ScalarT]
    ) -> tuple[NDArray[_ScalarT], int | None]:
        """An array, and the descriptor of the file that it is in; None: it is in memory."""
        size_bytes = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
        if not self._is_bounded or size_bytes < _LEAST_BYTES:
            return np.empty(shape, dtype), None
        if self.memory_bytes + size_bytes > self._most_in_memory:
            try:
                mapping, descriptor = self._mapped(size_bytes)
                return np.frombuffer(mapping, dtype).reshape(shape), descriptor
            except OSError as error:
                self._warn(error)
        array = np.empty(shape, dtype)
        self.memory_bytes += size_bytes
        weakref.finalize(array, self._note_freed, size_bytes).atexit = False
        return array, None

    def _mapped(self, size_bytes: int) -> tuple[mmap.mmap, int]:
        folder = self._folder or Path(tempfile.gettempdir())
        if shutil.disk_usage(folder).free < size_bytes + _SPARE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        with tempfile.TemporaryFile(buffering=0, dir=folder) as file:
            _reserve(file, size_bytes)
            mapping = mmap.mmap(file.fileno(), size_bytes)
            descriptor = os.dup(file.fileno())
        weakref.finalize(mapping, os.close, descriptor)
        if not self.has_files:
            self._mapped_before = _mapped_bytes()
        self.has_files = True
        self._mappings.add(mapping)
        return mapping, descriptor

    def _note_freed(self, size_bytes: int) -> None:
        self.memory_bytes -= size_bytes

    def _warn(self, error: OSError) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "the index takes more memory than it should, as there is no room for its files: %s",
                error,
            )


class Pages:
    """Integers that are read a page at a time.

    Args:
        array: of shape (pages, length).
        descriptor: of the file that it is in; None: it is in memory.

    Attributes:
        is_in_file: is it not in memory?
    """

    def __init__(self, array: NDArray[np.uint64], descriptor: int | None) -> None:
        self.array = array
        self.is_in_file = descriptor is not None
        self._descriptor = descriptor

    def take(self, numbers: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Copies of some pages."""
        if self._descriptor is None or not hasattr(os, "preadv"):
            return self.array[numbers]
        # To read a page costs a third of what mapping and unmapping it costs.
        found = np.empty((len(numbers), self.array.shape[1]), np.uint64)
        page_bytes = found.strides[0]
        for page, start in zip(found, (numbers * page_bytes).tolist(), strict=True):
            if os.preadv(self._descriptor, [page.data], start) != page_bytes:
                raise OSError(errno.EIO, "a file of the index cannot be read")
        return found


def _reserve(file: IO[bytes], size_bytes: int) -> None:
    """Have the disk keep room: writing to a mapped file on a full disk would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size_bytes)
        return
    zeros = bytes(1 << 20)
    for start in range(0, size_bytes, len(zeros)):
        file.write(zeros[: size_bytes - start])
    file.flush()


def _mapped_bytes() -> int:
    """Memory of this process that is pages of files; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 -- many times as fast
            return int(file.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0


UNBOUNDED = Arrays()
"""All in memory, as indexes are that belong to no job."""
