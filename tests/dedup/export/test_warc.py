"""Web archives, read back by warcio and by FastWARC, each an independent reader."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from dedup.errors import DamageError
from dedup.export import NEAR_DUPLICATE_PROFILE, write_warc
from dedup.store import Page, SqliteStore
from dedup.store.exchange import Exchange
from tests import json_lines

pytest.importorskip("warcio", reason="warcio is not installed")

IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def export(job: Path, name: str = "x.warc.gz", **options: Any) -> Path:
    store = SqliteStore(job / "crawl.sqlite", read_only=True)
    try:
        for _ in write_warc(job / name, store, **options):
            pass
    finally:
        store.close()
    return job / name


def read(path: Path) -> list[tuple[dict[str, str], bytes]]:
    from warcio.archiveiterator import ArchiveIterator

    with path.open("rb") as file:
        return [
            (dict(record.rec_headers.headers), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]


def of_type(records: list[tuple[dict[str, str], bytes]], kind: str) -> dict[str, Any]:
    found = (record for record in records if record[0]["WARC-Type"] == kind)
    return {headers.get("WARC-Target-URI", ""): (headers, body) for headers, body in found}


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz"])
def test_pages_come_back_with_their_bodies(job: Path, name: str) -> None:
    records = read(export(job, name))
    assert [headers["WARC-Type"] for headers, _ in records] == [
        "warcinfo",
        "response",
        "response",
        "resource",
        "revisit",
        "revisit",
    ]
    responses = of_type(records, "response")
    assert list(responses) == ["http://a.example/a", "http://d.example/d"]
    headers, body = responses["http://d.example/d"]
    assert body.decode() == "<p>" + "其他的內容。" * 20 + "</p>"
    assert headers["WARC-Date"] == "2023-11-14T22:13:21.250000Z"


def test_a_page_without_a_body_is_a_resource_of_its_text(job: Path) -> None:
    ((uri, (headers, body)),) = of_type(read(export(job)), "resource").items()
    assert uri == "urn:x-scrapy-dedup:document:5"  # it has no URL
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert body.startswith(b"Another text.")


def test_revisits_refer_to_their_originals(job: Path) -> None:
    records = read(export(job))
    original = of_type(records, "response")["http://a.example/a"][0]
    revisits = of_type(records, "revisit")
    for headers, body in revisits.values():
        assert headers["WARC-Refers-To"] == original["WARC-Record-ID"]
        assert headers["WARC-Refers-To-Target-URI"] == original["WARC-Target-URI"]
        assert headers["WARC-Refers-To-Date"] == original["WARC-Date"]
        assert body == b""
    copy, near = (revisits[f"http://{name}.example/{name}"][0] for name in "bc")
    assert copy["WARC-Profile"] == IDENTICAL
    assert copy["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    assert near["WARC-Profile"] == NEAR_DUPLICATE_PROFILE
    assert "WARC-Payload-Digest" not in near  # the bytes are others
    assert near["X-Dedup-Stage"] == "sentences"
    assert 0.9 < float(near["X-Dedup-Resemblance"]) < 1


def test_fastwarc_reads_the_same(job: Path) -> None:
    fastwarc = pytest.importorskip("fastwarc.warc", reason="fastwarc is not installed")
    path = export(job)
    with path.open("rb") as file:
        # Records whose digest is wrong, or missing, would be passed over.
        records = fastwarc.ArchiveIterator(file, parse_http=False, verify_digests=True)
        found = [dict(record.headers) for record in records]
    assert found == [headers for headers, _ in read(path)]


def test_every_export_has_the_same_record_ids(job: Path) -> None:
    first, again = (
        [headers["WARC-Record-ID"] for headers, _ in read(export(job, name))][1:]
        for name in ("x.warc", "y.warc")
    )
    assert first == again
    assert len(set(first)) == len(first)


def test_versions_of_a_page_differ_by_headers(job: Path) -> None:
    store = SqliteStore(job / "crawl.sqlite")
    date = "Sat, 21 Nov 2026 10:00:00 GMT"
    page = Page(id="", text="", url="http://v.example/", body=b"V", etag='"v1"', last_modified=date)
    store._write_page(9, page, {})
    store.close()
    from warcio.archiveiterator import ArchiveIterator

    with export(job).open("rb") as file:
        found = [each.http_headers for each in ArchiveIterator(file) if each.http_headers]
    headers = [dict(each.headers) for each in found]
    assert (headers[-1]["ETag"], headers[-1]["Last-Modified"]) == ('"v1"', date)
    assert "ETag" not in headers[0]


EXCHANGE = Exchange(
    "h2",
    "2001:db8::1",
    (
        ("Date", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("Content-Type", "text/html"),
        ("Content-Length", "77"),
        ("Transfer-Encoding", "chunked"),
        ("X-Crawler-Content-Encoding", "br"),
        ("Link", "</a>; rel=next"),
        ("Link", "</b>; rel=prev"),
        ("X-Name", "é\u2028\x85Forged: 1"),
        ("Not a name", "x"),
    ),
    "POST",
    (("User-Agent", "a crawler"), ("Host", "other.example")),
)


def with_headers(job: Path, exchange: Exchange, url: str = "http://h.example/p a?q=1") -> Any:
    """The records of the page with these headers, with their heads."""
    page = Page(id="", text="", url=url, body=b"<p>Hello", status=404, exchange=exchange.pack())
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(9, page, {})
    from warcio.archiveiterator import ArchiveIterator

    with export(job).open("rb") as file:
        return [
            (each.rec_type, each.rec_headers, each.http_headers, each.content_stream().read())
            for each in ArchiveIterator(file, check_digests="raise")
            if "h.example" in (each.rec_headers.get_header("WARC-Target-URI") or "")
        ]


def test_headers_are_those_that_came_and_fit_the_body(job: Path) -> None:
    (kind, about, head, body), _ = with_headers(job, EXCHANGE)
    assert (kind, body) == ("response", b"<p>Hello")
    assert about.get_header("WARC-IP-Address") == "2001:db8::1"
    assert about.get_header("WARC-Protocol") == "h2"
    assert (head.protocol, head.statusline) == ("HTTP/1.1", "404 Not Found")
    assert head.headers == [
        ("Date", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("Content-Type", "text/html"),
        ("X-Crawler-Content-Length", "77"),
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Crawler-Content-Encoding", "br"),
        ("Link", "</a>; rel=next"),
        ("Link", "</b>; rel=prev"),
        ("X-Name", "%C3%A9Forged%3A%201"),
        ("Content-Length", "8"),
    ]


def test_a_request_belongs_to_its_response(job: Path) -> None:
    (_, of_response, _, _), (kind, about, head, body) = with_headers(job, EXCHANGE)
    assert (kind, body) == ("request", b"")
    assert about.get_header("WARC-Concurrent-To") == of_response.get_header("WARC-Record-ID")
    for name in ("WARC-Date", "WARC-Target-URI", "WARC-IP-Address"):
        assert about.get_header(name) == of_response.get_header(name)
    assert (head.protocol, head.statusline) == ("POST", "/p%20a?q=1 HTTP/1.1")
    assert head.headers == [("Host", "h.example"), ("User-Agent", "a crawler")]
    assert about.get_header("WARC-Truncated") == "unspecified"  # its body is not there


def test_a_request_without_a_body_is_whole(job: Path) -> None:
    _, (_, about, _, _) = with_headers(job, EXCHANGE._replace(method="GET", protocol="HTTP/1.0"))
    assert about.get_header("WARC-Truncated") is None
    assert about.get_header("WARC-Protocol") is None


def test_damaged_headers_are_told(job: Path) -> None:
    page = Page(id="", text="", url="http://h.example/", body=b"x", exchange=b"no frame")
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(9, page, {})
    with pytest.raises(DamageError, match="the headers of page 9 are damaged"):
        export(job)
    assert not (job / "x.warc.gz").exists()


def test_hostile_fields_stay_within_their_header(job: Path) -> None:
    store = SqliteStore(job / "crawl.sqlite")
    with store.unit() as connection:
        connection.execute(
            "UPDATE pages SET url = ?, content_type = ?, etag = ? WHERE number = 1",
            ("http://a.example/\r\nWARC-Type: x y", "text/html\r\n\r\n<script>", "1\r\n\r\n<p>"),
        )
    store.close()
    records = read(export(job))
    responses = of_type(records, "response")
    _, body = responses["http://a.example/%0D%0AWARC-Type:%20x%20y"]
    assert body.startswith(b"<p>Letter 0")
    assert len(records) == 6


def test_a_stage_of_a_stranger_stays_within_its_header(job: Path) -> None:
    connection = sqlite3.connect(job / "crawl.sqlite")
    connection.execute("UPDATE duplicates SET stage = ?", ("a\r\nX-Forged: 1\r\n\r\nWARC/1.1\r\n",))
    connection.commit()
    connection.close()
    written = export(job, "a.warc").read_bytes()
    assert b"X-Dedup-Stage: a%0D%0AX-Forged%3A%201%0D%0A%0D%0AWARC%2F1.1%0D%0A\r\n" in written
    assert b"\nX-Forged" not in written


def test_a_run_over_the_archive_keeps_the_pages(job: Path, tmp_path: Path) -> None:
    url, body = "http://h.example/", b"<p>" + b"Hello " * 40
    packed = EXCHANGE._replace(method="GET").pack()
    page = Page(id="", text="", url=url, body=body, status=200, exchange=packed)
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(9, page, {})
    out = tmp_path / "out.jsonl"
    assert main(["run", str(export(job)), "-o", str(out)]) == 0
    urls = ["http://a.example/a", "http://d.example/d", "urn:x-scrapy-dedup:document:5"]
    assert [row["url"] for row in json_lines.read(out)] == [*urls, url]
