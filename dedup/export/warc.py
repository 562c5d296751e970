"""A job as a web archive: WARC 1.1 (ISO 28500:2017).

Each unique page is a `response` record, with the `request` record that belongs to it if headers
were stored, see `dedup.export.http_heads`; each duplicate is a `revisit` record that refers to it.
Bodies are decompressed. A page without a stored body is a `resource` record of its main text. So is
a rendered page, of its DOM: no server has sent that, and the standard has `response` records for
what was sent (6.3) and `resource` records for content without a protocol's response (6.4).

The standard on duplicates (6.7): a revisit record says that the content is "a complete or
substantial duplicate" of an archived one, and its profile defines the details. The profile
`identical-payload-digest` claims the same bytes, so it is used for equal bodies, found by the stage
`body`. For others the standard allows new profiles, "such as recording the apparent magnitude of
difference" (6.7.4). Ours is `NEAR_DUPLICATE_PROFILE`: the block is empty; `WARC-Refers-To`,
`WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date` name the original as in the other profiles;
there is no payload digest; `X-Dedup-Stage`, `X-Dedup-Resemblance` and `X-Dedup-Distance` (bits) say
how the duplicate was found and how similar it is. A reader that does not know the profile must not
interpret the record.
"""

from base64 import b32encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from dedup.collection.writing.warc import WarcFile, target_uri
from dedup.errors import DamageError
from dedup.export.http_heads import Head, built_response, request_head, response_head
from dedup.extras import load_extra
from dedup.files import replacing
from dedup.store import JobStore, Page
from dedup.store.exchange import Exchange
from dedup.store.query_results import DuplicateRow
from dedup.store.selection import EVERYTHING, Selection
from dedup.urls.parts import host_of

NEAR_DUPLICATE_PROFILE = "urn:x-scrapy-dedup:revisit:near-duplicate"
IDENTICAL_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

ABOUT = {
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    "description": (
        "bodies are decompressed, and X-Crawler-Content-Encoding, X-Crawler-Transfer-Encoding and"
        " X-Crawler-Content-Length tell how they came; cookies and credentials are left out"
    ),
}
"""What the first record of an archive tells."""

_RENDERED = "text/html; charset=utf-8"
_CACHED_ORIGINALS = 10_000


class _Original(NamedTuple):
    """What a revisit record says about the original. No digest: its body was not kept."""

    record_id: str
    uri: str
    date: str
    digest: str | None


def write_warc(
    path: Path,
    store: JobStore,
    selection: Selection = EVERYTHING,
    *,
    tables: Sequence[str] = ("pages", "duplicates"),
) -> Iterator[None]:
    """Write the records of the `tables` one by one, with a yield after each.

    A page has the same `WARC-Record-ID` in every export. The file exists only once the iterator is
    exhausted.

    Raises:
        ModuleNotFoundError: warcio is not installed.
        OSError: the file cannot be written.
    """
    with replacing(path) as part, closing(WarcFile(part, path.name, **ABOUT)) as archive:
        yield from write_records(archive, store, selection, tables)


def write_records(
    archive: WarcFile, store: JobStore, selection: Selection, tables: Sequence[str]
) -> Iterator[None]:
    """Write records to an archive; see `write_warc`."""
    records = _Records(store, archive)
    if "pages" in tables:
        for number in store.exports.page_numbers(selection):
            records.write_page(number)
            yield
    if "duplicates" in tables:
        for duplicate in store.exports.duplicate_rows(selection):
            records.write_duplicate(duplicate)
            yield


class _Records:
    def __init__(self, store: JobStore, archive: WarcFile) -> None:
        self._headers = load_extra("warcio.statusandheaders", extra="warc", purpose="WARC")
        self._store = store
        self._archive = archive
        self._original = lru_cache(_CACHED_ORIGINALS)(self._read_original)

    def write_page(self, number: int) -> None:
        page = self._store.page(number)
        uri = target_uri(page.url, number)
        headers = _identity(number, page.url, page.fetched_at)
        if page.body is None:
            self._archive.add_text(uri, page.text, headers)
            return
        rendered = self._store.learned.rendering.of_page(host_of(page.url), page.url or "")
        if rendered is not None and rendered.is_rendered:
            self._archive.add_new(
                "resource", uri, page.body, headers=headers, warc_content_type=_RENDERED
            )
            return
        exchange = self._exchange(number, page)
        if exchange is None:
            self._add_message("response", uri, page.body, headers, built_response(page))
            return
        if exchange.ip_address:
            headers["WARC-IP-Address"] = exchange.ip_address
        if exchange.protocol and not exchange.protocol.startswith("HTTP/"):
            headers["WARC-Protocol"] = exchange.protocol
        response = response_head(exchange, page.status, len(page.body))
        self._add_message("response", uri, page.body, headers, response)
        self._add_request(uri, headers, exchange)

    def _add_request(self, uri: str, of_response: Mapping[str, str], exchange: Exchange) -> None:
        response_id = of_response["WARC-Record-ID"]
        headers = {
            **of_response,
            "WARC-Record-ID": _record_id(f"request {response_id}"),
            "WARC-Concurrent-To": response_id,
        }
        if exchange.method not in ("GET", "HEAD"):
            headers["WARC-Truncated"] = "unspecified"  # its body was not kept
        self._add_message("request", uri, b"", headers, request_head(exchange, uri))

    def _add_message(
        self, kind: str, uri: str, body: bytes, headers: Mapping[str, str], head: Head
    ) -> None:
        http_headers = self._headers.StatusAndHeaders(
            head.line, head.headers, protocol=head.protocol
        )
        self._archive.add_new(kind, uri, body, headers=headers, http_headers=http_headers)

    def _exchange(self, number: int, page: Page) -> Exchange | None:
        try:
            return None if page.exchange is None else Exchange.unpack(page.exchange)
        except ValueError as error:
            raise DamageError(
                self._store.location, f"the headers of page {number} are damaged ({error})"
            ) from error

    def write_duplicate(self, duplicate: DuplicateRow) -> None:
        original = self._original(duplicate.original)
        headers = {
            **_identity(duplicate.number, duplicate.url, duplicate.fetched_at),
            "WARC-Refers-To": original.record_id,
            "WARC-Refers-To-Target-URI": original.uri,
            "WARC-Refers-To-Date": original.date,
        }
        if duplicate.stage == "body" and original.digest is not None:
            headers["WARC-Profile"] = IDENTICAL_PROFILE
            headers["WARC-Payload-Digest"] = original.digest
        else:
            headers["WARC-Profile"] = NEAR_DUPLICATE_PROFILE
        headers["X-Dedup-Stage"] = quote(duplicate.stage, safe="")  # the store may come from anyone
        if duplicate.resemblance is not None:
            headers["X-Dedup-Resemblance"] = f"{duplicate.resemblance:.6g}"
        if duplicate.distance is not None:
            headers["X-Dedup-Distance"] = str(duplicate.distance)
        uri = target_uri(duplicate.url, duplicate.number)
        self._archive.add_new("revisit", uri, headers=headers)

    def _read_original(self, number: int) -> _Original:
        page = self._store.page(number)
        digest = None if page.body is None else _digest(page.body)
        identity = _identity(number, page.url, page.fetched_at)
        uri = target_uri(page.url, number)
        return _Original(identity["WARC-Record-ID"], uri, identity["WARC-Date"], digest)


def _identity(number: int, url: str | None, fetched_at: float) -> dict[str, str]:
    date = datetime.fromtimestamp(fetched_at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"WARC-Record-ID": _record_id(f"{url} {number} {fetched_at!r}"), "WARC-Date": date}


def _record_id(name: str) -> str:
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, name)}>"


def _digest(body: bytes) -> str:
    return "sha1:" + b32encode(sha1(body, usedforsecurity=False).digest()).decode()
