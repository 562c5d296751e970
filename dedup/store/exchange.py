"""The headers of a request and its response, which are stored with the body.

They stand before the compressed body in its column, as a frame that decompressors skip, so that
they stay with it wherever it goes. Bodies of earlier releases have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from threading import local
from typing import NamedTuple

import zstandard

Headers = tuple[tuple[str, str], ...]
"""Names and values, in their order."""

_MARK = bytes.fromhex("512a4d18")
_LENGTH_BYTES = 4
_MAX_BYTES = 1 << 16
"""More than any server sends. Headers beyond are not kept."""

_LEVEL = 3
_START = re.compile(r"([!-~]+) ([!-~]+) [A-Za-z]+")
_BREAKS = re.compile(r"[\r\n]+")

# Compressed headers refer to this text, so it never changes: another one needs another mark.
_DICTIONARY = b"""\
X-Xss-Protection: 1; mode=block
X-Robots-Tag: noindex, nofollow
X-Powered-By: PHP/8.
Www-Authenticate: Basic realm="
Content-Language: en
Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-inline' https://\
; upgrade-insecure-requests; frame-ancestors 'none'
Permissions-Policy: interest-cohort=()
Report-To: {"endpoints":[{"url":"https:\\/\\/a.nel.cloudflare.com\\/report\\/v4?s="}],\
"group":"cf-nel","max_age":604800}
Nel: {"success_fraction":0,"report_to":"cf-nel","max_age":604800}
Cf-Ray:
Cf-Cache-Status: DYNAMIC
Server: cloudflare
Alt-Svc: h3=":443"; ma=86400
X-Amz-Cf-Pop: FRA
X-Amz-Cf-Id:
X-Github-Request-Id:
X-Served-By: cache-
X-Timer: S
X-Fastly-Request-Id:
X-Cache-Hits: 0
X-Cache: HIT, MISS
Via: 1.1 varnish
Age: 0
Link: <https://; rel="https://api.w.org/", rel=preload; as=style
X-Ua-Compatible: IE=edge
X-Content-Type-Options: nosniff
X-Frame-Options: SAMEORIGIN
X-Frame-Options: DENY
Referrer-Policy: strict-origin-when-cross-origin
Strict-Transport-Security: max-age=31536000; includeSubDomains; preload
Access-Control-Allow-Origin: *
Pragma: no-cache
Cache-Control: no-store, no-cache, must-revalidate, private, max-age=0
Cache-Control: public, max-age=600
Expires: Thu, 01 Jan 1970 00:00:00 GMT
Vary: Accept-Encoding, Cookie
X-Crawler-Content-Encoding: br
X-Crawler-Content-Encoding: gzip
Accept-Ranges: bytes
Etag: W/"
Last-Modified: Mon, 02 Feb 2026 10:00:00 GMT
Server: Apache/2.4 (Debian)
Server: nginx
Content-Type: text/html; charset=UTF-8
Content-Type: text/html; charset=utf-8
Content-Length: 1
Date: Wed, Fri, Sat, Sun, Tue, 21 Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec 2026 2027 GMT

GET
If-None-Match:
If-Modified-Since:
Referer: https://www.
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
Accept-Language: en
User-Agent: scrapy-dedup/0.1 (a web crawler; it obeys robots.txt)
Accept-Encoding: gzip, deflate, br, zstd
HTTP/1.1 -
"""

_OF_THREAD = local()


class Exchange(NamedTuple):
    """What is known of how a page was fetched, besides its URL, status and body.

    Attributes:
        protocol: such as `HTTP/1.1` or `h2`; "": it is not known.
        ip_address: of the server; "": it is not known.
        response: the headers of the response.
        method: of the request.
        request: its headers.
    """

    protocol: str
    ip_address: str
    response: Headers
    method: str
    request: Headers

    def pack(self) -> bytes | None:
        """The exchange as stored; None: it is too large to be kept."""
        response, request = _lines(self.response), _lines(self.request)
        start = f"{self.protocol or '-'} {self.ip_address or '-'}"
        text = "\n".join([start, *response, "", self.method, *request])
        data = text.encode("utf-8", "replace")
        return None if len(data) > _MAX_BYTES else _codec()[0].compress(data)

    @classmethod
    def unpack(cls, packed: bytes) -> Exchange:
        """An exchange that was stored.

        Raises:
            ValueError: it is something else.
        """
        try:
            if zstandard.get_frame_parameters(packed).content_size > _MAX_BYTES:
                raise ValueError(f"more than {_MAX_BYTES:,} bytes")
            text = _codec()[1].decompress(packed).decode("utf-8", "replace")
            head, request = text.split("\n\n", 1)
            start, *response = head.split("\n")
            method, *lines = request.split("\n")
            words = _START.fullmatch(f"{start} {method}")
        except (zstandard.ZstdError, MemoryError) as error:
            raise ValueError(str(error)) from error
        if words is None:
            raise ValueError("they have no protocol, address and method")
        protocol, ip_address = ("" if each == "-" else each for each in words.groups())
        return cls(protocol, ip_address, _headers(response), method, _headers(lines))


def with_exchange(packed_body: bytes, exchange: bytes | None) -> bytes:
    """The column of a body, with what `Exchange.pack` made."""
    if exchange is None:
        return packed_body
    return _MARK + len(exchange).to_bytes(_LENGTH_BYTES, "little") + exchange + packed_body


def split_body(column: bytes) -> tuple[bytes | None, bytes]:
    """The packed exchange, if there is one, and the packed body of a column."""
    if not isinstance(column, bytes) or not column.startswith(_MARK):
        return None, column
    start = len(_MARK) + _LENGTH_BYTES
    end = start + int.from_bytes(column[len(_MARK) : start], "little")
    return column[start:end], column[end:]


def _lines(headers: Headers) -> list[str]:
    return [f"{name}: {_BREAKS.sub(' ', value)}" for name, value in headers]


def _headers(lines: Iterable[str]) -> Headers:
    parted = (line.partition(":") for line in lines)
    return tuple((name, value.strip()) for name, _, value in parted)


def _codec() -> tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor]:
    found: tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor] | None
    found = getattr(_OF_THREAD, "codec", None)
    if found is None:
        known = zstandard.ZstdCompressionDict(_DICTIONARY, zstandard.DICT_TYPE_RAWCONTENT)
        known.precompute_compress(level=_LEVEL)
        found = _OF_THREAD.codec = (
            zstandard.ZstdCompressor(dict_data=known, write_checksum=True),
            zstandard.ZstdDecompressor(dict_data=known),
        )
    return found
