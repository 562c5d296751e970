import bz2
import gzip
import lzma
import os
import random
import threading

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.files import create_binary, open_binary, write_atomically

TEXT = "".join(
    f"line {number}: {random.Random(number).random()} 中文\n" for number in range(20_000)
)
COMPRESS = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "plain": bytes,
}


def read(path):
    with open_binary(path) as file:
        return file.read().decode("utf-8-sig", "replace")


@pytest.mark.parametrize("compress", COMPRESS.values(), ids=COMPRESS)
def test_text_is_read_whatever_the_compression_and_the_name(tmp_path, compress):
    path = tmp_path / "misleading.csv"
    path.write_bytes(compress(b"\xef\xbb\xbf" + TEXT.encode()))
    assert read(path) == TEXT
    with open_binary(path) as file:
        assert next(file).decode("utf-8-sig") == TEXT[: TEXT.index("\n") + 1]


@pytest.mark.parametrize("compress", COMPRESS.values(), ids=COMPRESS)
@pytest.mark.parametrize("content", [b"", b"\n", b"a\xffb", b"\xef\xbb\xbf"])
def test_small_contents_are_read(tmp_path, compress, content):
    path = tmp_path / "small"
    path.write_bytes(compress(content))
    assert read(path) == content.decode("utf-8-sig", "replace")


@pytest.mark.parametrize("name", ["gzip", "zstd", "xz", "bzip2"])
def test_all_members_of_a_file_are_read(tmp_path, name):
    path = tmp_path / "members"
    members = [TEXT, "", "b\n", TEXT, "c"]
    path.write_bytes(b"".join(COMPRESS[name](part.encode()) for part in members))
    assert read(path) == "".join(members)


def test_padding_after_gzip_is_accepted(tmp_path):
    path = tmp_path / "padded"
    path.write_bytes(gzip.compress(b"text") + bytes(70_000))
    assert read(path) == "text"


@pytest.mark.parametrize("name", ["gzip", "zstd", "xz"])
def test_truncated_compressed_file_is_an_error(tmp_path, name):
    path = tmp_path / "cut"
    whole = COMPRESS[name](TEXT.encode())
    for end in (len(whole) - 1, len(whole) // 2, 30):
        path.write_bytes(whole[:end])
        with pytest.raises(OSError, match=r"cut: the compressed file is cut off"):
            read(path)


@pytest.mark.parametrize("name", ["gzip", "zstd", "xz"])
def test_damaged_compressed_file_is_an_error(tmp_path, name):
    path = tmp_path / "damaged"
    whole = bytearray(COMPRESS[name](TEXT.encode()))
    whole[1000:2000] = bytes(1000)
    path.write_bytes(whole)
    with pytest.raises(OSError, match=r"damaged: the compressed file is (damaged|cut off)"):
        read(path)


def test_a_zstd_file_with_a_long_window_is_read(tmp_path):
    path = tmp_path / "long"
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=29)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(compressor.compress(b"text") + compressor.flush())  # the size is not known
    assert read(path) == "text"


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(TEXT.encode())))
    writer.start()
    assert read(path) == TEXT
    writer.join()


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        open_binary(tmp_path / "missing")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@settings(max_examples=20, deadline=None)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\r\ufeff")))
def test_what_is_created_can_be_read(tmp_path_factory, name, text):
    path = tmp_path_factory.mktemp("files") / "new folder" / name
    with create_binary(path) as file:
        file.write(text.encode())
    assert read(path) == text


@pytest.mark.parametrize(("name", "magic"), [("a.gz", b"\x1f\x8b"), ("a.zst", b"\x28\xb5")])
def test_the_ending_compresses(tmp_path, name, magic):
    with create_binary(tmp_path / name) as file:
        file.write(b"ab")
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert read(tmp_path / name) == "ab"


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "stats.json"
    write_atomically(path, "first, and longer")
    write_atomically(path, "second \ud800")
    assert path.read_text() == "second ?"
    assert list(tmp_path.iterdir()) == [path]


def test_failed_write_leaves_the_file_unchanged(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError("no space left")

    path = tmp_path / "stats.json"
    write_atomically(path, "first")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, "second")
    assert path.read_text() == "first"
