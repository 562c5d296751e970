"""The pages of a built site that its own links lead to, found without the crawler."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from benchmarks.sites.container import decoded
from benchmarks.sites.folder import HTML, SiteFolder
from dedup.urls.canonical import canonical_url


def reached(
    folder: SiteFolder, base: str, start: str, allow: str = "", known: Iterable[str] = ()
) -> dict[str, bytes]:
    """The pages that links lead to from `start` and from known ones, and these, by canonical URL.

    Args:
        folder: of the site.
        base: where the site is served, a URL without a path, and with a slash.
        start: a path, without a slash at its beginning.
        allow: a regular expression; links without it are not followed.
        known: URLs that a refresh visits, too, whether links lead to them or not.
    """
    first = base + start.lstrip("/")
    seen = {first, *known}
    waiting = list(seen)
    found: dict[str, bytes] = {}
    while waiting:
        url = waiting.pop()
        answer = folder.answer(url.removeprefix(base.rstrip("/")), base)
        if answer.location:
            links = [urljoin(url, answer.location)]
        elif answer.status == 200 and answer.content_type == HTML and answer.body:
            found[url] = answer.body
            links = [each for each in _links(url, answer.body) if re.search(allow, each)]
        else:
            continue
        new = {each for each in links if each.startswith(base)} - seen
        seen |= new
        waiting += new
    return found


def _links(url: str, body: bytes) -> Iterator[str]:
    tree = LexborHTMLParser(decoded(body))
    base = tree.css_first("base[href]")
    base_url = urljoin(url, base.attributes["href"] or "") if base else url
    for node in tree.css("a[href]"):
        try:
            link = urldefrag(urljoin(base_url, (node.attributes.get("href") or "").strip()))[0]
            yield canonical_url(link)
        except ValueError:
            continue
