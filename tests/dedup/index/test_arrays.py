import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dedup.index import arrays as module
from dedup.index.arrays import Arrays

MEGABYTE = 1 << 20


def megabytes(count: int, arrays: Arrays) -> np.ndarray:
    return arrays.empty(count * MEGABYTE, np.uint8)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_arrays_beyond_the_bound_are_in_files(tmp_path):
    arrays = Arrays(8 * MEGABYTE, tmp_path)
    kept = [megabytes(2, arrays) for _ in range(5)]
    assert (arrays.memory_bytes, arrays.file_bytes) == (6 * MEGABYTE, 4 * MEGABYTE)
    assert arrays.has_files
    assert [len(each) for each in kept] == [2 * MEGABYTE] * 5
    assert not list(tmp_path.iterdir())


def test_memory_that_was_freed_is_used_again(tmp_path):
    arrays = Arrays(4 * MEGABYTE, tmp_path)
    for _ in range(5):
        view = megabytes(3, arrays)[:10]
        assert arrays.memory_bytes == 3 * MEGABYTE
        del view
    assert not arrays.has_files


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_a_file_is_closed_with_its_array(tmp_path):
    arrays = Arrays(0, tmp_path)
    before = open_files()
    pages = arrays.pages(1_000, 512)
    assert pages.is_in_file
    assert open_files() > before
    del pages
    assert (open_files(), arrays.file_bytes) == (before, 0)


def test_small_arrays_and_those_without_a_bound_are_in_memory(tmp_path):
    bounded, unbounded = Arrays(0, tmp_path), Arrays()
    bounded.empty(1_000, np.uint64)
    megabytes(2, unbounded)
    assert not bounded.has_files
    assert not unbounded.has_files


def test_unmapped_pages_keep_their_content(tmp_path, monkeypatch):
    arrays = Arrays(0, tmp_path)
    pages = arrays.pages(1_000, 512)
    pages.array[:] = np.arange(512_000).reshape(1_000, 512)
    monkeypatch.setattr(module, "_mapped_bytes", lambda: 1 << 40)
    arrays.trim()
    assert pages.array.sum() == 512_000 * 511_999 // 2
    assert pages.take(np.array([3, 999]))[:, 0].tolist() == [3 * 512, 999 * 512]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not tell")
def test_pages_in_use_take_no_more_than_their_share(tmp_path):
    arrays = Arrays(16 * MEGABYTE, tmp_path)
    array = megabytes(64, arrays)
    for start in range(0, len(array), MEGABYTE):
        array[start : start + MEGABYTE] = 1
        arrays.note_lookups(64)
        assert module._mapped_bytes() - arrays._mapped_before < 8 * MEGABYTE
    assert array.sum() == 64 * MEGABYTE


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["_reserve", "shutil.disk_usage", "mmap.mmap"])
def test_full_disk_leaves_arrays_in_memory_and_is_told_once(name, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(f"dedup.index.arrays.{name}", full_disk)
    arrays = Arrays(0, tmp_path)
    kept = [megabytes(2, arrays) for _ in range(3)]
    assert (arrays.memory_bytes, arrays.has_files, len(kept)) == (6 * MEGABYTE, False, 3)
    assert [record.message for record in caplog.records] == [
        "the index takes more memory than it should, as there is no room for its files:"
        " [Errno 28] No space left on device"
    ]


def test_some_of_the_disk_is_left_to_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_SPARE_BYTES", 1 << 60)
    arrays = Arrays(0, tmp_path)
    megabytes(2, arrays)
    assert not arrays.has_files


def test_folder_that_is_gone_is_told(tmp_path, caplog):
    megabytes(2, Arrays(0, tmp_path / "gone"))
    assert "No such file or directory" in caplog.text


def test_page_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    pages = Arrays(0, tmp_path).pages(1_000, 512)
    monkeypatch.setattr(os, "preadv", lambda *_: 100)
    with pytest.raises(OSError, match="a file of the index cannot be read"):
        pages.take(np.array([3]))


@pytest.mark.parametrize("mapped", ["posix_fallocate", None])
def test_room_is_reserved_on_any_system(mapped, tmp_path, monkeypatch):
    if mapped is None:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
        monkeypatch.delattr(os, "preadv", raising=False)
    pages = Arrays(0, tmp_path).pages(1_001, 512)
    pages.array[:] = 7
    assert pages.take(np.array([0, 1_000])).sum() == 7 * 1_024


_KILLED = """
import sys, time
from pathlib import Path
from dedup.index.arrays import Arrays
pages = Arrays(0, Path(sys.argv[1])).pages(1_000, 512)
pages.array[:] = 1
print("made", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, nothing is killed this way")
def test_killed_process_leaves_no_file(tmp_path):
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        process.send_signal(signal.SIGKILL)
    assert not list(tmp_path.iterdir())
