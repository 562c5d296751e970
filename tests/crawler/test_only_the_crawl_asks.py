"""No request leaves a crawl but those for its pages, robots.txt and sitemaps."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

_SITECUSTOMIZE = '''
"""Every name under .test is this machine; each name and address that is asked for is noted."""

import os
import socket

connect, connect_ex = socket.socket.connect, socket.socket.connect_ex


def note(what, where):
    with open(os.environ["ASKED"], "a") as file:
        file.write(f"{what} {where}\\n")


def resolved(real):
    def resolve(host, *args, **kwargs):
        note("name", host)
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name not in ("localhost", "127.0.0.1") and not name.endswith(".test"):
            raise socket.gaierror(socket.EAI_NONAME, "there is no network here")
        return real("127.0.0.1", *args, **kwargs)
    return resolve


def connected(real):
    def to(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            note("address", f"{address[0]}:{address[1]}")
            if address[0] != "127.0.0.1":
                raise OSError(101, "there is no network here")
        return real(self, address)
    return to


socket.getaddrinfo = resolved(socket.getaddrinfo)
socket.gethostbyname = resolved(socket.gethostbyname)
socket.socket.connect, socket.socket.connect_ex = connected(connect), connected(connect_ex)
'''


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SITECUSTOMIZE)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    for name in ("HOME", "XDG_CACHE_HOME", "TLDEXTRACT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path / "asked"


@pytest.mark.parametrize("spider", ["site", "sitemap"])
def test_only_the_crawls_own_hosts_are_asked_for(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, asked: Path, spider: str
) -> None:
    port = site.url.rstrip("/").rpartition(":")[2]
    shop, other = f"http://www.shop.co.test:{port}", f"http://other.test:{port}"
    cookies = {"Set-Cookie": "seen=1; Domain=shop.co.test; Path=/"}
    site.routes = {
        "/": make.Answer(make.page("start", "/a", "/moved"), headers=cookies),
        "/a": make.Answer(make.page("a"), headers={"Set-Cookie": "b=1; Domain=co.test"}),
        "/moved": make.redirect(f"{other}/b"),
        "/b": make.page("b"),
        "/robots.txt": f"User-agent: *\nDisallow: /c\nSitemap: {shop}/map.xml".encode(),
        "/map.xml": b"<urlset>%s</urlset>"
        % b"".join(f"<url><loc>{shop}{path}</loc></url>".encode() for path in ("/", "/a")),
    }
    crawled = crawl(spider, url=f"{shop}/,{other}/b")
    assert {f"{shop}/", f"{shop}/a"} <= crawled.stored(), (crawled.output, crawled.skipped())
    assert crawled.status == 0, crawled.output
    found = set(asked.read_text().splitlines())
    names = {name for kind, name in (line.split() for line in found) if kind == "name"}
    addresses = {name for kind, name in (line.split() for line in found) if kind == "address"}
    assert {re.sub(r"b'(.*)'", r"\1", name) for name in names} <= {
        *("www.shop.co.test", "other.test", "127.0.0.1", "localhost")
    }
    assert addresses == {f"127.0.0.1:{port}"}
