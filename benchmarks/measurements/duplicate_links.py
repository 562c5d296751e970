"""What links on dropped pages lead to: `duplicate_links.py JOB`, a finished crawl of a served site.

Each URL of the job is fetched again for its links. Then the crawl is replayed three times by them,
breadth first, with the job's verdicts on which URLs show the same page: links on duplicates are
followed as any other, followed after all others, or not followed. `pages` are those that were
found, in all and after half of the fetches of the first way.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.request import urlopen

from dedup.html import parse_page
from dedup.store import open_store
from dedup.urls import canonical_url


def read_job(path: Path) -> tuple[list[str], dict[str, str]]:
    """Start URLs, and of each fetched URL its page's."""
    with open_store(path, read_only=True) as store:
        shows = {str(each["url"]): str(each["url"]) for each in store.exports.pages()}
        shows |= {
            str(each["url"]): str(each["duplicate_of_url"]) for each in store.exports.duplicates()
        }
        starts = json.loads(store.meta("schemes of crawl") or "{}")["spider argument"]["url"]
    spelt = {canonical_url(url): canonical_url(page) for url, page in shows.items()}
    return [canonical_url(start) for start in starts.split(",")], spelt


def other_urls(path: Path, urls: Iterable[str]) -> dict[str, str]:
    """Where URLs lead to that were not fetched for themselves."""
    with open_store(path, read_only=True) as store:
        found = {url: store.explain.alias(url, lambda _: False) for url in urls}
    return {url: canonical_url(alias.page_url) for url, alias in found.items() if alias}


def links_of(url: str) -> list[str]:
    with urlopen(url, timeout=30) as response:
        body, content_type = response.read(), response.headers.get("Content-Type", "")
    if "html" not in content_type:
        return []
    found = []
    for link in parse_page(body.decode("utf-8", "replace"), url).links():
        try:
            found.append(canonical_url(link))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def replay(
    starts: list[str],
    links: Mapping[str, list[str]],
    shows: Mapping[str, str],
    leads: Mapping[str, str],
    way: str,
) -> list[int]:
    """Pages found after each fetch."""
    queue, late = deque(starts), deque[str]()
    seen = set(starts)
    pages: set[str] = set()
    counts = []
    while queue or late:
        url = (queue or late).popleft()
        url = leads.get(url, url)
        if url not in shows:
            continue
        is_duplicate = shows[url] in pages
        pages.add(shows[url])
        counts.append(len(pages))
        if is_duplicate and way == "skip":
            continue
        target = late if is_duplicate and way == "defer" else queue
        for link in links[url]:
            link = leads.get(link, link)
            if link not in seen:
                seen.add(link)
                target.append(link)
    return counts


def main(job: Path) -> None:
    starts, shows = read_job(job)
    if not shows:
        sys.exit(f"{job} has no page: crawl a site that its start URLs lead to")
    links = {url: links_of(url) for url in shows}
    linked = {link for found in [starts, *links.values()] for link in found}
    leads = other_urls(job, linked - shows.keys())
    half = 0
    for way in ("follow", "defer", "skip"):
        counts = replay(starts, links, shows, leads, way)
        half = half or len(counts) // 2
        middle = counts[min(half, len(counts)) - 1]
        print(
            f"{way:7} fetched {len(counts):6,}, pages {counts[-1]:6,}; after {half:,}: {middle:,}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
