"""The visits of a refresh with a budget, put into another order by what the first ones find."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from dedup.revisits import Schedule, Trust, instant, odds_of, section_of, trust_in_sections
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.reading.pagefind import is_pagefind
from dedup.scrapy.reading.search_index import MAX_PAGES
from dedup.scrapy.url_keys import UrlKeys
from dedup.store import JobStore
from dedup.store.sql.lastmods import FORGOTTEN, OF_INDEX, is_of_index
from dedup.urls.parts import host_of

_PARTS = 10
"""The order is made anew after each such part of the visits."""

_LEAST_PAGES = 5
"""Of a section that is looked at for a search index."""

_HEARD = "heard with fragments"
"""The name of the value that has the hosts that were looked at as a whole, one a line.

It was `heard` as long as Pagefind was not known.
"""

_LEAST_VISITS = 4
"""In a part: a polite crawl has about as many requests in flight at a host."""

_PART_FOR_FRAGMENTS = 2
"""One in so many visits, at most, is of a fragment instead of a page: the others are of such pages.
"""

_MAX_FRAGMENTS = 100
"""If the number of visits is not limited."""

UNREAD = "?"
"""In place of the page of a fragment, or of the fragment of a page, that is not known."""


@dataclass
class Said:
    """What sites say of their pages as a refresh begins.

    Attributes:
        lastmods: of pages that may be visited, by URL.
        texts: fingerprints of their texts in search indexes, by URL; "": another one than before.
        remade: those of them that are not to be compared with what was said before.
        heard: the hosts that were looked at for a search index as a whole.
        unread: those with an index that may be read another time.
        listed: the URLs of the fragments of Pagefind.
        fragments: those of them that are not to be read another time, each with the URL of its
            page; "": that is not known.
        n_fragments: how many were asked for; each took the place of a visit.
    """

    lastmods: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    remade: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    fragments: dict[str, str] = field(default_factory=dict)
    n_fragments: int = 0


class VisitOrder:
    """Has the pages visited next whose visits are worth most, by what is known now.

    Args:
        schedule: of the refresh.
        keys: by which sitemaps' URLs are those of pages, however spelt.
        max_visits: how many pages it visits; 0: no limit.
    """

    def __init__(
        self,
        schedule: Schedule,
        store: JobStore,
        requests: RequestQueue,
        keys: UrlKeys,
        max_visits: int,
    ) -> None:
        self._schedule = schedule
        self._store = store
        self._requests = requests
        self._keys = keys
        self._max_visits = max_visits
        self._step = max(_LEAST_VISITS, (max_visits or len(schedule.left)) // _PARTS)
        self._n_noted = 0
        self._began = time.time()
        self._told: dict[str, str] = {}
        """What sites say of pages now: a `lastmod`, or which text a page has."""
        self._named: set[str] = set()
        """Pages of which their sites say something else than at their last visit."""
        self._replaced: dict[str, float] = {}
        """When pages with a new text were visited, since the order was made."""

    def pages_at(self, urls: Iterable[str]) -> dict[str, str]:
        """The pages that may be visited, each as it is stored, by these URLs, however spelt."""
        left = self._schedule.left
        found = {url: url for url in urls}
        if self._keys.are_canonical:
            keys: dict[str, bytes] = {}
            for url in [url for url in found if url not in left]:
                with suppress(ValueError):
                    keys[url] = self._keys.key(url)
            stored = self._store.urls.found_as(list(keys.values()))
            found |= {url: stored[key] for url, key in keys.items() if key in stored}
        return {url: page for url, page in found.items() if page in left}

    def has_pages_of(self, host: str) -> bool:
        """May pages of a host be visited?"""
        return host in self._sections

    def pages_below(self, root: str) -> list[str]:
        """The pages that may be visited whose URLs begin so."""
        return [url for url in self._schedule.left if url.startswith(root)]

    def may_have_index(self, host: str) -> bool:
        """Has a search index told of pages of a host before, or was it not looked at yet?"""
        return host not in self._heard or host in self._indexed

    @cached_property
    def _heard(self) -> set[str]:
        return set((self._store.meta(_HEARD) or "").splitlines())

    @cached_property
    def _indexed(self) -> set[str]:
        return {host_of(url) for url, value in self._known.items() if is_of_index(value)}

    @cached_property
    def _known(self) -> dict[str, str]:
        """What sites said before."""
        return self._store.refreshes.lastmods.known()

    @cached_property
    def _trust(self) -> dict[str, Trust]:
        """How often it was true."""
        return self._store.refreshes.lastmods.counts()

    def sections_without(self, texts: Mapping[str, str], host: str) -> list[str]:
        """The shortest URL of each section of a host that has none of these pages.

        Of sections with a folder, and as many pages as a manual has. A page of which an index that
        has others says for the first time that it is as before may have an index of its own.
        """
        known = {
            section_of(url)
            for url, text in texts.items()
            if text != UNREAD or self._known.get(url) == OF_INDEX + UNREAD
        }
        return [
            urls[0]
            for section, urls in self._sections.get(host, {}).items()
            if section not in known
            and len(urls) >= _LEAST_PAGES
            and urlsplit(urls[0]).path.count("/") > 1
        ]

    @cached_property
    def _sections(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The URLs that may be visited of each section, the shortest first, by host."""
        found: defaultdict[str, defaultdict[str, list[str]]]
        found = defaultdict(lambda: defaultdict(list))
        for url in sorted(self._schedule.left, key=lambda each: (len(each), each)):
            found[host_of(url)][section_of(url)].append(url)
        return found

    @property
    def max_fragments(self) -> int:
        """How many fragments may be read, of all sites, to learn which pages have another text."""
        return self._max_visits // _PART_FOR_FRAGMENTS if self._max_visits else _MAX_FRAGMENTS

    def max_fragments_below(self, root: str) -> int:
        """How many of an index whose pages are below `root`; one at least.

        As far as pages that were named there had changed.
        """
        trust = [each for url, each in self._trust.items() if url.startswith(root)]
        n_changed = 1 + sum(each.named_changed for each in trust)
        n_same = sum(each.named_same for each in trust)
        return max(1, round(self.max_fragments * n_changed / (n_changed + n_same)))

    def fragments_in(self, folder: str) -> dict[str, str | None]:
        """The fragments that a folder had, by URL, each with the page that it is of.

        "": that is not known. None: all pages were visited since, and which fragments are new to
        these is not known.
        """
        return {
            url: None if value in FORGOTTEN else value.removeprefix(OF_INDEX).removeprefix(UNREAD)
            for url, value in self._known.items()
            if url.startswith(folder)
        }

    def hear(self, said: Said) -> None:
        """Take what sites say now, of pages that are left: in sitemaps, and in search indexes.

        What an index says of a page counts more, and alone as long as its host has one.
        """
        stored = self._store.refreshes.lastmods
        of_index = {url for url in said.remade if is_of_index(self._known.get(url, ""))}
        known = self._known | dict.fromkeys(of_index, OF_INDEX)
        without = said.heard - said.unread - set(map(host_of, said.texts))
        stored.drop(_lost_fragments(known, said))
        stored.add(
            (url, value)
            for url, page in said.fragments.items()
            if known.get(url) != (value := OF_INDEX + (page or UNREAD))
        )
        if self._max_visits:
            self._max_visits -= said.n_fragments
        self._told = {url: OF_INDEX + text for url, text in said.texts.items()}
        for url, lastmod in said.lastmods.items():
            had_index = is_of_index(known.get(url, ""))
            if url not in said.texts and (not had_index or host_of(url) in without):
                self._told[url] = lastmod
        same_kind = {
            url: value
            for url, value in self._told.items()
            if url in known and is_of_index(value) == is_of_index(known[url])
        }
        named = {
            url: instant(known[url]) != instant(value)
            for url, value in same_kind.items()
            if known[url] not in FORGOTTEN
        }
        self._named = {url for url, is_named in named.items() if is_named}
        self._schedule.hear(odds_of(named, trust_in_sections(self._trust), section_of))
        stored.drop(self._told.keys() & known.keys() - same_kind.keys())
        stored.add((url, value) for url, value in self._told.items() if url not in named)
        self._store.set_meta(_HEARD, "\n".join(sorted(self._heard | (said.heard - said.unread))))
        self._renew()

    def note(self, url: str, result: str) -> None:
        """Take the result of a visit, one of `VISIT_RESULTS`."""
        has_changed = None if result.startswith("failed") else result in ("changed", "back")
        self._schedule.note(url, now := time.time(), has_changed=has_changed)
        if result == "changed":
            self._replaced[url] = now
        self._n_noted += 1
        if url in self._told and has_changed is not None:
            is_named = url in self._named
            self._store.refreshes.lastmods.note(
                url, self._told[url], is_named=is_named, has_changed=has_changed
            )

    def renew(self) -> None:
        """Make the order anew, if enough has been found since it was made."""
        if self._n_noted >= self._step:
            self._renew()

    def _renew(self) -> None:
        self._n_noted = 0
        for url, at in self._replaced.items():
            for step in self._store.refreshes.changes.steps(url, 1):
                if step.now.fetched_at >= self._began:
                    self._schedule.passages.replaced(url, at, step.then.text, step.now.text)
        self._replaced.clear()
        in_flight = list(self._requests.frontier.in_flight)
        asked = {*self._store.urls.found_as([*in_flight, *self._requests.again]).values()}
        order = [url for url in self._schedule.order() if url not in asked]
        if self._max_visits:
            n_left = self._max_visits - self._store.refreshes.fetched() - len(asked)
            order = order[: max(n_left, 0)]
        self._store.refreshes.reorder(order, in_flight)
        self._requests.reload_all()


def _lost_fragments(known: Iterable[str], said: Said) -> list[str]:
    """The fragments that are not listed any more, on hosts that list any.

    Where another index of the host could not be read, those of that stay, unless they are too many.
    """
    folders, hosts = ({of(url) for url in said.listed} for of in (_folder_of, host_of))
    fragments = [url for url in known if is_pagefind(url) and host_of(url) in hosts]
    n_known = Counter(map(host_of, fragments))
    return [
        url
        for url in fragments
        if url not in said.listed
        and (
            _folder_of(url) in folders
            or host_of(url) not in said.unread
            or n_known[host_of(url)] > MAX_PAGES
        )
    ]


def _folder_of(url: str) -> str:
    return url.rpartition("/")[0]
