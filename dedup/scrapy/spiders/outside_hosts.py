"""Counts the hosts outside a crawl's scope, and describes them at the end of the crawl.

A crawl that ends with almost no pages has often started at another host than the site's own. Only
what this process has seen counts: the sentences are for the user who waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dedup.scrapy.spiders.scope import Scope, host_key
from dedup.scrapy.wording import wording
from dedup.urls.parts import plain_origin

_FEW_PAGES = 5
"""A crawl of more pages has found its site. Links of more pages are not looked at."""

_FEW_LINKS = 3
"""Fewer links mean nothing: a page's only link may lead to the program that made it."""

_NEARLY_ALL = 0.9
_MAX_HOSTS = 1_000


class OutsideHosts:
    """Counts what leads to other hosts than those of the scope: links, sitemaps, redirects."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._n_pages = 0
        self._links = _Hosts()
        self._listed = _Hosts()
        self._redirects: dict[str, tuple[str, str]] = {}

    def note_links(self, urls: Iterable[str]) -> None:
        """Note the links of a page."""
        self._n_pages += 1
        if self._n_pages <= _FEW_PAGES:
            self._links.note(urls, self._scope)

    def note_listed(self, urls: Iterable[str]) -> None:
        """Note the URLs that a sitemap lists."""
        self._listed.note(urls, self._scope)

    def note_redirect(self, url: str, target: str, start: str) -> None:
        """Note that a URL at which the crawl begins redirects; `start`: where it should begin."""
        self._redirects.setdefault(url, (target, start))

    def sentences(self, n_pages: int) -> Iterator[str]:
        """The sentences for the end of a crawl whose job has `n_pages`."""
        if self._redirects:
            url, (target, start) = next(iter(self._redirects.items()))
            n_more = len(self._redirects) - 1
            others = "1 more start URL" if n_more == 1 else f"{n_more:,} more start URLs"
            more = f" (and {others} to another host)" if n_more else ""
            begin = wording().start.format(start)
            yield f"{url} redirects to {target}, outside the crawl{more}: start with {begin}"
        links, listed = self._links, self._listed
        if n_pages == self._n_pages == 1 and not links.n_found:
            yield (
                "the page has no links; if scripts make them, the crawl does not see them: try the"
                " site's sitemaps"
            )
        if max(n_pages, self._n_pages) <= _FEW_PAGES and links.outside:
            host, count = links.outside.most_common(1)[0]
            if count >= max(_FEW_LINKS, _NEARLY_ALL * links.n_found):
                yield (
                    f"{count:,} of {links.n_found:,} links found lead to {host}, outside the"
                    f" crawl: start there, or add it to {wording().add}"
                )
        if listed.outside:
            host, count = listed.outside.most_common(1)[0]
            most = f"on {host}" if count == listed.n_outside else f"on other hosts, mostly {host}"
            yield (
                f"{listed.n_outside:,} of {listed.n_found:,} URLs listed in sitemaps were left out"
                f" because they are {most}, outside the crawl: start there, or add it to"
                f" {wording().add}"
            )


class _Hosts:
    """URLs by host, of those outside the scope; of more than `_MAX_HOSTS` hosts, the first."""

    def __init__(self) -> None:
        self.n_found = self.n_outside = 0
        self.outside: Counter[str] = Counter()

    def note(self, urls: Iterable[str], scope: Scope) -> None:
        for url in urls:
            self.n_found += 1
            host = host_key(plain_origin(url))
            if host and not scope.has_host(host):
                self.n_outside += 1
                if host in self.outside or len(self.outside) < _MAX_HOSTS:
                    self.outside[host] += 1
