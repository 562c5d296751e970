"""A site that does everything wrong: each URL is counted with a reason, and the crawl goes on."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite

_ODD_HREFS = [
    "/with space",
    "/quote&quot;",
    "/single'quote",
    "/back\\slash",
    "/nul%00",
    "/bad-escape%zz",
    "/half-escape%",
    "/ünïcödé/中文?ключ=значение",
    "/%ff%fe",
    "/emoji-\N{GRINNING FACE}",
    "/tab&#9;and&#10;newline",
    "/control&#1;",
    "/lone-surrogate&#xD800;",
    "/pipe|{}^`[]",
    "/?a=b&amp;a=c&amp;&amp;=&amp;==",
    "/;;;p=1,2",
    "/" + "long/" * 1000,
    "/?" + "q" * 5000,
    "//////",
    "/../../../etc/passwd",
    "http://[",
    "http://[::1",
    "http://",
    "http:///",
    "http://.../",
    "http://a..b/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:port/",
    "http://user:pass@127.0.0.1/",
    "http://" + "x" * 300 + ".invalid/",
    "http://xn--a.invalid/",
    "http://\N{SNOWMAN}.invalid/",
    "https:",
    "data:text/html,hello",
    "file:///etc/passwd",
    "about:blank",
    " ",
    "#",
    "?",
]


def _half_sent(handler: Any) -> None:
    handler.wfile.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n<p>Half a"
    )
    handler.close_connection = True


def _reset(handler: Any) -> None:
    no_lingering = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_lingering)
    handler.close_connection = True
    handler.connection.close()


def _garbage(handler: Any) -> None:
    handler.wfile.write(b"\x00\xff\x00 this is not HTTP\r\n\r\n")
    handler.close_connection = True


@pytest.fixture(scope="module")
def hostile(make: SimpleNamespace, zeros_gzip: bytes) -> dict[str, tuple[Any, str]]:
    """By target: what is answered, and the reason recorded; "": it is a page."""
    answer, page, prose = make.Answer, make.page, make.prose
    gzip = {"Content-Encoding": "gzip"}
    deep = b"<div>" * 100_000
    return {
        "/bomb": (answer(zeros_gzip, headers=gzip), "too_large"),
        "/not-gzip": (answer(b"plain", headers=gzip), "damaged"),
        "/not-deflate": (answer(b"plain", headers={"Content-Encoding": "deflate"}), "damaged"),
        "/20-megabytes": (b"<p>" + b"0123456789abcdef" * (20 << 16), "too_large"),
        "/10-megabytes": (page("10 MB") + b"words and words " * (10 << 16), ""),
        "/10-megabyte-word": (b"<p>" + b"x" * (10 << 20), ""),
        "/deep": (deep + page("deep"), ""),
        "/deep-inline": (b"<b>" * 100_000 + page("deep inline"), ""),
        "/nul": (page("nul\0s").replace(b"<p>", b"<p>\0\0"), ""),
        "/surrogates": (page("s").replace(b"<p>", b"<p>\xed\xa0\x80 &#xD800; \xed\xbf\xbf"), ""),
        "/utf-7": (answer(page("utf-7"), content_type="text/html; charset=utf-7"), ""),
        "/utf-16": (answer(page("utf-16").decode().encode("utf-16-le")), ""),
        "/no-such-charset": (answer(page("charset"), content_type="text/html; charset=\\x"), ""),
        "/no-content-type": (answer(page("no content type"), content_type=None), ""),
        "/wrong-content-type": (answer(page("wrong type"), content_type="image/png"), ""),
        "/odd-content-type": (answer(page("odd type"), content_type=";;/,"), ""),
        "/empty": (b" \n", "empty"),
        "/pdf": (b"%PDF-1.7\n\x00\x01\x02" + bytes(range(256)) * 40, "not_html"),
        "/pdf-declared": (answer(b"%PDF-1.7\n", content_type="application/pdf"), "not_html"),
        "/after-html": (b"<html><body></body></html>" + page("after", "/linked-after"), ""),
        "/linked-after": (page("linked after"), ""),
        "/half-sent": (_half_sent, "incomplete"),
        "/reset": (_reset, "connection_failed"),
        "/garbage": (_garbage, "connection_failed"),
        "/no-location": (make.redirect("http://["), "redirect_invalid"),
        "/odd-location": (make.redirect("/\x01 %zz"), "http_404"),
        "/teapot": (answer(b"", 418), "http_418"),
        "/attributes": (b"<p " + b"a=b " * 200_000 + b">" + prose("attributes").encode(), ""),
        "/links": (page("links", *(f"#{number}" for number in range(50_000))), ""),
        "/last": (page("last"), ""),
    }


@pytest.fixture(scope="module")
def served(make: SimpleNamespace, hostile: dict[str, tuple[Any, str]]) -> Iterator[WebSite]:
    routes = {target: route for target, (route, _) in hostile.items()}
    targets = [target for target in hostile if target != "/linked-after"]
    targets.insert(len(targets) - 1, "/odd-links")
    routes["/"] = make.page("/", *targets)
    routes["/odd-links"] = make.page("odd links", *_ODD_HREFS, "/behind-odd-links")
    routes["/behind-odd-links"] = make.page("behind odd links")
    with make.WebSite(routes) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(shared_crawl: Crawler, served: WebSite) -> Crawled:
    crawled: Crawled = shared_crawl("site", "-s", "RETRY_TIMES=0", feed=True, url=served.url)
    return crawled


def test_hostile_site_ends_no_crawl(crawled: Crawled) -> None:
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    assert crawled.stats["reason"] == "finished"
    assert crawled.stats["urls"]["queued"] == 0
    crawled.check_reconciled()


def test_every_hostile_url_is_recorded(
    crawled: Crawled, served: WebSite, hostile: dict[str, tuple[Any, str]]
) -> None:
    stored, skipped = crawled.stored(served), crawled.skipped(served)
    for target, (_, reason) in hostile.items():
        if not reason:
            assert target in stored, (target, skipped.get(target))
        else:
            assert (target, skipped.get(target)) == (target, reason)
    assert {"/odd-links", "/behind-odd-links"} <= stored


def test_only_this_host_is_asked_and_each_url_recorded_once(crawled: Crawled) -> None:
    known = crawled.rows("SELECT url FROM urls")
    assert {url.partition("://")[0] for url in known} == {"http"}
    assert set(crawled.records().values()) == {1}
    assert not [url for url in known if "invalid/" in url]


def test_odd_links_are_asked_for_once(crawled: Crawled, served: WebSite) -> None:
    asked = served.pages_asked()
    # A connection that is reset before an answer is tried again by the HTTP client itself.
    assert {target for target in asked if asked.count(target) > 1} <= {"/reset"}
    assert "/nul%00" in asked
    assert "/with%20space" in asked
    assert "/back/slash" in asked


# --- Sitemaps ------------------------------------------------------------------------------------

_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@pytest.fixture
def sitemaps(site: WebSite, make: SimpleNamespace, gzipped: Callable[[bytes], bytes]) -> WebSite:
    def urlset(*names: str) -> bytes:
        locations = "".join(f"<url><loc> {site.url}{name} </loc></url>" for name in names)
        return f'<?xml version="1.0"?><urlset {_NAMESPACE}>{locations}</urlset>'.encode()

    def document(body: bytes) -> Any:
        return make.Answer(body, content_type="application/xml")

    bomb = (
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(
            f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        )
        + f"]><urlset {_NAMESPACE}><url><loc>{site.url}bomb&i;</loc></url></urlset>"
    )
    external = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY u SYSTEM "{site.url}x">]>'
        f"<urlset {_NAMESPACE}><url><loc>{site.url}external&e;&u;</loc></url></urlset>"
    )
    names = ("normal", "packed", "cut", "text", "bomb", "external", "html", "gone", "bad-gzip")
    index = "".join(f"<sitemap><loc>{site.url}{name}.xml</loc></sitemap>" for name in names)
    site.routes |= {
        "/robots.txt": make.Answer(f"Sitemap: {site.url}index.xml".encode()),
        "/index.xml": document(f"<sitemapindex {_NAMESPACE}>{index}</sitemapindex>".encode()),
        "/normal.xml": document(urlset("1", "2?a=1&amp;b=2", "1", "../3", "404")),
        "/packed.xml": document(gzipped(urlset("4"))),
        "/cut.xml": document(urlset("5", "6").removesuffix(b"</url></urlset>")),
        "/text.xml": document(f"{site.url}7\n".encode()),
        "/bomb.xml": document(bomb.encode()),
        "/external.xml": document(external.encode()),
        "/html.xml": document(b"<html><body>Not a sitemap</body></html>"),
        "/bad-gzip.xml": document(b"\x1f\x8b\x08broken"),
        **{f"/{number}": make.page(str(number), "/unlisted") for number in (1, 3, 4, 5, 6, 7)},
        "/2?a=1&b=2": make.page("2"),
        "/unlisted": make.page("unlisted"),
    }
    return site


def test_sitemaps_give_their_pages_and_nothing_else(crawl: Crawler, sitemaps: WebSite) -> None:
    crawled = crawl("sitemap", feed=True, url=sitemaps.url)
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    crawled.check_reconciled()
    stored = crawled.stored(sitemaps)
    assert stored == {"/1", "/2?a=1&b=2", "/3", "/4", "/5", "/6", "/7"}
    assert not {"/unlisted", "/x"} & set(sitemaps.asked)
    skipped = crawled.skipped(sitemaps)
    assert {target for target, reason in skipped.items() if reason == "sitemap_error"} == {
        *("/bomb.xml", "/html.xml", "/bad-gzip.xml")
    }
    assert (skipped["/gone.xml"], skipped["/404"]) == ("http_404", "http_404")
    assert crawled.stats["urls"]["queued"] == 0


# --- Lists of URLs -------------------------------------------------------------------------------


def test_list_of_urls_with_bad_lines(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, tmp_path: Any
) -> None:
    site.routes |= {"/a": make.page("a", "/linked"), "/b": make.page("b"), "/中": make.page("c")}
    site.routes["/%E4%B8%AD"] = make.page("c")
    lines = [
        *("\ufeff" + site.url + "a", "", "# a comment", site.url + "a#again", "not a URL"),
        *("ftp://127.0.0.1/", "http://[", "\x00", "  " + site.url + "b  \r", site.url + "中"),
        "x" * 100_000,
    ]
    path = tmp_path / "urls.txt"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    crawled = crawl("urls", "-s", "AUTOTHROTTLE_ENABLED=0", file=path, feed=True)
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    crawled.check_reconciled()
    assert {target.replace("中", "%E4%B8%AD") for target in crawled.stored(site)} == {
        *("/a", "/b", "/%E4%B8%AD")
    }
    assert crawled.stats["failed"] == {"invalid_url": 6}
    assert f"{path}, line 5: " in crawled.output
    assert "/linked" not in site.asked
