"""WACZ: its parts are what its lists say, and the index leads to each record."""

from __future__ import annotations

import gzip
import io
import json
import sys
from base64 import b32encode
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from dedup.cli import main
from dedup.export import wacz, write_wacz
from dedup.store import Page, SqliteStore
from dedup.store.exchange import Exchange

archives = pytest.importorskip("warcio.archiveiterator", reason="warcio is not installed")

Parts = dict[str, bytes]


@pytest.fixture
def parts(job: Path, monkeypatch: pytest.MonkeyPatch) -> Parts:
    """The members of an archive, whose index has blocks of two lines."""
    monkeypatch.setattr(wacz, "_BLOCK_LINES", 2)
    exchange = Exchange("HTTP/1.1", "", (("Content-Type", "text/html;a=b"),), "GET", ())
    url, packed = "https://www.G.example/b?z=1&a=2", exchange.pack()
    page = Page(id="", text="Hello", title="G", url=url, body=b"<p>G", exchange=packed)
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(9, page, {})
    return members(export(job))


def export(job: Path) -> Path:
    with SqliteStore(job / "crawl.sqlite", read_only=True) as store:
        for _ in write_wacz(job / "x.wacz", store):
            pass
    return job / "x.wacz"


def members(path: Path) -> Parts:
    with ZipFile(path) as archive:
        assert archive.testzip() is None
        stored = {each.filename for each in archive.infolist() if not each.compress_type}
        assert stored == {"archive/data.warc.gz", "indexes/index.cdx.gz"}
        # Viewers look for more fields at a member only where the directory has some.
        assert all(each.extra for each in archive.infolist())
        return {name: archive.read(name) for name in archive.namelist()}


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def lines(data: bytes) -> list[tuple[str, Any]]:
    """The keys and values of an index."""
    parted = (line.partition(" {") for line in data.decode().splitlines())
    return [(key, json.loads(f"{{{value}")) for key, _, value in parted]


def test_the_package_lists_its_parts(parts: Parts) -> None:
    package = json.loads(parts.pop("datapackage.json"))
    told = json.loads(parts.pop("datapackage-digest.json"))
    assert told["path"] == "datapackage.json"
    assert package["wacz_version"] == "1.1.1"
    assert package["profile"] == "data-package"
    assert {each["path"]: (each["hash"], each["bytes"]) for each in package["resources"]} == {
        name: (digest(data), len(data)) for name, data in parts.items()
    }


def test_the_digest_is_of_the_package(parts: Parts) -> None:
    told = json.loads(parts["datapackage-digest.json"])
    assert told["hash"] == digest(parts["datapackage.json"])


def test_the_index_of_blocks_leads_to_each_block(parts: Parts) -> None:
    (start, about), *blocks = lines(parts["indexes/index.idx"])
    assert (start, about["format"]) == ("!meta 0", "cdxj-gzip-1.0")
    found = []
    for key, block in blocks:
        data = parts["indexes/index.cdx.gz"][block["offset"] :][: block["length"]]
        assert block["digest"] == digest(data)
        assert block["filename"] == about["filename"] == "index.cdx.gz"
        of_block = lines(gzip.decompress(data))
        assert of_block[0][0] == key
        found += of_block
    assert len(blocks) == 3
    assert found == lines(gzip.decompress(parts["indexes/index.cdx.gz"]))
    assert [key for key, _ in found] == sorted(key for key, _ in found)


def test_the_index_leads_to_each_record(parts: Parts) -> None:
    found = {}
    for key, line in lines(gzip.decompress(parts["indexes/index.cdx.gz"])):
        assert line["filename"] == "data.warc.gz"
        data = parts["archive/data.warc.gz"][int(line["offset"]) :][: int(line["length"])]
        record = next(iter(archives.ArchiveIterator(io.BytesIO(data), check_digests="raise")))
        about = record.rec_headers
        assert about.get_header("WARC-Target-URI") == line["url"]
        body = record.content_stream().read()
        if record.rec_type != "revisit":
            sha = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
            assert line["digest"] == f"sha1:{sha}"
        found[key] = (record.rec_type, line["mime"], line.get("status"))
    response = "response", "text/html", "200"
    assert found == {
        "example,a)/a 20231114221321": response,
        "example,b)/b 20231114221321": ("revisit", "warc/revisit", None),
        "example,d)/d 20231114221321": response,
        "example,g)/b?a=2&z=1 19700101000000": response,
        "urn:x-scrapy-dedup:document:5 20231114221321": ("resource", "text/plain", None),
    }  # no near duplicate


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.example", "example,a)/"),
        ("https://WWW2.a.example:443/B/#c", "example,a)/b/"),
        ("http://a.example:443/?", "example,a:443)/"),
        ("http://127.0.0.1:80/x?b&a=", "1,0,0,127)/x?a=&b"),
        ("http://[2001:db8::1]/", "[2001:db8::1])/"),
        ("http://wwwa.example/", "example,wwwa)/"),
        ("urn:A:b", "urn:A:b"),
        ("ftp://a/B", "ftp://a/B"),
    ],
)
def test_keys_are_those_of_viewers(url: str, key: str) -> None:
    assert wacz.url_key(url) == key


def test_the_archive_has_what_a_warc_file_has(parts: Parts, job: Path) -> None:
    assert main(["export", str(job), "-o", str(job / "x.warc.gz")]) == 0

    def records(data: bytes) -> list[Any]:
        iterator = archives.ArchiveIterator(io.BytesIO(data))
        return [(dict(each.rec_headers.headers), each.content_stream().read()) for each in iterator]

    ours, theirs = records(parts["archive/data.warc.gz"]), records((job / "x.warc.gz").read_bytes())
    assert ours[1:] == theirs[1:]
    assert len(ours) == 8


def test_pages_have_their_texts(parts: Parts) -> None:
    about, *pages = map(json.loads, parts["pages/pages.jsonl"].splitlines())
    assert about["format"] == "json-pages-1.0"
    assert [page["url"][-1] for page in pages] == ["a", "d", "2"]  # one has no URL
    assert pages[-1]["title"] == "G"
    assert pages[-1]["text"] == "Hello"
    assert pages[0]["ts"] == "2023-11-14T22:13:21.250Z"


def test_a_job_without_pages_is_an_archive(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "crawl.sqlite").close()
    parts = members(export(tmp_path))
    assert lines(parts["indexes/index.idx"])[1:] == []


def test_pages_alone_are_written_if_duplicates_go_elsewhere(job: Path) -> None:
    assert main(["export", str(job), "-o", str(job / "x.wacz"), "-d", str(job / "d.csv")]) == 0
    index = gzip.decompress(members(job / "x.wacz")["indexes/index.cdx.gz"])
    assert b"revisit" not in index
    assert index.count(b"\n") == 3


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("-d", "-d cannot be a WACZ file, which is made of pages"),
        ("--failed", "--failed cannot be a web archive"),
    ],
)
def test_other_tables_are_refused(
    job: Path, option: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(job), option, str(job / "x.wacz")]) == 2
    assert said in capsys.readouterr().err


def test_without_its_packages_it_is_refused_and_nothing_is_left(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "warcio.warcwriter", None)
    before = set(job.iterdir())
    assert main(["export", str(job), "-o", str(job / "x.wacz")]) == 2
    assert "WARC needs a package that is not installed" in capsys.readouterr().err
    assert set(job.iterdir()) == before
