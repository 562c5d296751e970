"""One spelling for each web address, and its key: what the crawl knows an address by."""

from collections.abc import Sequence
from functools import lru_cache

from xxhash import xxh3_128_digest

from dedup.urls.parts import split_canonical, split_url
from dedup.urls.routes import route_of
from dedup.urls.rules import UrlRules

_CACHED_URLS = 10_000  # the links repeated on every page of a site; about 4 MB when full


def canonical_url(
    url: str, rules: Sequence[str] | UrlRules = (), *, has_routes: bool = False
) -> str:
    """Return the canonical spelling of a web address; applied twice, it changes nothing more.

    Always: scheme and host in lower case, the host in punycode and without a dot at the end, no
    default port, dot segments resolved, escapes in upper case and only where needed, a blank in
    the query as "+", no fragment, no empty query, parameters ordered by name.

    Never merged: upper and lower case in path or query, the values of one parameter and their
    order, "?a" and "?a=", "//" and "/", ";" parameters of the path, a reserved character and its
    escape ("/a%2Fb", "/a;b" and "/a%3Bb"). Sorting by name is what Scrapy does by default; a site
    that tells "?a=1&b=2" from "?b=2&a=1" is not served.

    Args:
        url: any text.
        rules: names of further rules, or the rules themselves; see `UrlRules`.
        has_routes: does a fragment that is a route stay? See `dedup.urls.routes`.

    Raises:
        ValueError: not an absolute http or https URL, or without a usable host or port; or a name
            that is not a rule.

    >>> canonical_url("HTTP://Example.com:80/a/../b?z=1&y=%7e#top")
    'http://example.com/b?y=~&z=1'
    >>> canonical_url("http://www.example.com/news/?utm_source=x", ["slash", "tracking"])
    'http://www.example.com/news'
    """
    return _canonical(url, _as_rules(rules), has_routes)


def url_key(canonical: str) -> bytes:
    """Return the 16 bytes by which a canonical address is known: XXH3-128, big-endian, of UTF-8.

    By chance, two of 10^9 addresses share a key with probability 1.5e-21; against an adversary who
    makes such pairs on purpose it is no defence.

    >>> url_key("http://example.com/").hex()
    '42663426682770e605cd77c9b152d153'
    """
    return xxh3_128_digest(canonical.encode())


class Canonicaliser:
    """`canonical_url` with fixed options, and a memory of the last 10,000 addresses.

    >>> canonical = Canonicaliser(["https"])
    >>> canonical("http://example.com")
    'https://example.com/'
    """

    def __init__(self, rules: Sequence[str] | UrlRules = (), *, has_routes: bool = False) -> None:
        self.rules = _as_rules(rules)
        self.has_routes = has_routes
        self._cached = lru_cache(_CACHED_URLS)(_canonical)

    def __call__(self, url: str) -> str:
        """Return the canonical spelling of `url`, or raise as `canonical_url` does."""
        return self._cached(url, self.rules, self.has_routes)


def _as_rules(rules: Sequence[str] | UrlRules) -> UrlRules:
    return rules if isinstance(rules, UrlRules) else UrlRules(rules)


def _canonical(url: str, rules: UrlRules, has_routes: bool) -> str:
    address, _, fragment = url.partition("#")
    parts = split_canonical(address) or split_url(url)
    spelt = str(rules(parts) if rules.names else parts)
    route = route_of(url) if has_routes and fragment else ""
    return f"{spelt}#{route}" if route else spelt
