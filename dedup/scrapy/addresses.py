"""Which hosts a crawl may connect to: no public host can lead it into a private network.

A page, a sitemap, robots.txt or a redirect of a public host may name any address, for example that
of a service on the crawling machine, or of a cloud's metadata. The start URLs may be private, and
so may the URLs that private hosts link to.
"""

# ruff: noqa: N802, N803 -- names of Twisted's interfaces

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakSet

import ada_url
from scrapy.crawler import Crawler
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from dedup.scrapy.config import CrawlConfig
from dedup.urls.parts import plain_origin

_MAX_HOSTS = 100_000

_PUBLIC_IPV6 = IPv6Network("2000::/3")
"""The only global unicast addresses that IANA gives out; `ipaddress` also calls others global."""

_IPV6_FOR_BOOKS = IPv6Network("3fff::/20")
"""RFC 9637; Python 3.11 does not know it."""

_NAT64 = (0x0064_FF9B << 96, 0x0064_FF9B_0001 << 80)


class AddressPolicy:
    """Decides for one crawl which hosts and addresses it may connect to.

    A start host that had a public address when it was first resolved counts as public from then on:
    if its address changes to a private one later, the crawl does not connect to it.

    Attributes:
        is_open: may the crawl go anywhere (`DEDUP_ALLOW_PRIVATE`)?
    """

    _policies: ClassVar[WeakKeyDictionary[Crawler, AddressPolicy]] = WeakKeyDictionary()

    @classmethod
    def of(cls, crawler: Crawler) -> AddressPolicy:
        if crawler not in cls._policies:
            cls._policies[crawler] = cls(is_open=CrawlConfig.of(crawler).is_private_allowed)
        return cls._policies[crawler]

    def __init__(self, *, is_open: bool = False) -> None:
        self.is_open = is_open
        self._allowed: set[str] = set()
        self._public: set[str] = set()
        self._private: set[str] = set()
        self._refused: set[str] = set()

    def start(self, url: str) -> None:
        """Allow the host of a start URL."""
        self._allow(resolved_host(url))

    def may_follow(self, url: str, found_on: str) -> bool:
        """May `url` be requested because the page at `found_on` names it?"""
        if self.is_open:
            return True
        host, origin = resolved_host(url), resolved_host(found_on)
        if self._is_private(origin):
            self._allow(host)
            return True
        return host == origin or not self._is_private(host)

    def may_connect(self, host: str) -> bool:
        """May the crawl connect to a host, by its name? `may_use` decides by its address."""
        return self.is_open or host in self._allowed or not is_private_name(host)

    def may_use(self, host: str, address: str) -> bool:
        """May the crawl connect to `address`, which the name `host` has?"""
        if self.is_open:
            return True
        if not is_private_address(address):
            if host not in self._private:
                _add(self._public, host)
            return True
        if host in self._allowed and host not in self._public:
            _add(self._private, host)
            return True
        _add(self._refused, host)
        return False

    def was_refused(self, host: str) -> bool:
        """Has an address of the host been refused?"""
        return host in self._refused

    def has_private(self) -> bool:
        """May the crawl connect to any private host? If not, no link can lead to one."""
        return bool(self._private) or any(map(is_private_name, self._allowed))

    def _allow(self, host: str) -> None:
        _add(self._allowed, host)

    def _is_private(self, host: str) -> bool:
        return host in self._private or is_private_name(host)


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves host names to those addresses that the crawls of this process may connect to."""

    policies: ClassVar[WeakSet[AddressPolicy]] = WeakSet()

    def __init__(self, resolver: Any) -> None:
        self._resolver = resolver

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        *args: object,
        **kwargs: object,
    ) -> Any:
        receiver = _GuardedReceiver(resolutionReceiver, lambda address: _may_use(hostName, address))
        return self._resolver.resolveHostName(receiver, hostName, *args, **kwargs)

    @classmethod
    def install(cls, reactor: Any, policy: AddressPolicy) -> None:
        """Replace the reactor's resolver by a guarded one, unless it is one already."""
        cls.policies.add(policy)
        if not isinstance(reactor.nameResolver, cls):
            reactor.installNameResolver(cls(reactor.nameResolver))


@implementer(IResolutionReceiver)
class _GuardedReceiver:
    def __init__(self, receiver: Any, may_use: Callable[[str], bool]) -> None:
        self._receiver = receiver
        self._may_use = may_use

    def resolutionBegan(self, resolutionInProgress: object) -> None:
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: Any) -> None:
        if self._may_use(address.host):
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:
        self._receiver.resolutionComplete()


def _may_use(host: str, address: str) -> bool:
    """Does every crawl of the process allow the address? The crawls share one resolver."""
    verdicts = [policy.may_use(host.lower().rstrip("."), address) for policy in _policies()]
    return all(verdicts)


def _policies() -> list[AddressPolicy]:
    return list(GuardedResolver.policies)


def resolved_host(url: str) -> str:
    """The host as browsers read it: in lower case, in ASCII, IPv4 addresses with four numbers.

    >>> resolved_host("http://0x7f.1:80/"), resolved_host("HTTP://A.Example./"), resolved_host("http://[::1]/")
    ('127.0.0.1', 'a.example', '::1')
    """
    return _host_of_origin(plain_origin(url))


@lru_cache(1_000)
def _host_of_origin(url: str) -> str:
    try:
        url = ada_url.URL(url).href
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_private_name(host: str) -> bool:
    """Is the host an address that is not public, or a name for this machine?"""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return is_private_address(host)
    except ValueError:
        return False


def is_private_address(address: str) -> bool:
    """Is the address not public? An IPv4 address within an IPv6 address decides for it.

    >>> [is_private_address(a) for a in ("169.254.169.254", "::ffff:10.0.0.1", "93.184.216.34")]
    [True, True, False]

    Raises:
        ValueError: it is not an address.
    """
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        within = _ipv4_within(parsed)
        if within is None and (parsed not in _PUBLIC_IPV6 or parsed in _IPV6_FOR_BOOKS):
            return True
        parsed = within or parsed
    return not parsed.is_global or parsed.is_multicast


def _ipv4_within(address: IPv6Address) -> IPv4Address | None:
    number = int(address)
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if number >> 32 in (_NAT64[0] >> 32, _NAT64[1] >> 32) or 1 < number < 1 << 32:
        return IPv4Address(number & 0xFFFF_FFFF)  # `::a.b.c.d` is an old form of the first
    return None


def _add(hosts: set[str], host: str) -> None:
    if host and len(hosts) < _MAX_HOSTS:
        hosts.add(host)
