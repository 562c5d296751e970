"""The start lines and headers of HTTP messages in web archives.

A record has the decompressed body. Headers that tell how the body came are renamed, as other
crawlers do: `Content-Encoding`, `Transfer-Encoding` and a `Content-Length` that is not that of the
record's body become `X-Crawler-Content-Encoding` and so on. A `Content-Encoding` that is left is
one that Scrapy does not know: then the record's body is encoded, too.
"""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from dedup.store import Page
from dedup.store.exchange import Exchange, Headers

_PREFIX = "X-Crawler-"
_PROTOCOLS = "HTTP/1.0", "HTTP/1.1"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Head(NamedTuple):
    """What stands before a body.

    Attributes:
        protocol: the first word.
        line: the rest of the first line.
        headers: names and values.
    """

    protocol: str
    line: str
    headers: list[tuple[str, str]]


def response_head(exchange: Exchange, status: int | None, length: int) -> Head:
    """The head of a response.

    Args:
        exchange: with the headers that came.
        status: the status code.
        length: of the decompressed body.
    """
    headers = [*_came(exchange.response, length), ("Content-Length", str(length))]
    return Head(_protocol(exchange), _status_line(status), headers)


def built_response(page: Page) -> Head:
    """The head of a response whose headers were not kept."""
    headers = [
        ("Content-Type", _printable(page.content_type) or "application/octet-stream"),
        ("Content-Length", str(len(page.body or b""))),
    ]
    versions = ("ETag", page.etag), ("Last-Modified", page.last_modified)
    headers += [(name, _printable(value)) for name, value in versions if value]
    return Head("HTTP/1.1", _status_line(page.status), headers)


def request_head(exchange: Exchange, uri: str) -> Head:
    """The head of a request.

    Args:
        exchange: with its headers.
        uri: its target; tells the host and the path.
    """
    parts = urlsplit(uri)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [each for each in _safe(exchange.request) if each[0].lower() != "host"]
    return Head(
        exchange.method, f"{target} {_protocol(exchange)}", [("Host", parts.netloc), *headers]
    )


def _came(headers: Headers, length: int) -> Iterator[tuple[str, str]]:
    """The headers that came, without the length of the body, and renamed if they belong to it."""
    for name, value in _safe(headers):
        match name.lower():
            case "content-length" if value == str(length):
                pass
            case "content-length" | "transfer-encoding":
                yield _PREFIX + name, value
            case _:
                yield name, value


def _safe(headers: Headers) -> Iterator[tuple[str, str]]:
    """The headers that stay within their lines. The store may come from anyone."""
    for name, value in headers:
        if _NAME.fullmatch(name):
            yield name, re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "", value)


def _protocol(exchange: Exchange) -> str:
    return exchange.protocol if exchange.protocol in _PROTOCOLS else "HTTP/1.1"


def _status_line(status: int | None) -> str:
    code = status or 200
    return f"{code} {HTTPStatus(code).phrase if code in set(HTTPStatus) else ''}"


def _printable(text: str) -> str:
    """The text without characters that end a header line. The store may come from anyone."""
    return re.sub(r"[^ -~]", "", text)
