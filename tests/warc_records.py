"""Records of web archives."""

from __future__ import annotations

RESPONSE = "application/http; msgtype=response"
HTML = "Content-Type: text/html"


def warc_record(
    uri: str,
    block: bytes,
    content_type: str = RESPONSE,
    *,
    kind: str = "response",
    name: object = None,
    headers: tuple[str, ...] = (),
    length: object = None,
    end: bytes = b"\r\n\r\n",
) -> bytes:
    """A record.

    Args:
        name: in its ID.
        headers: more of them.
        length: what it says of its block, if that is a lie.
        end: what follows the block.
    """
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:{uri if name is None else name}>",
        "WARC-Date: 2026-01-02T03:04:05Z",
        f"WARC-Target-URI: {uri}",
        *headers,
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + block + end


def http_response(body: bytes, *headers: str, status: int = 200) -> bytes:
    """What a server has sent."""
    return "\r\n".join([f"HTTP/1.1 {status} OK", *headers, "", ""]).encode() + body
