"""The parts of a web address in canonical spelling, and the one way from any text to them.

w3lib reads the address as a browser does (backslashes, tabs, IDN, what has to be quoted). Its
`canonicalize_url` goes further than a crawler that must lose no page may go: it sorts the values
of a repeated parameter, spells `?a` as `?a=`, and decodes `%3B` to `;` in paths. So the spelling
is settled here: equal are only what RFC 3986, section 6.2.2, and the form decoding of queries
call equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address
from itertools import filterfalse
from typing import NamedTuple
from urllib.parse import unquote_plus, urlsplit

import ada_url

_DEFAULT_PORTS = {"http": "80", "https": "443"}
C0_AND_SPACE = "".join(map(chr, range(0x21)))
_WITHOUT_NEWLINES = str.maketrans("", "", "\t\n\r")
_MAX_HOST_LENGTH = 253  # RFC 1035, section 2.3.4: 255 octets with two length octets
_HOST = r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_PLAIN_HOST = rf"(?:{_BYTE}\.){{3}}{_BYTE}(?=[:/])|(?!(?:[^:/]*\.)?(?:0x[^.:/]*|[0-9]+)[:/]){_HOST}"
"""A name, or an IPv4 address in full. Other hosts that end in a number have several spellings."""

# Escapes that stay: upper-case, and not of an unreserved character (letter, digit, - . _ ~).
_ESCAPE_BUT_SPACE = r"%(?:[0189A-F][0-9A-F]|2[1-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_PATH_TEXT = rf"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]++|%20|{_ESCAPE_BUT_SPACE})*"
_FIELD_TEXT = rf"(?:[A-Za-z0-9\-._~!$()*+,;=:@/?]++|{_ESCAPE_BUT_SPACE})+"

# Possessive quantifiers stand on single characters only: on groups they match wrongly up to
# Python 3.11.4 (github: python/cpython, issue 106052). No text is read in two ways here, so what
# does not match is given up in linear time all the same.

# Whatever matches is in canonical spelling already, but for the order of its query.
_CANONICAL = re.compile(
    rf"(https?)://(?=[^/:]{{1,{_MAX_HOST_LENGTH}}}[/:])({_PLAIN_HOST})"
    r"(:(?!80/|443/)(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?"
    rf"((?:/(?!\.\.?(?![^/?])){_PATH_TEXT})+)"
    rf"(?:\?({_FIELD_TEXT}(?:&{_FIELD_TEXT})*))?"
)
_AUTHORITY = re.compile(
    r"(?i)https?:[/\\]{2}(?:[^/?#\\]*@)?(?P<host>(?!\[)[^/?#:@\\]+)(?=[:/?#\\]|$)"
)
_NAME = re.compile(r"(?:[A-Za-z0-9_-]+\.)*(?!0[xX])[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*\.?")
_PLAIN_ORIGIN = re.compile(r"https?://[\w.:-]+(?=[/?#]|$)", re.ASCII)
_SAFE_URL = re.compile(
    r"(?P<scheme>https?)://(?P<userinfo>[^@/?]*@)?(?P<host>\[[^\]]*\]|[^:/?]*)"
    r"(?::(?P<port>[0-9]+))?(?P<path>/[^?]*)?(?:\?(?P<query>.*))?"
)
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

# Decoding the escape after an incomplete one ("%%34%31", "%4%31") would make a new escape ("%41"),
# which the next round would decode: the first alternative leaves such an escape alone.
_ESCAPES = re.compile(r"(%[0-9A-Fa-f]?)(%[0-9A-Fa-f]{2})|%([0-9A-Fa-f]{2})")


class UrlParts(NamedTuple):
    """A web address in canonical spelling. `userinfo`, `port`, `query` are empty where absent."""

    scheme: str
    userinfo: str
    """With its "@"."""
    host: str
    port: str
    """With its ":"; never the scheme's default port."""
    path: str
    query: str
    """Without the "?"; no empty fields, ordered by parameter name."""

    def __str__(self) -> str:
        scheme, userinfo, host, port, path, query = self
        mark = "?" if query else ""
        return f"{scheme}://{userinfo}{host}{port}{path}{mark}{query}"

    def without_fields(self, is_dropped: Callable[[str], bool]) -> UrlParts:
        """The address without some fields of its query."""
        if not self.query:
            return self
        fields = self.query.split("&")
        return self._replace(query="&".join(filterfalse(is_dropped, fields)))


def split_canonical(url: str) -> UrlParts | None:
    """Split a plain address that is spelt canonically but perhaps for the order of its query.

    None only means that the pattern does not match; `split_url` may be able to split the address.
    The result is the same as that of `split_url`, at a sixth of the cost.
    """
    match = _CANONICAL.fullmatch(url)
    if match is None:
        return None
    scheme, host, port, path, query = match.groups("")
    return UrlParts(scheme, "", host, port, path, sort_query(query) if "&" in query else query)


def split_url(url: str) -> UrlParts:
    """Split any address and spell its parts canonically; the fragment is dropped.

    Raises:
        ValueError: not an absolute http or https URL, or without a usable host or port.
    """
    # It loads an HTTP client: a sixth of the time in which a process that reads pages starts.
    from w3lib.url import safe_url_string

    # "#" stays: w3lib strips blanks at the end of the text, but quotes them before a fragment.
    address, hash_sign, _ = trimmed(url).partition("#")
    try:
        safe = safe_url_string(with_ascii_host(address + hash_sign))
    except ValueError as error:  # bad ports and brackets; UnicodeError (lone surrogates) is one too
        raise ValueError(_complaint("a valid URL", url, str(error)[:200])) from error
    match = _SAFE_URL.fullmatch(safe)
    if match is None:
        raise ValueError(_complaint("an absolute http or https URL", url))
    scheme, userinfo, host, port, path, query = match.groups("")
    return UrlParts(
        scheme,
        userinfo,
        _host(host, url),
        "" if not port or port == _DEFAULT_PORTS[scheme] else f":{port}",
        remove_dot_segments(spell_escapes(path) or "/"),
        sort_query(spell_escapes(query).replace("%20", "+")),
    )


def trimmed(url: str) -> str:
    """The URL as browsers first read it: without blanks around it, or tabs and line ends in it."""
    url = url.strip(C0_AND_SPACE)
    return url if url.isprintable() else url.translate(_WITHOUT_NEWLINES)


def with_ascii_host(url: str) -> str:
    """Spell the host as browsers send it: in punycode by UTS 46, without escapes, IPv4 in full.

    Python's own codec follows IDNA 2003, by which faß.de and fass.de are one host. What makes no
    host stays as it is.

    >>> with_ascii_host("http://faß.de/ä"), with_ascii_host("http://0x7f.1:80/")
    ('http://xn--fa-hia.de/ä', 'http://127.0.0.1:80/')

    Source: URL Standard, section 3.5 (https://url.spec.whatwg.org/#host-parsing).
    """
    url = trimmed(url)
    match = _AUTHORITY.match(url)
    if match is None or _NAME.fullmatch(match["host"]):
        return url
    try:
        host = ada_url.URL(f"http://{match['host']}/").hostname
    except ValueError:
        return url
    return f"{url[: match.start('host')]}{host}{url[match.end('host') :]}"


def plain_origin(url: str) -> str:
    """A URL up to its path, for what depends on scheme, host and port: many URLs share it.

    A URL whose host is spelt otherwise than in letters, digits, dots and hyphens comes back whole.

    >>> plain_origin("http://a.example:80/b?c"), plain_origin("http://a@b.example/c")
    ('http://a.example:80', 'http://a@b.example/c')
    """
    match = _PLAIN_ORIGIN.match(url)
    return match[0] if match else url


def redirect_target(url: str, location: bytes) -> str:
    """Where a `Location` header leads from `url`, as browsers read it: absolute, and in ASCII.

    Bytes outside ASCII are escaped as they are. In a host escapes are read as UTF-8, so that a host
    that is spelt out is found; paths and queries keep the encoding that the server wrote.

    Raises:
        ValueError: it leads to no URL.

    >>> redirect_target("http://a.example/b/", "//faß.de/ä?ö".encode())
    'http://xn--fa-hia.de/%C3%A4?%C3%B6'
    >>> redirect_target("http://a.example/b/", "../c/é".encode("latin-1"))
    'http://a.example/c/%E9'

    Source: URL Standard, section 4.4; Chromium's `HttpResponseHeaders::IsRedirect`.
    """
    escaped = "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in location)
    return str(ada_url.join_url(url, escaped))


def sort_query(query: str) -> str:
    """Order the fields by decoded parameter name and drop empty fields.

    Fields of one name keep their order, which servers see; the order of names, they do not.
    """
    fields = [field for field in query.split("&") if field]
    if len(fields) > 1:
        fields.sort(key=parameter_name)
    return "&".join(fields)


def parameter_name(field: str) -> str:
    """The decoded name of a query field, "name=value" or "name"."""
    name = field.partition("=")[0]
    return unquote_plus(name) if "%" in name or "+" in name else name


def remove_dot_segments(path: str) -> str:
    """Resolve "." and ".." in an absolute path; empty segments ("//") stay.

    Source: RFC 3986, section 5.2.4.

    >>> remove_dot_segments("/a/b/../c//./d/..")
    '/a/c//'
    """
    if "/." not in path:
        return path
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in {".", ".."}:
        resolved.append("")
    return "/" + "/".join(resolved)


def spell_escapes(text: str) -> str:
    """Upper-case the escapes and decode those of unreserved characters, no others."""
    return _ESCAPES.sub(_spell_escape, text) if "%" in text else text


def _spell_escape(match: re.Match[str]) -> str:
    incomplete, kept, digits = match.groups()
    if kept:
        return f"{incomplete}{kept.upper()}"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"


def _host(host: str, url: str) -> str:
    if host.startswith("["):
        try:
            address = IPv6Address(host[1:-1])
        except ValueError as error:
            raise ValueError(_complaint("a URL with a valid host", url, str(error))) from error
        if address.scope_id is not None:  # a link-local zone: means something on one machine only
            raise ValueError(_complaint("a URL with a host without a zone", url))
        return f"[{address}]"
    host = host.removesuffix(".")
    if len(host) > _MAX_HOST_LENGTH or not re.fullmatch(_HOST, host):
        raise ValueError(_complaint("a URL with a valid host", url))
    return host


def _complaint(rule: str, url: str, reason: str = "") -> str:
    """The start of a long address tells enough; the data URLs among them run to megabytes."""
    return f"url must be {rule}, got {url[:200]!r}{reason and f' ({reason})'}"


def host_of(url: str | None) -> str:
    """Host and port of a URL in lower case; "" if it has no host.

    >>> host_of("https://Example.org:8080/a")
    'example.org:8080'
    """
    return _host_of_origin(plain_origin(url)) if url else ""


def site_of(url: str) -> str:
    """The host of a URL, without `www.`: with and without it, a host is mostly one site.

    >>> site_of("https://www.a.example/x")
    'a.example'
    """
    return host_of(url).removeprefix("www.")


@lru_cache(1_000)
def _host_of_origin(url: str) -> str:
    try:
        host = urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""
    return host if host.isascii() else host.encode("utf-8", "replace").decode()


def host_without_port(host: str) -> str:
    """A host without its port, as Scrapy names its download slots.

    >>> host_without_port("example.org:8080"), host_without_port("[::1]:80")
    ('example.org', '::1')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).strip("[]")
