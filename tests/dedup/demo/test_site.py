"""The demo site: all its links lead where `expected.json` says, and its texts are as alike as said.

The oracle of resemblance is a plain set of strings; nothing of the project's own text code is used.
"""

import json
import re
import unicodedata
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import pytest
from resiliparse.extract.html2text import extract_plain_text

from dedup.demo import SITE, DemoServer
from dedup.demo.server import ROUTES, DemoPage, Redirect

EXPECTED: dict[str, Any] = json.loads((SITE.parent / "expected.json").read_text("utf-8"))
PAGES: dict[str, dict[str, str]] = {page["name"]: page["urls"] for page in EXPECTED["pages"]}

WITHOUT_TEXT = {"redirect", "meta refresh"}  # these URLs lead to the page's text, they have none


class Links(HTMLParser):
    """The targets of everything that a page refers to, absolute."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.base = url
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "base":
            self.base = urljoin(self.base, values["href"])
        elif values.get("http-equiv") == "refresh":
            self.found.append(urljoin(self.base, values["content"].partition("url=")[2]))
        else:
            links = (values[name] for name in ("href", "src") if name in values)
            self.found.extend(urljoin(self.base, link) for link in links)


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments: object) -> None:
        return None


def fetch(url: str) -> tuple[int, str, list[str]]:
    """Status, media type, and where it leads."""
    try:
        response = build_opener(NoRedirect).open(url, timeout=10)
    except HTTPError as error:
        response = error
    with response:
        body = response.read().decode("latin-1")
        media_type = response.headers.get_content_type()
        links = Links(url)
        if media_type == "text/html":
            links.feed(body)
        if location := response.headers["Location"]:
            links.found.append(urljoin(url, location))
        return response.status, media_type, links.found


@pytest.fixture(scope="module")
def fetched() -> dict[str, tuple[int, str]]:
    """Status and media type of all that can be reached from `/`; status 0 outside of the site."""
    found: dict[str, tuple[int, str]] = {}
    with DemoServer() as server:
        waiting = [server.url]
        while waiting:
            url = waiting.pop()
            name = "/" + url.removeprefix(server.url) if url.startswith(server.url) else url
            if name in found:
                continue
            found[name] = (0, "")
            if name != url:
                status, media_type, links = fetch(url)
                found[name] = (status, media_type)
                waiting.extend(links)
    return found


def test_every_link_is_expected_and_every_expectation_linked(
    fetched: dict[str, tuple[int, str]],
) -> None:
    expected = [url for urls in PAGES.values() for url in urls]
    expected += [*EXPECTED["skipped"], *EXPECTED["never_fetched"]]
    assert len(expected) == len(set(expected))
    assert set(fetched) == set(expected)


def test_every_url_of_a_page_is_answered(fetched: dict[str, tuple[int, str]]) -> None:
    for urls in PAGES.values():
        for url, how in urls.items():
            status, media_type = fetched[url]
            assert status in ((301, 302) if how == "redirect" else (200,)), url
            assert how == "redirect" or media_type == "text/html", url


def test_skipped_urls_match_their_reason(fetched: dict[str, tuple[int, str]]) -> None:
    robots = (SITE / "robots.txt").read_text()
    for url, reason in EXPECTED["skipped"].items():
        status, media_type = fetched[url]
        what_is_seen = {
            "robots": f"Disallow: {url[: url.rindex('/') + 1]}\n" in robots,
            "404": status == 404,
            "redirect loop": status == 302 and url.startswith("/loop/"),
            "redirect out of the site": status == 302,
            "not HTML": status == 200 and media_type != "text/html",
        }
        assert what_is_seen[reason], (url, reason)


def test_only_what_lies_outside_is_never_fetched(fetched: dict[str, tuple[int, str]]) -> None:
    outside = {url for url, (status, _) in fetched.items() if status == 0}
    assert outside == set(EXPECTED["never_fetched"])


def file_of(url: str) -> str:
    """The file in `site/` that a URL answers with: the table of routes read the plain way."""
    address = urlsplit(url)
    path = unquote(address.path).partition(";")[0]
    parameters = address.query.split("&")
    keys = [path, *(f"{path}?{parameter}" for parameter in parameters)]
    for route in (ROUTES[key] for key in keys if key in ROUTES):
        return route.file if isinstance(route, DemoPage) else file_of(route.location)
    return path.lstrip("/") + "index.html" * path.endswith("/")


def test_every_file_is_reachable_by_links(fetched: dict[str, tuple[int, str]]) -> None:
    inside = [url for url, (status, _) in fetched.items() if status == 200]
    files = {str(file.relative_to(SITE)) for file in SITE.rglob("*") if file.is_file()}
    assert files - {file_of(url) for url in inside} == {"robots.txt", "sitemap.xml"}


def test_every_route_is_linked(fetched: dict[str, tuple[int, str]]) -> None:
    routes = set(ROUTES) - {"/robots.txt", "/sitemap.xml"}
    assert routes <= set(fetched)
    assert all(isinstance(route, Redirect | DemoPage) for route in ROUTES.values())


def test_sitemap_names_pages_only() -> None:
    text = (SITE / "sitemap.xml").read_text()
    urls = {"/" + url for url in re.findall(r"<loc>\{server\}(.*?)</loc>", text)}
    assert urls
    assert urls <= {next(iter(group)) for group in PAGES.values()}


@cache
def words(url: str) -> tuple[str, ...]:
    """Words of the main text, or its characters where it is mostly Chinese; NFKC, case folded."""
    body = (SITE / file_of(url)).read_bytes()
    declared = re.search(rb'charset="([\w-]+)"', body)
    html = body.decode("gbk" if declared and declared[1] == b"gb2312" else "utf-8")
    # A page may consist of a text area: what stands in it is text for its reader.
    text = extract_plain_text(html, main_content=True, preserve_formatting=False, form_fields=True)
    found = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    characters = "".join(found)
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in characters)
    return tuple(characters if 2 * chinese > len(characters) else found)


@cache
def shingles(url: str) -> frozenset[tuple[str, ...]]:
    sequence = words(url)
    is_chinese = all(len(word) == 1 for word in sequence)
    width = 5 if is_chinese else 3
    return frozenset(sequence[i : i + width] for i in range(len(sequence) - width + 1))


def resemblance(one: str, other: str) -> float:
    """The Jaccard coefficient; of short pages, 1 if they are equal and 0 if not."""
    first, second = shingles(one), shingles(other)
    if min(len(first), len(second)) < 50:
        return float(words(one) == words(other))
    return len(first & second) / len(first | second)


@pytest.mark.parametrize("name", PAGES)
def test_urls_of_one_page_resemble_its_first(name: str) -> None:
    first, *others = [url for url, how in PAGES[name].items() if how not in WITHOUT_TEXT]
    for other in others:
        assert resemblance(first, other) >= 0.82, other


def test_different_pages_do_not_resemble_each_other() -> None:
    texts = {name: {file_of(url): url for url in urls} for name, urls in PAGES.items()}
    for one, other in combinations(texts, 2):
        for first in texts[one].values():
            for second in texts[other].values():
                assert resemblance(first, second) < 0.7, (first, second)


def test_lookalikes_are_different_pages() -> None:
    page_of = {url: name for name, urls in PAGES.items() for url in urls}
    for pair in EXPECTED["lookalikes"]:
        one, other = pair["urls"]
        assert page_of[one] != page_of[other], pair
    assert {pair["why"] for pair in EXPECTED["lookalikes"]} >= {"one word differs", "same template"}


def test_encodings_are_those_of_the_bytes() -> None:
    utf8 = (SITE / "zh/gongfu.html").read_bytes()
    gbk = (SITE / "zh/gb/gongfu.html").read_bytes()
    assert utf8.decode("utf-8").replace('"utf-8"', '"gb2312"') == gbk.decode("gbk")
    with pytest.raises(UnicodeDecodeError):
        gbk.decode("utf-8")


def test_mirror_is_byte_identical() -> None:
    assert (SITE / "mirror/black-tea.html").read_bytes() == (
        SITE / "articles/black-tea.html"
    ).read_bytes()


def test_site_is_small() -> None:
    assert sum(file.stat().st_size for file in SITE.rglob("*") if file.is_file()) < 300_000
