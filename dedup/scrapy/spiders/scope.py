"""Which URLs belong to a crawl."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from dedup.urls.parts import plain_origin, with_ascii_host

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Scope:
    """The hosts of the start URLs, narrowed by `allow` and `deny`.

    Args:
        start_urls: their hosts (with port) are in scope.
        allow: a regular expression; only URLs in which it is found are in scope. If it contains
            "://" it names hosts itself, and the hosts of the start URLs do not count.
        deny: a regular expression; URLs in which it is found are out of scope, whatever else holds.
            Of a URL with a fragment, both look at the whole URL, and at what is before it.

    Raises:
        ValueError: an expression does not compile.
    """

    def __init__(self, start_urls: Iterable[str], *, allow: str = "", deny: str = "") -> None:
        self.hosts = {host_key(url) for url in start_urls}
        self._allow = _compile("allow", allow)
        self._deny = _compile("deny", deny)
        self._is_any_host = "://" in allow

    def __contains__(self, url: str) -> bool:
        if not self.has_host(host_key(plain_origin(url))):
            return False
        if self._allow is not None and not _is_found(self._allow, url):
            return False
        return self._deny is None or not _is_found(self._deny, url)

    def has_host(self, host: str) -> bool:
        """Is a host, as `host_key` gives it, in scope? If `allow` names hosts, any may be."""
        return self._is_any_host or host in self.hosts

    def follow_start(self, url: str, start_url: str) -> None:
        """Add the host that a start URL redirects to, if the two differ only by "www."."""
        if _without_www(host_key(url)) == _without_www(host_key(start_url)):
            self.hosts.add(host_key(url))


@lru_cache(1_000)
def host_key(url: str) -> str:
    """The host in lower case, with the port unless it is the scheme's default; "" if not a URL.

    Hosts with letters beyond ASCII take their form in the DNS, as they do in Scrapy's requests.

    >>> host_key("https://Example.org:443/a"), host_key("http://localhost:8000/")
    ('example.org', 'localhost:8000')
    """
    try:
        parts = urlsplit(with_ascii_host(url))
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
    return host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


def is_loopback(url: str) -> bool:
    """Is the URL's host this machine?"""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _is_found(expression: re.Pattern[str], url: str) -> bool:
    address, mark, _ = url.partition("#")
    return bool(expression.search(url) or (mark and expression.search(address)))


def _compile(name: str, expression: str) -> re.Pattern[str] | None:
    if not expression:
        return None
    try:
        return re.compile(expression)
    except re.error as error:
        raise ValueError(
            f"{name} must be a regular expression, got {expression!r} ({error})"
        ) from None
