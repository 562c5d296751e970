"""What a crawler reads from a page besides its text: links, and what the page says of itself.

One parse by an HTML5 parser (lexbor). lxml, Scrapy's own, takes 2.6 times as long for parse and
links, and loses whatever follows `</html>`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urldefrag, urlsplit

import ada_url
from selectolax.lexbor import LexborNode

from dedup.html.bounds import Bounded, bounded
from dedup.preferences.declarations import MAX_DECLARATIONS, MAX_VALUE_CHARACTERS, METAS
from dedup.preferences.directives import robots_directives
from dedup.urls.credentials import without_credentials
from dedup.urls.parts import C0_AND_SPACE, trimmed
from dedup.urls.routes import is_route

_HEAD = "html, base[href], meta[content], head link[rel][href], title:not(svg title)"
_LINKS = "a[href], area[href], iframe[src], frame[src]"
_READ = f"{_HEAD}, {_LINKS}, body noscript"
_LINK_TAGS = frozenset(["a", "area", "iframe", "frame"])

_SPACE = " \t\n\f\r"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PLAIN_ABSOLUTE = re.compile(
    r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[1-5]?\d{1,4})?(?:[/?][!-\[\]-~]*)?"
)
_NOT_PLAIN = re.compile(r"[^!-~]+")
_MAX_FOLDERS = 64  # a longer path is left to `urljoin`

MAX_LINKS = 50_000
"""Links of a page that count, in document order. Manuals in one page have some thousands."""

MAX_LINK_CHARACTERS = 10_000_000
"""Of all links of a page, after resolution: a `<base>` of 80,000 characters stands in each."""
_REFRESH = re.compile(
    r"""\s*(?:\d[\d.]*|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?
        (?:"(?P<double>[^"]*)|'(?P<single>[^']*)|(?P<bare>.*))""",
    re.ASCII | re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page's links and metadata, as plain strings; the parsed tree is gone.

    Attributes:
        url: where the page came from.
        encoding: of its bytes; queries of links go out in it.
        title: the document's first `<title>` (not an SVG's), white space folded; "" if none.
        language: `<html lang>` or the content-language pragma, in lower case; "" if none.
        base_url: what relative links are relative to.
        canonical_url: absolute target of `<link rel=canonical>` in the head, or None.
        is_nofollow: robots are asked not to follow this page's links (`links` has them even so).
        is_noindex: robots are asked not to keep this page.
        refresh_url: absolute target of `<meta http-equiv=refresh>`, or None; None if it is the page
            itself.
        hrefs: targets to follow as the page has them, in document order, without repeats: `<a>`,
            `<area>`, `<iframe>`, `<frame>`, at the end those in `<noscript>`; without other schemes
            than http and https, and mere fragments, but for those that begin as kept routes do.
        nofollow_hrefs: those of them that only links with `rel=nofollow` have.
        preferences: names and contents of the meta elements that tell what the page may be used
            for, as declared.
        has_routes: do links keep their routes? See `dedup.urls.routes`.
    """

    url: str
    encoding: str
    title: str
    language: str
    base_url: str
    canonical_url: str | None
    is_nofollow: bool
    is_noindex: bool
    refresh_url: str | None
    hrefs: tuple[str, ...]
    nofollow_hrefs: frozenset[str] = frozenset()
    preferences: tuple[tuple[str, str], ...] = ()
    has_routes: bool = False

    def links(self, *, with_nofollow: bool = False) -> list[str]:
        """The targets as absolute http and https URLs, in order, without repeats.

        They have no fragment, but for routes, if these are kept. Targets that make no URL with a
        host are left out. The URLs are not canonical yet: escapes and the like are as in the page,
        and dot segments of plain absolute links. At most `MAX_LINKS`, of `MAX_LINK_CHARACTERS`
        together: the first.

        Args:
            with_nofollow: those of links with `rel=nofollow`, too.
        """
        return self.bounded_links(with_nofollow=with_nofollow)[0]

    def bounded_links(self, *, with_nofollow: bool = False) -> tuple[list[str], int]:
        """The same, and how many targets are left out for those bounds."""
        resolve = Resolver(self.base_url, self.encoding, has_routes=self.has_routes)
        left_out = frozenset() if with_nofollow else self.nofollow_hrefs
        found: dict[str, None] = {}
        n_characters = 0
        for n_targets, href in enumerate(self.hrefs):
            url = None if href in left_out else resolve(href)
            if url is None or url in found:
                continue
            n_characters += len(url)
            if len(found) >= MAX_LINKS or n_characters > MAX_LINK_CHARACTERS:
                return list(found), len(self.hrefs) - n_targets
            found[url] = None
        return list(found), 0


def parse_page(
    html: str | Bounded,
    url: str,
    *,
    encoding: str = "utf-8",
    robots_headers: Iterable[str] = (),
    has_routes: bool = False,
) -> HtmlPage:
    """Read links and metadata from a page that came from `url`.

    `encoding` is that of the page's bytes: what is not ASCII in the query of a link is asked for in
    the same encoding, as browsers do.
    `robots_headers` are the values of the response's X-Robots-Tag headers; they count like
    `<meta name=robots>`. Rules for a named robot are passed over. Never raises for a bad page:
    NUL, lone surrogates, unclosed tags, missing values and URLs that are none are all read as
    browsers do or left out; a page that would take a parser seconds is flattened first (`bounded`).

    >>> page = parse_page("<title>A  page</title><a href='b?c#d'>b</a>", "http://example.com/a/")
    >>> page.title, page.links()
    ('A page', ['http://example.com/a/b?c'])
    """
    head = _Head()
    links: list[LexborNode] = []
    noscript: list[str] = []
    for node in bounded(html).tree.css(_READ):  # one walk: it takes as long as what it finds
        tag = node.tag
        if tag in _LINK_TAGS:
            links.append(node)
        elif tag != "noscript":
            head.read(node)
        elif "href" in (text := node.text()):
            noscript.append(text)
    base_url = (Resolver(url, encoding)(head.base_href) if head.base_href else None) or url
    resolve = Resolver(base_url, encoding)
    robots = head.robots.union(*map(robots_directives, robots_headers))
    refresh_url = resolve(head.refresh_href) if head.refresh_href else None
    hrefs = _hrefs(links, has_routes)
    for href, is_nofollow in _noscript_hrefs(noscript, has_routes).items():
        hrefs[href] = is_nofollow and hrefs.get(href, True)
    return HtmlPage(
        url=url,
        encoding=encoding,
        title=head.title or "",
        language=head.language or head.pragma_language,
        base_url=base_url,
        canonical_url=resolve(head.canonical_href) if head.canonical_href else None,
        is_nofollow=not robots.isdisjoint(("nofollow", "none")),
        is_noindex=not robots.isdisjoint(("noindex", "none")),
        refresh_url=None if refresh_url == urldefrag(url)[0] else refresh_url,
        hrefs=tuple(hrefs),
        nofollow_hrefs=frozenset(href for href, is_nofollow in hrefs.items() if is_nofollow),
        preferences=tuple(head.preferences[:MAX_DECLARATIONS]),
        has_routes=has_routes,
    )


class _Head:
    """Collects the metadata; of each kind the first counts."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.language = ""
        self.pragma_language = ""
        self.base_href = ""
        self.canonical_href = ""
        self.refresh_href = ""
        self.robots: frozenset[str] = frozenset()
        self.preferences: list[tuple[str, str]] = []

    def read(self, node: LexborNode) -> None:
        attributes = node.attributes
        match node.tag:
            case "html":
                self.language = (attributes.get("lang") or "").strip(_SPACE).lower()
            case "title" if self.title is None:
                self.title = " ".join(node.text().split())
            case "base":
                self.base_href = self.base_href or trimmed(attributes["href"] or "")
            case "link":
                if "canonical" in (attributes["rel"] or "").lower().split():
                    self.canonical_href = self.canonical_href or trimmed(attributes["href"] or "")
            case "meta":
                self._read_meta(attributes)

    def _read_meta(self, attributes: dict[str, str | None]) -> None:
        content = attributes["content"] or ""
        name = (attributes.get("name") or "").strip(_SPACE).lower()
        if name == "robots":
            self.robots |= robots_directives(content)
        if name in METAS:
            self.preferences.append((name, content[:MAX_VALUE_CHARACTERS]))
        match (attributes.get("http-equiv") or "").strip(_SPACE).lower():
            case "refresh":
                self.refresh_href = self.refresh_href or _refresh_href(content)
            case "content-language" if "," not in content:
                self.pragma_language = self.pragma_language or content.strip(_SPACE).lower()


def _refresh_href(content: str) -> str:
    found = _REFRESH.match(content)
    return trimmed(found["double"] or found["single"] or found["bare"]) if found else ""


def _hrefs(links: Iterable[LexborNode], has_routes: bool) -> dict[str, bool]:
    """The targets of links, and of each: have all its links `rel=nofollow`?"""
    found: dict[str | None, bool] = {}  # repeats first: the rest is done for each target once
    for node in links:
        attributes = node.attributes
        target = attributes.get("href") or attributes.get("src")
        is_nofollow = "rel" in attributes and _is_nofollow(attributes["rel"])
        found[target] = is_nofollow and found.get(target, True)
    hrefs: dict[str, bool] = {}
    for target, is_nofollow in found.items():
        href = trimmed(target or "")
        is_place = href[:1] == "#" and not (has_routes and href[1:2] in ("/", "!"))
        if href and not is_place and _is_web(href):
            hrefs[href] = is_nofollow and hrefs.get(href, True)
    return hrefs


def _is_nofollow(rel: str | None) -> bool:
    return "nofollow" in (rel or "").lower().split()


def _is_web(href: str) -> bool:
    scheme = _SCHEME.match(href)
    return scheme is None or scheme[1].lower() in ("http", "https")


def _noscript_hrefs(texts: list[str], has_routes: bool) -> dict[str, bool]:
    """Links for browsers without scripts, as a crawler is; to the parser they are text."""
    return _hrefs(bounded("".join(texts)).tree.css(_LINKS), has_routes) if texts else {}


class Resolver:
    """Resolves links as browsers do; those that pages are made of at a third of the cost.

    Args:
        has_routes: are fragments that are routes kept?

    Source: URL Standard, section 4.4 (https://url.spec.whatwg.org/#url-parsing).
    """

    def __init__(self, base_url: str, encoding: str, *, has_routes: bool = False) -> None:
        self._base_url = base_url
        self._has_routes = has_routes
        self._encoding = "utf-8" if encoding.startswith("utf") else encoding
        try:
            parts = urlsplit(base_url)
        except ValueError:
            parts = urlsplit("")
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._document = self._origin + (parts.path or "/")
        # The base's folder, the one above it, and so on up to the origin.
        self._folders = [self._document.rpartition("/")[0] + "/"]
        while self._folders[-1] != self._origin + "/" and len(self._folders) < _MAX_FOLDERS:
            self._folders.append(self._folders[-1][:-1].rpartition("/")[0] + "/")
        self._is_plain = (
            _PLAIN_ABSOLUTE.fullmatch(self._document) is not None
            and "/." not in parts.path
            and len(self._folders) < _MAX_FOLDERS
        )

    def __call__(self, href: str) -> str | None:
        """The absolute http or https URL, or None if there is none.

        Without fragment, but for a route that is kept. Without name and password: a page's links
        do not log the crawl in anywhere.
        """
        href, _, fragment = href.partition("#")
        url = self._address(href.rstrip(C0_AND_SPACE))
        has_route = self._has_routes and is_route(fragment)
        return f"{url}#{fragment}" if url and has_route else url

    def _address(self, href: str) -> str | None:
        if _PLAIN_ABSOLUTE.fullmatch(href):
            return href
        is_plain = self._is_plain and "\\" not in href and href.isprintable()
        url = self._resolve_plain(href) if is_plain and href.isascii() else None
        return url or self._resolve_slowly(href)

    def _resolve_plain(self, href: str) -> str | None:
        if href[:1] == "?":
            return self._document + href
        n_up = 0
        while href.startswith("../", 3 * n_up):
            n_up += 1
        path = href[3 * n_up :]
        if path[:1] in ("", ".") or "/." in path or path[:2] == "//":
            return None
        if path[0] == "/":
            return None if n_up else self._origin + path
        if ":" in path:
            return None
        return self._folders[min(n_up, len(self._folders) - 1)] + path

    def _resolve_slowly(self, href: str) -> str | None:
        path, question_mark, query = href.partition("?")
        if self._encoding != "utf-8" and not query.isascii():
            query = _encoded(query, self._encoding)
        try:
            url = ada_url.join_url(self._base_url, path + question_mark + query)
            parts = urlsplit(url)
            is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # no host, "http://[" and the like; the base is no URL
            return None
        return without_credentials(url) if is_usable else None


def _encoded(query: str, encoding: str) -> str:
    """A query as forms and links send it; what the encoding lacks as a numeric reference."""
    try:
        return _NOT_PLAIN.sub(
            lambda match: quote(match[0].encode(encoding, "xmlcharrefreplace"), safe=""), query
        )
    except LookupError:
        return query
