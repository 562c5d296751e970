"""Files as Pagefind writes them."""

from __future__ import annotations

import gzip
import json


def listing(*names: str) -> bytes:
    """The file of a language: CBOR that has the names of the fragments of its pages."""
    pages = b"".join(b"\x82" + _text(name) + b"\x19\x03\xeb" for name in names)
    chunks = b"\x81\x83" + _text("a") + _text("z") + _text("en_14e1c72")
    size = b"\x9a" + len(names).to_bytes(4, "big")
    return gzip.compress(b"pagefind_dcd\x85" + _text("1.3.0") + size + pages + chunks + b"\x80\x80")


def fragment(url: str, content: str) -> bytes:
    """The file of a page."""
    told = {"url": url, "content": content, "word_count": 1, "filters": {}, "meta": {}}
    return gzip.compress(b"pagefind_dcd" + json.dumps(told).encode())


def _text(text: str) -> bytes:
    size = len(text)
    return (bytes([0x60 + size]) if size < 24 else bytes([0x78, size])) + text.encode()
