"""Reading the search indexes that Pagefind makes: a file, or fragment, for each page.

`pagefind-entry.json` names a file for each language, and that the fragments of its pages, by
digests of their texts. Which page a fragment is of, it says itself: so a page with another text is
one whose fragment was not there before.

Source: https://github.com/Pagefind/pagefind, `pagefind/src/output/mod.rs`,
`pagefind_web_js/lib/coupled_search.ts`.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

ENTRY = "pagefind-entry.json"

_FILE = re.compile(rf"(?:{re.escape(ENTRY)}|\.pf_(?:meta|fragment))$")

_START = b"pagefind_dcd"
"""Of what a file has, decompressed."""

_MAX_BYTES = 16 * 1024 * 1024
_GZIP, _GZIP_BITS = b"\x1f\x8b", zlib.MAX_WBITS | 16

_PAGE = re.compile(rb"\x82(?:[\x60-\x77]|\x78.)([A-Za-z][\w-]{0,40}_[0-9a-f]{6,64})(?=[\0-\x1b])")
"""A page in CBOR: an array of two, the name of its fragment and a number of words."""

_NAME = re.compile(r"[\w-]{1,100}")


def is_pagefind(url: str) -> bool:
    """Is it the URL of a file of such an index?"""
    return _FILE.search(url) is not None


def read_pagefind(body: bytes, url: str) -> dict[str, str]:
    """What the file at `url` names: those of languages, their fragments, or the page of a fragment.

    Returns:
        By their URLs, the digests of what they say; of a page, the name of its fragment.

    Raises:
        ValueError: it is no such file.
    """
    if url.endswith(ENTRY):
        languages = _members(_json(body).get("languages"))
        names = [_members(each).get("hash") for each in languages.values()]
        return {
            urljoin(url, f"pagefind.{name}.pf_meta"): name
            for name in names
            if isinstance(name, str) and _NAME.fullmatch(name)
        }
    content = _unpacked(body)
    if url.endswith("_meta"):
        found = (name.decode() for name in _PAGE.findall(content))
        return {urljoin(url, f"fragment/{name}.pf_fragment"): name for name in found}
    page = _json(content).get("url")
    if not isinstance(page, str) or not page.isprintable():
        raise ValueError("a fragment without a URL")
    return {urljoin(urljoin(url, "../../"), page.removeprefix("/")): _name_of(url)}


def _name_of(fragment: str) -> str:
    return fragment.rpartition("/")[2].removesuffix(".pf_fragment")


def _json(text: bytes) -> Mapping[str, Any]:
    return _members(json.loads(text.decode("utf-8", "replace")))


def _members(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no members")
    return value


def _unpacked(body: bytes) -> bytes:
    if body.startswith(_GZIP):
        reader = zlib.decompressobj(_GZIP_BITS)
        try:
            body = reader.decompress(body, _MAX_BYTES)
        except zlib.error as error:
            raise ValueError(f"damaged gzip: {error}") from None
        if not reader.eof:
            raise ValueError("cut off, or too large")
    if not body.startswith(_START):
        raise ValueError("no file of Pagefind")
    return body.removeprefix(_START)
