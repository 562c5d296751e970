"""Names and passwords in URLs are used for a start URL's own host, and kept nowhere."""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.urls.credentials import credentials_of, without_credentials

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


@pytest.mark.parametrize(
    ("url", "without", "said"),
    [
        ("http://a.example/", "http://a.example/", ("", "")),
        ("http://u:p@a.example:8/x@y?z@", "http://a.example:8/x@y?z@", ("u", "p")),
        ("HTTPS://u@a.example", "HTTPS://a.example", ("u", "")),
        ("http://u%40x:p%3A@a.example/", "http://a.example/", ("u@x", "p:")),
        ("http://u:p@q@a.example/", "http://a.example/", ("u", "p@q")),
        ("http://a.example/?q=http://u:p@b/", "http://a.example/?q=http://u:p@b/", ("", "")),
        ("\0ht\ttp://u:p@a.example/", "http://a.example/", ("u", "p")),  # as browsers read it
        ("mailto:a@b", "mailto:a@b", ("", "")),
    ],
)
def test_credentials_differ_from_similar_text(
    url: str, without: str, said: tuple[str, str]
) -> None:
    assert without_credentials(url) == without
    assert credentials_of(url) == said


def test_passwords_of_links_are_neither_sent_nor_kept(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    authority = site.url.removeprefix("http://")
    secret = f"http://user:s3cret@{authority}"
    sent: list[str | None] = []

    def linked(handler: Any) -> bytes:
        sent.append(handler.headers["Authorization"])
        return bytes(make.page("linked"))

    site.routes = {
        "/": make.page("start", f"{secret}linked", f"{secret}gone", f"{secret}moved"),
        "/linked": linked,
        "/moved": make.redirect(f"{secret}target"),
        "/target": make.page("target"),
    }
    crawled = crawl("site", "-s", "LOG_LEVEL=DEBUG", url=site.url)
    assert crawled.stored(site) == {"/", "/linked", "/target"}
    assert crawled.skipped(site) == {"/gone": "http_404"}
    assert sent == [None]
    assert "Traceback" not in crawled.output
    kept = [file.read_bytes() for file in crawled.folder.iterdir()]
    assert not any(b"s3cret" in data for data in [crawled.output.encode(), *kept])


def test_the_password_of_a_start_url_is_sent_and_not_kept(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    sent: list[str | None] = []

    def start(handler: Any) -> bytes:
        sent.append(handler.headers["Authorization"])
        return bytes(make.page("start"))

    site.routes["/"] = start
    url = site.url.replace("http://", "http://user:s3cret@")
    crawled = crawl("site", url=url)
    assert sent == ["Basic " + b64encode(b"user:s3cret").decode()]
    assert crawled.stored(site) == {"/"}
    kept = [file.read_bytes() for file in crawled.folder.iterdir()]
    assert not any(b"s3cret" in data for data in [crawled.output.encode(), *kept])
