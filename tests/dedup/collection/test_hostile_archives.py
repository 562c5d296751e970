"""Archives that lie, that are cut off, damaged or bombs: what is broken is told, the rest read."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

pytest.importorskip("warcio", reason="warcio is not installed")

from dedup import files
from dedup.collection import Broken, read_documents, warc
from tests.warc_records import HTML, http_response, warc_record


def page(number: int, *, length: object = None, headers: tuple[str, ...] = ()) -> bytes:
    block = http_response(f"<p>Words of page {number}.".encode(), HTML)
    return warc_record(f"http://{number}.example/", block, length=length, headers=headers)


GOOD = [page(number) for number in (2, 3, 4)]
INNER = http_response(b"some words\r\n\r\n" + page(9), "Content-Type: text/plain")
MANY = "a: b\r\n" * 100_000

# The first of four records, and why it is broken.
HOSTILE = {
    "too long": (page(1, length=500), "its declared length is 500 bytes"),
    "far too long": (
        page(1, length=10**12),
        "its declared length is 1,000,000,000,000 bytes, but it ends",
    ),
    "too short": (page(1, length=40), "its declared length is 40 bytes, but it is longer"),
    "negative": (page(1, length=-5), "expected a Content-Length, found '-5'"),
    "no number": (page(1, length="²"), "expected a Content-Length, found '²'"),
    "digits": (page(1, length="9" * 5_000), "expected a Content-Length, found '9999"),
    "no type": (page(1).replace(b"WARC-Type", b"X-Type"), "it has no WARC-Type"),
    "headers": (page(1, headers=(MANY[:-2],)), "its header is longer than 64 KiB or 1,000 lines"),
    "long header": (page(1, headers=("a: " + "b" * 70_000,)), "its header is longer than 64 KiB"),
    "HTTP headers": (
        warc_record("http://1.example/", http_response(b"<p>x", HTML, MANY[:-2])),
        "its header is longer than 64 KiB or 1,000 lines",
    ),
    "long HTTP header": (
        warc_record("http://1.example/", http_response(b"<p>x", "a: " + "b" * 70_000)),
        "its HTTP header is longer than 64 KiB",
    ),
    "damaged content": (
        warc_record(
            "http://1.example/",
            http_response(b"\x1f\x8b" + bytes(90), HTML, "Content-Encoding: gzip"),
        ),
        "its content cannot be decompressed (Content-Encoding: gzip)",
    ),
    "unknown content": (
        warc_record("http://1.example/", http_response(b"\x1b\x0e", HTML, "Content-Encoding: br")),
        "its content cannot be decompressed (Content-Encoding: br)",
    ),
}
WAYS: dict[str, Callable[[list[bytes]], bytes]] = {
    "plain": b"".join,
    "a member a record": lambda records: b"".join(map(gzip.compress, records)),
    "one member": lambda records: gzip.compress(b"".join(records)),
    "a frame a record": lambda records: b"".join(map(zstandard.compress, records)),
}


def read(path: Path, data: bytes) -> tuple[list[str], list[Broken]]:
    """The hosts of the pages, and what is broken."""
    path.write_bytes(data)
    found = list(read_documents(path))
    hosts = [str(each[1].url)[7:-9] for each in found if not isinstance(each, Broken)]
    return hosts, [each for each in found if isinstance(each, Broken)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", HOSTILE)
def test_broken_record_is_reported_and_next_records_read(
    tmp_path: Path, name: str, way: str
) -> None:
    record, why = HOSTILE[name]
    hosts, broken = read(tmp_path / "x.warc", WAYS[way]([record, *GOOD]))
    assert hosts == ["2", "3", "4"]
    assert [each.place for each in broken] == ["record 1, byte 0"]
    assert why in broken[0].reason


BODY = b"<p>Many words of one page of markup.</p>\n" * 30
WRAPPED = {
    "gzip": (gzip.compress(BODY), "Content-Encoding: gzip"),
    "deflate": (zlib.compress(BODY), "Content-Encoding: deflate"),
    "zstd": (zstandard.compress(BODY), "Content-Encoding: zstd"),
    "chunks": (
        b"%x\r\n%s\r\n5;a=b\r\nwords\r\n0\r\n\r\n" % (len(BODY), BODY),
        "Transfer-Encoding: chunked",
    ),
    "a length": (BODY, f"Content-Length: {len(BODY)}"),
}


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_half_of_a_page_is_a_broken_record_wherever_it_is_cut(
    tmp_path: Path, wrapping: str
) -> None:
    """In records that are whole: what was cut off is the download."""
    content, header = WRAPPED[wrapping]

    def record(end: int, *headers: str) -> bytes:
        block = http_response(content[:end], HTML, header)
        return warc_record("http://1.example/", block, headers=headers)

    cuts = range(10, len(content) - 6, 7)
    hosts, broken = read(tmp_path / "x.warc", b"".join(map(record, cuts)) + GOOD[0])
    assert hosts == ["2"]
    assert [each.reason for each in broken] == ["its content is cut off"] * len(cuts)
    assert read(tmp_path / "x.warc", record(len(content)))[0] == ["1"]
    declared = record(len(content) // 2, "WARC-Truncated: length")
    assert read(tmp_path / "x.warc", declared) == (["1"], [])


def test_content_that_an_archive_has_unpacked_is_whole(tmp_path: Path) -> None:
    for _, header in WRAPPED.values():
        block = http_response(BODY, HTML, header, "Content-Encoding: gzip", "Content-Length: 9000")
        assert read(tmp_path / "x.warc", warc_record("http://1.example/", block)) == (["1"], [])


@pytest.mark.parametrize("way", WAYS)
def test_a_record_in_a_record_is_its_content(tmp_path: Path, way: str) -> None:
    inner = warc_record("http://1.example/", INNER)
    assert read(tmp_path / "x.warc", WAYS[way]([inner, *GOOD])) == (["1", "2", "3", "4"], [])


@pytest.mark.parametrize("size", [4_096, 5_000])
def test_records_may_begin_anywhere_in_a_member(tmp_path: Path, size: int) -> None:
    data = b"".join(page(number) for number in range(100))
    parts = [gzip.compress(data[start : start + size]) for start in range(0, len(data), size)]
    hosts, broken = read(tmp_path / "x.warc.gz", b"".join(parts))
    assert (hosts, broken) == ([str(number) for number in range(100)], [])


@pytest.mark.parametrize("way", WAYS)
def test_of_an_archive_cut_off_the_whole_records_are_read(tmp_path: Path, way: str) -> None:
    records = [page(number) for number in range(4)]
    whole = WAYS[way](records)
    hosts, broken = read(tmp_path / "x.warc", whole[:-30])
    assert hosts == ["0", "1", "2"][: len(hosts)]
    assert len(hosts) == 3 or way == "one member"
    assert [each.reason for each in broken] == (
        ["its declared length is 63 bytes, but it ends after 37"]
        if way == "plain"
        else ["the compressed file is cut off"]
    )


@pytest.mark.parametrize("harm", ["cut", "bit", "gone"])
def test_behind_a_damaged_member_the_next_one_is_read(tmp_path: Path, harm: str) -> None:
    members = [bytearray(gzip.compress(page(number))) for number in range(5)]
    if harm == "cut":
        del members[2][-40:]
    elif harm == "bit":
        members[2][40] ^= 1
    else:
        members[2][100:120] = bytes(20)
    hosts, broken = read(tmp_path / "x.warc.gz", b"".join(members))
    assert hosts == ["0", "1", "3", "4"]
    assert [each.place for each in broken] == [f"record 3, byte {2 * len(page(0))}"]
    assert "the compressed file is damaged" in broken[0].reason


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_bomb_is_reported_and_next_member_read(
    tmp_path: Path, compress: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_UNPACKED_FREE_BYTES", 2**20)
    bomb = warc_record("http://1.example/", bytes(2**26), "image/png", kind="resource")
    data = b"".join(map(compress, [bomb, *GOOD]))
    tracemalloc.start()
    hosts, broken = read(tmp_path / "x.warc.gz", data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert hosts == ["2", "3", "4"]
    assert "holds more than 200 times its size" in broken[0].reason
    assert peak < 2**27  # the test's own 2**26, and what is unpacked at once


def test_broken_records_without_end_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc, "MAX_BROKEN_RECORDS", 3)
    hosts, broken = read(tmp_path / "x.warc", page(1) + page(2, length=9) * 5 + page(3))
    assert hosts == ["1"]
    assert broken[-1].reason == "3 records are broken; the rest is not read"
