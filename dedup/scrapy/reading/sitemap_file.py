"""Reading sitemaps (sitemaps.org protocol 0.9): XML, RSS, Atom or plain text, gzipped or not."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin

from lxml import etree

MAX_SIZE_BYTES = 64 * 1024 * 1024
"""The protocol allows 50 MB uncompressed; a larger file is a mistake or an attack."""

MAX_PARTS = 2_000_000
"""Tags, attributes and lines, which take up to 300 bytes of memory each: 50 MB of addresses in
twenty languages have fewer."""

_PART_BYTES = 65_536
_MAX_LASTMOD = 40
"""Characters; a time to the nanosecond has 35."""


class Sitemap(NamedTuple):
    """The URLs that a sitemap lists: of pages, or (`is_index`) of other sitemaps.

    `lastmods`: when pages changed last, as the sitemap has it, by URL; not all have it.
    """

    urls: list[str]
    is_index: bool
    lastmods: Mapping[str, str] = {}


class RawSitemap(NamedTuple):
    """A sitemap as received."""

    body: bytes
    url: str


class SitemapError(ValueError):
    """The sitemap cannot be read; the message says why."""


def read_sitemap(body: bytes) -> Sitemap:
    """Read a sitemap; of broken XML, the part before the error.

    RSS 2.0 and Atom feeds list the pages that their entries link to.

    External entities are not read: an address with one of them is left out. A file that declares
    entities of its own is refused, as they could expand without bound.

    Raises:
        SitemapError: it is not a sitemap, too large, or declares entities of its own.
    """
    body = _gunzip(body)
    if len(body) > MAX_SIZE_BYTES:
        raise SitemapError(f"larger than {MAX_SIZE_BYTES} bytes")
    if sum(map(body.count, (b"<", b"=", b"\n", b"\r"))) > MAX_PARTS:
        raise SitemapError(f"more than {MAX_PARTS} tags, attributes and lines")
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _read_text(body)
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise SitemapError(f"not XML: {error}") from None
    if root is None:
        raise SitemapError("not XML")
    if _has_entities(root):
        raise SitemapError("declares entities of its own")
    name = str(root.tag).rpartition("}")[2]  # not by QName: a namespace may have braces in it
    if name in ("urlset", "sitemapindex"):
        locations: Iterator[str] = map(_text, root.iterfind("{*}*/{*}loc"))
    elif name == "rss":
        locations = map(_rss_link, root.iterfind("channel/item"))
    elif name == "feed":
        locations = _atom_links(root)
    else:
        expected = "<urlset>, <sitemapindex>, <rss> or <feed>"
        raise SitemapError(f"expected {expected}, found <{name}>")
    urls = [url for loc in locations if (url := loc.strip())]
    return Sitemap(urls, name == "sitemapindex", _lastmods(root) if name == "urlset" else {})


def _lastmods(urlset: etree._Element) -> dict[str, str]:
    found = {}
    for lastmod in urlset.iterfind("{*}url/{*}lastmod"):
        entry, value = lastmod.getparent(), (lastmod.text or "").strip()
        if entry is not None and value:
            found[(entry.findtext("{*}loc") or "").strip()] = value[:_MAX_LASTMOD]
    return found


def _has_entities(root: etree._Element) -> bool:
    """Does the document type declare entities other than external ones?"""
    declared: Any = root.getroottree().docinfo.internalDTD
    return declared is not None and any(each.system_url is None for each in declared.entities())


def _text(element: etree._Element | None) -> str:
    """The text of an element; "" if something in it, such as an entity, was not read."""
    return "" if element is None or len(element) else element.text or ""


def _rss_link(item: etree._Element) -> str:
    """The link of an entry, or its identifier, unless that is marked as no link.

    Source: RSS 2.0 (https://www.rssboard.org/rss-specification), elements of <item>.
    """
    link = _text(item.find("link")).strip()
    guid = item.find("guid")
    if link or guid is None or guid.get("isPermaLink") == "false":
        return link
    return _text(guid)


def _atom_links(feed: etree._Element) -> Iterator[str]:
    """The page of each entry: its first link that is "alternate" or has no relation.

    Source: RFC 4287, sections 2 (xml:base) and 4.2.7.
    """
    for entry in feed.iterfind("{*}entry"):
        for link in entry.iterfind("{*}link"):
            if link.get("rel", "alternate") == "alternate":
                href = (link.get("href") or "").strip()
                yield urljoin(link.base or "", href) if href else ""
                break


def _gunzip(body: bytes) -> bytes:
    """Decompress up to just above the limit; of a damaged file, the part before the error."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    plain = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            while len(plain) <= MAX_SIZE_BYTES and (part := file.read(_PART_BYTES)):
                plain += part
    except (EOFError, OSError, zlib.error) as error:
        if not plain:
            raise SitemapError(f"damaged gzip: {error}") from None
    return bytes(plain)


def _read_text(body: bytes) -> Sitemap:
    text = body.decode("utf-8-sig", "replace").replace("\r", "\n")
    lines = (line.strip() for line in text.split("\n"))
    urls = [line for line in lines if line.startswith(("http://", "https://"))]
    if not urls:
        raise SitemapError("neither XML nor a list of URLs")
    return Sitemap(urls, is_index=False)
