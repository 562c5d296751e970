"""Which servers the scripts of a page may reach, and what they have taken from them."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from dedup.scrapy.addresses import AddressPolicy, is_private_address, resolved_host
from dedup.scrapy.rendering.bounds import TRACKERS

IsInScope = Callable[[str], bool]

_MAX_NAMED = 100
"""Hosts that are named of those refused, and of third parties."""

_PORTS = {"http": 80, "https": 443}


class Reach:
    """What the page that a browser context shows now may reach, and what it has asked for.

    Scripts can do more than links: they send any request, and read many answers. So their rules are
    stricter than those of the crawl. What `AddressPolicy` refuses is refused, and an address that
    is not public is refused as well, unless it is of the page's own origin or of a host and port in
    the crawl's scope (or of any, with `DEDUP_ALLOW_PRIVATE`).

    Attributes:
        n_bytes: that passed in both directions.
        n_own: requests to hosts in scope, or connections if they are encrypted.
        on_exhausted: is called when the page has passed more bytes than it may; nothing passes
            from then on.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        is_in_scope: IsInScope,
        *,
        max_bytes: int,
        has_third_parties: bool = True,
    ) -> None:
        self._policy = policy
        self._is_in_scope = is_in_scope
        self._max_bytes = max_bytes
        self._has_third_parties = has_third_parties
        self.on_exhausted: Callable[[], object] | None = None
        self.begin("")

    def begin(self, url: str) -> None:
        """Start to count for a page."""
        self.n_bytes = self.n_own = 0
        self._own = _place_of(url)
        self._third_parties: set[str] = set()
        self._refused: set[str] = set()

    @property
    def third_parties(self) -> tuple[str, ...]:
        return tuple(sorted(self._third_parties))

    @property
    def refused(self) -> tuple[str, ...]:
        return tuple(sorted(self._refused))

    def passed(self, n_bytes: int) -> bool:
        """Count bytes; may they pass?"""
        self.n_bytes += n_bytes
        if self.n_bytes <= self._max_bytes:
            return True
        if self.on_exhausted is not None:
            self.on_exhausted()
        return False

    def may_ask(self, scheme: str, host: str, port: int) -> bool:
        """May the page connect to a host, by its name? It is not resolved if not."""
        is_own = self._is_own(scheme, host, port)
        allowed = is_own or (
            bool(host)
            and not is_tracker(host)
            and self._has_third_parties
            and (self._policy.may_connect(host))
        )
        if not allowed:
            self.refuse(host, port)
        elif is_own:
            self.n_own += 1
        else:
            _add(self._third_parties, host)
        return allowed

    def may_use(self, scheme: str, host: str, port: int, address: str) -> bool:
        """May the page connect to this address of the host?"""
        allowed = self._policy.may_use(host, address) and (
            self._policy.is_open
            or not is_private_address(address)
            or self._is_own(scheme, host, port)
        )
        if not allowed:
            self.refuse(host, port)
        return allowed

    def refuse(self, host: str, port: int) -> None:
        _add(self._refused, f"{host}:{port}")
        self._third_parties.discard(host)

    def _is_own(self, scheme: str, host: str, port: int) -> bool:
        if (host, port) == self._own:
            return True
        named = f"[{host}]" if ":" in host else host
        return bool(host) and self._is_in_scope(f"{scheme}://{named}:{port}/")


def is_tracker(host: str) -> bool:
    """Is it, or a host above it, one of the known trackers?"""
    labels = host.split(".")
    return any(".".join(labels[start:]) in TRACKERS for start in range(len(labels)))


def _place_of(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        return resolved_host(url), parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def _add(names: set[str], name: str) -> None:
    if len(names) < _MAX_NAMED:
        names.add(name)
