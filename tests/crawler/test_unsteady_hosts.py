"""Hosts that come and go, and name servers that fail, are silent, or say something else."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow

N_PAGES = 30
FAST_CLOCK = Path(__file__).with_name("fast_clock.py")


@pytest.fixture
def pages(site: WebSite, make: SimpleNamespace) -> WebSite:
    """A site that closes each connection, so that each request has its name looked up."""
    site.routes = {f"/{number}": make.page(f"page {number}") for number in range(N_PAGES)}
    site.routes["/"] = make.page("start", *site.routes)
    site.routes["/robots.txt"] = make.Answer(b"", content_type="text/plain")
    for target, body in list(site.routes.items()):
        answer = body if isinstance(body, make.Answer) else make.Answer(body)
        answer.headers["Connection"] = "close"
        site.routes[target] = answer
    return site


def test_flapping_host_loses_no_page(crawl: Crawler, pages: WebSite) -> None:
    """It is there for ten seconds, and away for ten, by a clock that runs ten times as fast."""
    began: list[float] = []

    def flapping(answer: Any) -> Any:
        def route(handler: Any) -> Any:
            began[:] = began or [time.monotonic()]
            if int(time.monotonic() - began[0]) % 2 == 0:
                return answer
            handler.close_connection = True
            handler.connection.close()
            return None

        return route

    pages.routes = {target: flapping(answer) for target, answer in pages.routes.items()}
    fast = (str(FAST_CLOCK), "10")
    crawled = crawl("site", "-s", "DOWNLOAD_DELAY=0.1", url=pages.url, python=fast)
    assert crawled.status == 0, crawled.output
    assert crawled.skipped(pages) == {}
    assert len(crawled.stored()) == N_PAGES + 1
    assert crawled.output.count("is reachable again after") > 1


_RESOLVER = """
import socket, sys, time
if "crawl" in sys.orig_argv:
    lookups = []
    def resolved(name):
        if not name.endswith(".test"):
            return real(name)
        lookups.append(name)
        n = len(lookups)
        {answer}
    real = socket.gethostbyname
    socket.gethostbyname = resolved
"""

_UNSTEADY = {
    "fails": "if 10 < n < 30: raise socket.gaierror(-3, 'try again')",
    "is silent": "if 10 < n < 16: time.sleep(3)",
    "fails at first": "if n < 3: raise socket.gaierror(-2, 'unknown')",
}


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has crawls look up names ending in `.test` by these lines of Python."""
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    def install(answer: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(_RESOLVER.format(answer=answer))
        monkeypatch.setenv("PYTHONPATH", paths)

    return install


@pytest.mark.parametrize("name", _UNSTEADY)
def test_failing_name_server_loses_no_page(
    crawl: Crawler, pages: WebSite, resolve: Any, name: str
) -> None:
    resolve(f"{_UNSTEADY[name]}\n        return '127.0.0.1'")
    url = pages.url.replace("127.0.0.1", "host.test")
    options = ("-s", "DNSCACHE_ENABLED=0", "-s", "DNS_TIMEOUT=1")
    fast = (str(FAST_CLOCK), "10")
    crawled = crawl("site", *options, url=url, python=fast)
    assert crawled.status == 0, crawled.output
    assert crawled.skipped(pages) == {}
    assert len(crawled.stored()) == N_PAGES + 1
    if name == "fails":  # for longer than a request is tried
        assert "is reachable again after" in crawled.output


def test_name_rebound_to_private_address_is_not_fetched(
    crawl: Crawler, make: SimpleNamespace, resolve: Any
) -> None:
    """127.0.0.2 counts as public here."""
    resolve(
        "import dedup.scrapy.addresses as addresses\n"
        "        known = addresses.is_private_address\n"
        "        addresses.is_private_address = (\n"
        "            lambda address: address != '127.0.0.2' and known(address)\n"
        "        )\n"
        "        return '127.0.0.2' if n < 10 else '127.0.0.1'"
    )
    asked = []
    with make.WebSite(address="0.0.0.0") as site:

        def route(body: bytes) -> Any:
            def answer(handler: Any) -> Any:
                asked.append(handler.connection.getsockname()[0])
                return make.Answer(body, headers={"Connection": "close"})

            return answer

        names = [f"/{number}" for number in range(N_PAGES)]
        site.routes = {name: route(make.page(name)) for name in names}
        site.routes["/"] = route(make.page("start", *names))
        url = site.url.replace("0.0.0.0", "host.test")
        crawled = crawl("site", "-s", "DNSCACHE_ENABLED=0", url=url)
    assert set(asked) == {"127.0.0.2"}
    assert set(crawled.skipped().values()) == {"private_address"}
    assert len(crawled.stored()) + len(crawled.skipped()) == N_PAGES + 1
    assert crawled.status == 0, crawled.output
