"""The headers of a response and its request, as Scrapy has them."""

from __future__ import annotations

import re

from scrapy.http import Response
from scrapy.http.headers import Headers as ScrapyHeaders

from dedup.store.exchange import Exchange, Headers

_SECRET = re.compile(
    rb"auth|cookie|credential|password|secret|session|signature|token|api-?key", re.IGNORECASE
)
"""Request headers that may hold what only this crawler may know."""

_CREDENTIALS = re.compile(r"(https?://)[^\s/?#@]*@")
_COOKIES = re.compile(rb"set-cookie", re.IGNORECASE)


def exchange_of(response: Response) -> bytes | None:
    """The packed `Exchange` of a response, without cookies and other secrets."""
    request, address = response.request, response.ip_address
    return Exchange(
        response.protocol or "",
        "" if address is None else str(address),
        _without(_COOKIES, response.headers),
        "GET" if request is None else request.method,
        () if request is None else _without(_SECRET, request.headers),
    ).pack()


def _without(left_out: re.Pattern[bytes], headers: ScrapyHeaders) -> Headers:
    return tuple(
        (name.decode("latin-1"), _text(value))
        for name, values in headers.items()
        if not left_out.search(name)
        for value in values
    )


def _text(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return _CREDENTIALS.sub(r"\1", text) if "@" in text else text
