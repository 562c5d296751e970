"""Routes: fragments by which the scripts of a page show others at its address, such as `#/path`.

Servers never see them, so only crawls that render pages tell them apart. Any other fragment is a
place within a page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from dedup.urls.parts import parameter_name, spell_escapes, trimmed

_PLAIN = "!$&'()*+,;=:@/?%"
"""What a fragment may have besides unreserved characters: RFC 3986, section 3.5."""

FIRST_ROUTES = 20
"""Of an address, after which it is known whether they show something new. Applications have few
views that all show one text, such as a form to log in."""

_MAX_NEW = 1
"""Texts besides that of the address itself, among so many routes that show nothing new: scripts may
add to each the same."""

_MAX_NEW_SHARE = 0.1
"""Of routes with a query: a link to a place in a page may be found before the page is."""

_MAX_SHOWN = 100_000
"""Hashes, three for each page; 14 MB. Those noted last are kept, as are as many addresses of which
it is known whether they have scripts."""

_MAX_COUNTS = 10_000


def is_route(fragment: str) -> bool:
    """Is a fragment a route? It begins with "!" or "/", and has something after it.

    >>> is_route("/path"), is_route("!/path"), is_route("!"), is_route("/"), is_route("top")
    (True, True, False, False, False)
    """
    return fragment.startswith(("!", "/")) and fragment.strip("!/") != ""


def route_of(url: str) -> str:
    """The route of a URL in canonical spelling, without a place in its page; "": it has none.

    Raises:
        ValueError: it has no spelling, for a lone surrogate.

    >>> route_of("http://a.example/b?c#/d e#f"), route_of("http://a.example/b#c")
    ('/d%20e', '')
    """
    fragment = without_place(trimmed(url)).partition("#")[2]
    return spell_escapes(quote(fragment, safe=_PLAIN)) if is_route(fragment) else ""


def without_place(url: str) -> str:
    """A URL without a place in the page at its route: what follows a second `#`.

    >>> without_place("http://a.example/#/b#c"), without_place("http://a.example/#c")
    ('http://a.example/#/b', 'http://a.example/#c')
    """
    return "#".join(url.split("#", 2)[:2])


class _Route(NamedTuple):
    """A route of an address.

    Attributes:
        names: of its query's parameters; "": it has no query.
        without: the URL that shows the same if the route shows nothing new: without its query, or,
            where there is none, without the route.
    """

    address: str
    names: str
    without: str


def _read(url: str) -> _Route | None:
    address, _, fragment = url.partition("#")
    if not is_route(fragment):
        return None
    path, mark, query = fragment.partition("?")
    names = "&".join(sorted({parameter_name(each) for each in query.split("&")}))
    is_path = mark and is_route(path)
    return _Route(address, f"?{names}" if mark else "", f"{address}#{path}" if is_path else address)


class RouteWatch:
    """Finds routes that show nothing new, so that no more of them are rendered.

    They are those of an address, or those of an address with the same names in their queries (links
    to places within pages, where a route takes the fragment's place). It is decided by the first
    `FIRST_ROUTES`. What an earlier process has read counts no more. A page without scripts shows
    the same at each route, which is known as soon as it has been read.
    """

    def __init__(self) -> None:
        self._shown: OrderedDict[int, None] = OrderedDict()
        """Hashes: of each address, and of it together with what it and its routes show."""
        self._counts: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()
        """Routes that were read and those that were new, by address and names."""
        self._has_scripts: OrderedDict[int, bool] = OrderedDict()
        """By the hash of an address."""

    def note_scripts(self, address: str, *, has_any: bool) -> None:
        """Note whether a page has anything that may change it in a browser."""
        self._has_scripts[hash(address)] = has_any
        self._has_scripts.move_to_end(hash(address))
        if len(self._has_scripts) > _MAX_SHOWN:
            self._has_scripts.popitem(last=False)

    def has_scripts(self, address: str) -> bool | None:
        """Has the page at an address anything that may change it? None: it is not known."""
        return self._has_scripts.get(hash(address))

    def note(self, url: str, shown: Iterable[int]) -> None:
        """Note what a page shows, at a route or not: hashes; one that is known tells that it is."""
        route = _read(url)
        address = url.partition("#")[0] if route is None else route.address
        keys = [hash((address, each)) for each in shown]
        if route is not None and hash(address) in self._shown:
            n_routes, n_new = self._counts.get(route[:2], (0, 0))
            is_new = not any(key in self._shown for key in keys)
            self._counts[route[:2]] = n_routes + 1, n_new + is_new
            self._counts.move_to_end(route[:2])
        for key in (hash(address), *keys):
            self._shown[key] = None
            self._shown.move_to_end(key)
        while len(self._shown) > _MAX_SHOWN:
            self._shown.popitem(last=False)
        while len(self._counts) > _MAX_COUNTS:
            self._counts.popitem(last=False)

    def same_as(self, url: str) -> str:
        """The URL that shows what a route most likely shows, too; "": it may show something new."""
        route = _read(url)
        if route is None:
            return ""
        n_routes, n_new = self._counts.get(route[:2], (0, 0))
        most = _MAX_NEW_SHARE * n_routes if route.names else _MAX_NEW
        return route.without if n_routes >= FIRST_ROUTES and n_new <= most else ""
