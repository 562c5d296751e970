"""From a public host nothing leads into a private network. No request here leaves the machine."""

# ruff: noqa: N802 -- names of Twisted's interfaces

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import Response
from twisted.internet.address import IPv4Address

from dedup.scrapy.addresses import AddressPolicy, GuardedResolver, is_private_name, resolved_host
from dedup.scrapy.middlewares.public_web import PublicWeb
from dedup.scrapy.middlewares.redirect import NotFollowed

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

PRIVATE = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http:\\\\127.0.0.1\\",
    "http://user@127.0.0.1/",
    "http://10.1.2.3:8080/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://[::ffff:0:169.254.169.254]/",
    "http://[5f00::1]/",
    "http://[4000::1]/",
    "http://[3fff::1]/",
    "http://[1::]/",
    "http://[fc00::1]/",
]
PUBLIC = ["http://93.184.216.34/", "http://[2606:4700::1111]/", "http://a.example/"]


@pytest.fixture
def policy() -> AddressPolicy:
    return AddressPolicy()


def middleware(policy: AddressPolicy) -> PublicWeb:
    made = PublicWeb.__new__(PublicWeb)
    made._policy, made._is_guarded = policy, True
    return made


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_are_known_in_any_spelling(url: str, policy: AddressPolicy) -> None:
    assert is_private_name(resolved_host(url))
    assert not policy.may_follow(url, "http://a.example/")
    assert policy.may_follow(url, "http://192.168.7.7/")
    assert policy.may_connect(resolved_host(url))  # from now on, as private hosts link to it


@pytest.mark.parametrize("url", PRIVATE)
def test_requests_and_redirects_to_private_addresses_are_refused(
    url: str, policy: AddressPolicy
) -> None:
    with pytest.raises(NotFollowed, match="private_address"):
        middleware(policy).process_request(Request(url.replace("\\", "/")))
    response = Response("http://a.example/", status=302, headers={"Location": url.encode()})
    with pytest.raises(NotFollowed, match="redirect_private"):
        middleware(policy).process_response(Request("http://a.example/robots.txt"), response)


@pytest.mark.parametrize("url", PUBLIC)
def test_public_addresses_are_open(url: str, policy: AddressPolicy) -> None:
    assert policy.may_follow(url, "http://b.example/")
    middleware(policy).process_request(Request(url))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:text/html,a", "ftp://a.example/"])
def test_other_schemes_are_refused(url: str, policy: AddressPolicy) -> None:
    with pytest.raises(NotFollowed, match="unsupported_scheme"):
        middleware(policy).process_request(Request(url))


def test_what_the_user_starts_from_may_be_private(policy: AddressPolicy) -> None:
    policy.start("http://10.0.0.1/")
    middleware(policy).process_request(Request("http://10.0.0.1/page"))
    assert not policy.may_follow("http://10.0.0.1/page", "http://a.example/")
    assert policy.may_follow("http://10.0.0.2/", "http://10.0.0.1/page")
    middleware(policy).process_request(Request("http://10.0.0.2/"))


class _Resolver:
    """Names and their addresses, as a test sets them."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[str]] = {}

    def resolveHostName(self, receiver: Any, name: str, *args: Any) -> None:
        receiver.resolutionBegan(None)
        for address in self.addresses[name]:
            receiver.addressResolved(IPv4Address("TCP", address, 80))
        receiver.resolutionComplete()


class _Found:
    def __init__(self) -> None:
        self.addresses: list[str] = []

    def resolutionBegan(self, resolution: Any) -> None:
        pass

    def addressResolved(self, address: Any) -> None:
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:
        pass


def test_names_lead_to_public_addresses_alone(policy: AddressPolicy) -> None:
    names = _Resolver()
    reactor = SimpleNamespace(nameResolver=names)
    reactor.installNameResolver = lambda resolver: setattr(reactor, "nameResolver", resolver)
    GuardedResolver.install(reactor, policy)
    GuardedResolver.install(reactor, policy)

    def found(name: str) -> list[str]:
        receiver = _Found()
        reactor.nameResolver.resolveHostName(receiver, name)
        return receiver.addresses

    names.addresses = {
        "mixed.example": ["10.0.0.1", "93.184.216.34"],
        "inside.example": ["192.168.0.1"],
        "intranet": ["10.0.0.7"],
        "turns.example": ["93.184.216.34"],
    }
    policy.start("http://intranet/")
    policy.start("http://turns.example/")
    assert found("mixed.example") == ["93.184.216.34"]
    assert found("inside.example") == []
    assert policy.was_refused("inside.example")
    assert found("intranet") == ["10.0.0.7"]
    assert not policy.may_follow("http://intranet/", "http://mixed.example/")
    assert found("turns.example") == ["93.184.216.34"]
    names.addresses["turns.example"] = ["127.0.0.1"]  # DNS rebinding
    assert found("turns.example") == []
    with pytest.raises(NotFollowed, match="private_address"):
        middleware(policy).process_exception(
            Request("http://turns.example/"), ValueError("no results for hostname lookup")
        )


def test_files_and_data_in_robots_and_sitemaps_are_not_read(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, tmp_path: Any
) -> None:
    secret = tmp_path / "urls.txt"
    secret.write_text(f"{site.url}secret-of-the-file\n")
    lines = [f"Sitemap: {secret.as_uri()}", "Sitemap: data:text/plain,http://a/", "Sitemap: m.xml"]
    index = f"<sitemapindex><sitemap><loc>{secret.as_uri()}</loc></sitemap></sitemapindex>"
    site.routes = {
        "/robots.txt": make.Answer("\n".join(lines).encode(), content_type="text/plain"),
        "/m.xml": make.Answer(index.encode(), content_type="text/xml"),
    }
    crawled = crawl("sitemap", url=site.url)
    reasons = crawled.skipped(site)
    assert reasons[secret.as_uri()] == "unsupported_scheme"
    assert set(site.asked) == {"/robots.txt", "/m.xml"}


def test_recursive_index_ends(crawl: Crawler, site: WebSite) -> None:
    def index(handler: Any) -> bytes:
        number = int(handler.path.partition("=")[2] or 0)
        locations = "".join(
            f"<sitemap><loc>{site.url}m.xml?n={3 * number + more}</loc></sitemap>"
            for more in (1, 2)
        )
        return f"<sitemapindex>{locations}</sitemapindex>".encode()

    for number in range(2_000):
        site.routes[f"/m.xml?n={number}"] = index
    site.routes["/m.xml"] = index
    crawled = crawl("sitemap", url=f"{site.url}m.xml")
    assert crawled.status == 1  # no page was listed
    assert "sitemap_budget" in crawled.skipped().values()
    assert len(site.asked) < 60
