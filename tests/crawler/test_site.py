"""Crawls of small sites: what is fetched, what is stored, and that every count agrees."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import groups_of, with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite


def routes(make: SimpleNamespace) -> dict[str, Any]:
    """A site with a page of each kind; "/" links to what no other page links to."""
    page, redirect, answer = make.page, make.redirect, make.Answer
    linked = [
        *("/a", "/b#part", "/b", "/A", "/copy-of-a", "/near-a"),
        *("/to-a", "/to-new", "/chain-1", "/loop-1", "/away", "/ftp", "/script", "/bad-location"),
        *("/no-location", "/tracked?utm_source=x", "/old/doc", "/broken-canonical"),
        *("/signpost", "/article-that-refreshes", "/self-refresh", "/frames", "/based/", "/gone"),
        *("/failing", "/forbidden/x", "/nofollow", "/noindex", "/header-noindex", "/some-nofollow"),
        *("/text.txt?as=page", "/photo.jpg", "mailto:x@example.com", "//other.invalid/x"),
        *("HTTP://OTHER.INVALID/", "ftp://127.0.0.1/x", "javascript:void(0)", "http://[", "%zz"),
    ]
    return {
        "/": page("/", *linked),
        "/robots.txt": answer(b"User-agent: *\nDisallow: /forbidden/\n", content_type="text/plain"),
        "/a": page("/a", "/"),
        "/A": page("/A"),  # a path's case tells pages apart
        "/b": page("/b", "/a", "/b"),
        "/copy-of-a": page("/a", "/"),  # the same bytes
        "/near-a": page("/a", "/", body="<p>One more line of words.</p>"),
        "/to-a": redirect("/a"),
        "/to-new": redirect("/new", 301),
        "/new": page("/new"),
        "/chain-1": redirect("/chain-2"),
        "/chain-2": redirect("chain-3", 303),
        "/chain-3": redirect("/chain-end", 307),
        "/chain-end": page("/chain-end"),
        "/loop-1": redirect("/loop-2"),
        "/loop-2": redirect("/loop-1"),
        "/away": redirect("http://other.invalid/"),
        "/ftp": redirect("ftp://127.0.0.1/file"),
        "/script": redirect("javascript:alert(1)"),
        "/bad-location": redirect("http://["),
        "/no-location": answer(b"", 302),
        "/tracked?utm_source=x": page("/tracked", "/tracked", head=_canonical("/tracked")),
        "/tracked": page("/tracked", head=_canonical("/tracked")),
        "/old/doc": page("/old/doc", head=_canonical("/current/doc")),
        "/current/doc": page("/current/doc"),  # not linked: the canonical link is no link
        "/broken-canonical": page("/broken-canonical", head=_canonical("http://[")),
        "/signpost": b"<meta name=robots content=noindex>"
        b'<meta http-equiv=refresh content="0; url=/behind-signpost"><p>Moved.',
        "/behind-signpost": page("/behind-signpost"),
        "/article-that-refreshes": page("/live", head=_refresh("/next-article")),
        "/next-article": page("/next-article"),
        "/self-refresh": page("/self-refresh", head=_refresh("/self-refresh")),
        "/frames": b"<title>F</title><frameset><frame src=/left><frame src=/right></frameset>",
        "/left": page("/left"),
        "/right": page("/right", body='<iframe src="/inner"></iframe>'),
        "/inner": page("/inner"),
        "/based/": page("/based/", "leaf", head='<base href="/elsewhere/">'),
        "/elsewhere/leaf": page("/elsewhere/leaf"),
        "/failing": answer(b"Oops", 500),
        "/forbidden/x": page("/forbidden/x"),
        "/nofollow": page("/nofollow", "/only-there", head=_robots("nofollow")),
        "/only-there": page("/only-there"),
        "/noindex": page("/noindex", "/behind-noindex", head=_robots("noindex")),
        "/behind-noindex": page("/behind-noindex"),
        "/header-noindex": answer(page("/header"), headers={"X-Robots-Tag": "noindex"}),
        "/some-nofollow": page("/some", body='<a rel=nofollow href="/never">never</a>'),
        "/never": page("/never"),
        "/text.txt?as=page": answer(b"plain text", content_type="text/plain"),
    }


def _canonical(href: str) -> str:
    return f'<link rel="canonical" href="{href}">'


def _refresh(href: str) -> str:
    return f'<meta http-equiv="refresh" content="600; url={href}">'


def _robots(content: str) -> str:
    return f'<meta name="robots" content="{content}">'


@pytest.fixture(scope="module")
def served(make: SimpleNamespace) -> Iterator[WebSite]:
    with make.WebSite(routes(make)) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(shared_crawl: Crawler, served: WebSite) -> Crawled:
    crawled: Crawled = shared_crawl("site", "-s", "RETRY_TIMES=1", feed=True, url=served.url)
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    return crawled


def test_counts_of_stats_database_and_feed_agree(crawled: Crawled) -> None:
    crawled.check_reconciled()
    assert crawled.stats["reason"] == "finished"
    assert crawled.stats["urls"]["queued"] == 0
    assert crawled.stats["urls"]["nofollow"] == 2  # to /only-there and /never
    assert "2 nofollow links not followed" in crawled.output


def test_every_page_is_fetched_once(crawled: Crawled, served: WebSite) -> None:
    asked = [target for target in served.pages_asked() if target in crawled.stored(served)]
    # A redirect to a page that another request is fetching at that time costs a second fetch.
    assert {target for target in asked if asked.count(target) > 1} <= {"/a"}
    assert not {"/forbidden/x", "/photo.jpg", "/only-there", "/never"} & set(served.asked)


def test_unique_pages_are_stored(crawled: Crawled, served: WebSite) -> None:
    stored = crawled.stored(served)
    assert stored >= {"/", "/b", "/A", "/chain-end", "/new", "/old/doc", "/broken-canonical"}
    assert stored >= {"/behind-signpost", "/article-that-refreshes", "/next-article"}
    assert stored >= {"/self-refresh", "/left", "/right", "/inner", "/based/", "/elsewhere/leaf"}
    assert stored >= {"/nofollow", "/behind-noindex", "/some-nofollow"}
    assert len(stored & {"/a", "/copy-of-a", "/near-a"}) == 1
    assert len(stored & {"/tracked", "/tracked?utm_source=x"}) == 1
    assert not stored & {"/current/doc", "/only-there", "/never", "/noindex", "/header-noindex"}


def test_duplicates_name_their_original(crawled: Crawled, served: WebSite) -> None:
    rows = crawled.rows(
        "SELECT d.url, p.url FROM duplicates d JOIN pages p ON p.number = d.original"
    )
    alike = {served.url + name for name in ("a", "copy-of-a", "near-a")}
    assert {url for pair in rows for url in pair if "tracked" not in url} == alike


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/loop-1", "redirect_loop"),
        ("/away", "redirect_offsite"),
        ("/ftp", "redirect_scheme"),
        ("/script", "redirect_scheme"),
        ("/bad-location", "redirect_invalid"),
        ("/no-location", "http_302"),
        ("/signpost", "refresh"),
        ("/gone", "http_404"),
        ("/failing", "http_500"),
        ("/forbidden/x", "robots"),
        ("/noindex", "noindex"),
        ("/header-noindex", "noindex"),
        ("/text.txt?as=page", "not_html"),
    ],
)
def test_url_without_a_page_is_recorded_with_its_reason(
    crawled: Crawled, served: WebSite, target: str, reason: str
) -> None:
    assert crawled.skipped(served)[target] == reason


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("/to-a", "/a"),  # a page that is linked as well
        ("/to-new", "/new"),  # one that is not
        ("/chain-1", "/chain-end"),
    ],
)
def test_redirect_is_an_alias_of_its_page(
    crawled: Crawled, served: WebSite, target: str, page: str
) -> None:
    assert crawled.aliases(served)[target] == page


@pytest.mark.parametrize("waits", [2, 0])
def test_page_that_is_redirected_to_while_it_is_fetched_is_stored_once(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, waits: int
) -> None:
    """Each answer is another text."""
    python = with_constants({"middlewares.redirect._MAX_WAITS": waits})
    is_asked_again = threading.Event()

    def page(handler: Any) -> Any:
        n_asked = site.asked.count("/p")
        if n_asked == 1:
            is_asked_again.wait(1)
        is_asked_again.set()
        return make.page(f"text {n_asked}")

    site.routes |= {
        "/": make.page("start", "/p", "/q"),
        "/p": page,
        "/q": make.redirect("/p"),
    }
    crawled = crawl("site", url=site.url, python=python)
    assert crawled.rows("SELECT url FROM pages WHERE url LIKE '%/p'") == [f"{site.url}p"]
    assert crawled.aliases(site) == {"/q": "/p"}
    assert site.asked.count("/p") == (1 if waits else 2)
    crawled.check_reconciled()


def test_every_known_url_is_recorded_once(crawled: Crawled, served: WebSite) -> None:
    assert set(crawled.records().values()) == {1}
    aliases = crawled.rows("SELECT url FROM aliases")
    known = set(crawled.rows("SELECT url FROM urls"))
    assert known <= {*crawled.records(), *aliases}


def test_finished_job_fetches_nothing_and_stays_as_it_is(
    crawled: Crawled, shared_crawl: Crawler, served: WebSite
) -> None:
    asked = len(served.asked)
    before = (crawled.stats, crawled.records())
    again = shared_crawl("site", url=served.url)
    assert (again.status, len(served.asked)) == (0, asked)
    assert "is finished; nothing is fetched and feeds are unchanged" in again.output
    assert "Traceback" not in again.output
    assert (again.stats, again.records()) == before


# --- Limits, scope, rules ------------------------------------------------------------------------


def test_max_pages_is_exact_and_can_be_raised(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    targets = [f"/{number}" for number in range(40)]
    site.routes |= {target: make.page(target) for target in targets}
    site.routes["/"] = make.page("/", *targets)
    first = crawl("site", url=site.url, max_pages=7)
    assert first.status == 0
    assert first.stats["pages"]["fetched"] == 7
    assert "max_pages" in first.output
    rest = crawl("site", url=site.url, max_pages=0)
    assert rest.stats["pages"]["unique"] == 41
    assert set(rest.records().values()) == {1}


def _mostly_no_pages(site: WebSite, make: SimpleNamespace) -> None:
    """A site of nine pages, one of them a copy, and of four times as many other responses."""
    others = [f"/{name}{n}" for n in range(9) for name in ("gone", "empty", "file", "moved")]
    pages = [f"/page{n}" for n in range(1, 8)]
    site.routes |= {target: make.page(target) for target in pages}
    site.routes |= {f"/empty{n}": b" " for n in range(9)}
    site.routes |= {f"/file{n}": make.Answer(b"%PDF-", 200, "application/pdf") for n in range(9)}
    site.routes |= {f"/moved{n}": make.redirect("/") for n in range(9)}
    site.routes["/tags"] = make.page("tags", *pages, head=_robots("noindex"))
    site.routes["/copy"] = site.routes["/page1"]
    site.routes["/"] = make.page("/", *others, "/copy", "/tags")


def test_max_pages_counts_pages_and_no_errors_redirects_or_skipped_ones(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    _mostly_no_pages(site, make)
    for max_pages in (4, 8):
        pages = crawl("site", url=site.url, max_pages=max_pages).stats["pages"]
        assert pages["unique"] + sum(pages["duplicates"].values()) == max_pages
    crawled = crawl("site", url=site.url, max_pages=10)
    assert crawled.stats["reason"] == "finished"
    assert crawled.stats["pages"]["unique"] == 8
    assert crawled.stats["pages"]["duplicates"] == {"body": 1}
    skipped = {"empty": 9, "http_404": 9, "noindex": 1, "not_html": 9}
    assert crawled.stats["pages"]["skipped"] == skipped
    assert set(crawled.records().values()) == {1}


def test_max_pages_stops_a_crawl_that_finds_pages_to_skip_without_end(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, tmp_path: Path
) -> None:
    """Each page is marked noindex and links to the next one."""
    site.on_request = lambda target: site.routes.update(
        {target: make.page(target, f"{target}x", f"{target}y", head=_robots("noindex"))}
    )
    script = tmp_path / "few.py"
    script.write_text(
        "import sys\n"
        "from dedup.scrapy.spiders import page_spider\n"
        "page_spider._MIN_SKIPPED = 20\n"
        "from scrapy.cmdline import execute\n"
        "execute(['scrapy', *sys.argv[3:]])\n"
    )
    python = (str(script),)
    crawled = crawl("site", url=site.url, max_pages=1, python=python)
    assert crawled.stats["reason"] == "max_pages"
    assert crawled.stats["pages"]["skipped"] == {"noindex": 20}
    assert "most pages are skipped" in crawled.output


def test_scope_rules_and_canonical_links_of_two_hosts(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    page = make.page
    with make.WebSite() as other:
        site.routes |= {
            "/": page("/", "/x", "/x/", "/x/index.html", "/x?utm_source=1", other.url + "y", "/m"),
            "/x": page("/x", "/private/1", "/x?v=1", "/elsewhere"),
            "/x?v=1": page("/x?v=1", "/n"),
            "/m": page("m", head=_canonical("/n")),  # "any": /n counts as seen
            "/n": page("n"),
            "/private/1": page("/private/1"),
        }
        other.routes |= {
            "/": page("other"),
            "/y": page("y", site.url + "x?v=1", "/z", "/noindex"),
            "/z": page(
                "/x", body='<a rel="nofollow" href="/x">x</a>'
            ),  # a copy of the first host's, up to the links
            "/noindex": page("noindex", head=_robots("noindex, nofollow")),
            "/x": page("only by a link with rel=nofollow"),
        }
        crawled = crawl(
            *(
                "site",
                "-s",
                "DEDUP_URL_RULES=tracking,slash,index",
                "-s",
                "DEDUP_URL_CANONICAL=any",
            ),
            *("-s", "DEDUP_ROBOTS_META_OBEY=False"),
            feed=True,
            url=f"{site.url},{other.url}",
            allow=r":\d+/(([xymnz]|noindex)([?/]|$)|private|$)",
            deny="/private/",
        )
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stored(site) - {
        *(other.url, other.url + "y", other.url + "noindex", other.url + "x")
    } >= {*("/", "/m", "/x?v=1")}
    assert {"/x", "/z"} <= {*map(_path, crawled.records())}
    assert not {"/n", "/private/1", "/elsewhere"} & set(site.asked)
    assert len([target for target in site.asked if target.startswith("/x")]) == 2
    hosts = {host["host"]: host["unique"] + host["duplicates"] for host in crawled.stats["hosts"]}
    assert sorted(hosts.values()) == [4, 5]
    assert crawled.stats["urls"]["nofollow"] == 0


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def test_pages_behind_a_cookie_are_stored(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    def self_redirect(handler: Any) -> Any:
        if "self=1" in handler.headers.get("Cookie", ""):
            return make.page("self")
        return make.redirect("/self", Set_Cookie="self=1")

    def behind_cookie_page(handler: Any) -> Any:
        name = handler.path.strip("/")
        if f"{name}=1" in handler.headers.get("Cookie", ""):
            return make.page(name)
        return make.redirect("/set-cookie", Set_Cookie=f"back={name}")

    def set_cookie(handler: Any) -> Any:
        name = handler.headers["Cookie"].partition("back=")[2][:2]
        return make.redirect(f"/{name}", Set_Cookie=f"{name}=1")

    site.routes |= {
        "/": make.page("/", "/self", "/a1", "/a2", "/t?utm_source=x", "/t"),
        "/self": self_redirect,
        "/a1": behind_cookie_page,
        "/a2": behind_cookie_page,
        "/set-cookie": set_cookie,
        "/t?utm_source=x": make.page("t", head=_canonical("/t")),
        "/t": make.page("t, too", head=_canonical("/t")),
    }
    # One at a time: the cookie page knows where to go back to from the last cookie alone.
    options = ("-s", "CONCURRENT_REQUESTS=1", "-s", "DEDUP_URL_CANONICAL=off")
    crawled = crawl("site", *options, url=site.url)
    assert crawled.status == 0, crawled.output
    assert crawled.stored(site) == {"/", "/self", "/a1", "/a2", "/t?utm_source=x", "/t"}
    assert crawled.skipped(site) == {}


# --- Interruptions -------------------------------------------------------------------------------

_SIZE = 90


@pytest.fixture(scope="module")
def large_site(make: SimpleNamespace) -> Iterator[WebSite]:
    """A tree of pages with a navigation; copies, redirects to each page, and a missing page."""
    routes = {"/": make.page("/", "/0")}
    for number in range(_SIZE):
        children = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < _SIZE]
        # Each fifth page of the second half is a copy of one of the first half, up to the links.
        name = str(number % (_SIZE // 2) if number % 5 == 4 else number)
        routes[f"/{number}"] = make.page(name, *children, "/0", "/missing", f"/to-{number}")
        routes[f"/to-{number}"] = make.redirect(f"/{number}")
    with make.WebSite(routes) as running:
        yield running


@pytest.fixture(scope="module")
def whole(shared_crawl: Crawler, large_site: WebSite) -> Crawled:
    """The crawl that nobody interrupts."""
    crawled: Crawled = shared_crawl("site", url=large_site.url, job="whole")
    return crawled


def _check_complete(resumed: Crawled, whole: Crawled) -> None:
    assert resumed.status == 0, resumed.output
    assert "Traceback" not in resumed.output
    assert "resumes after" in resumed.output
    resumed.check_reconciled()
    assert resumed.records() == whole.records()  # every URL, once
    assert set(resumed.aliases()) == set(whole.aliases())
    for name in ("unique", "duplicates", "skipped"):
        assert resumed.stats["pages"][name] == whole.stats["pages"][name]
    for name in ("seen", "filtered"):
        assert resumed.stats["urls"][name] == whole.stats["urls"][name]
    assert resumed.stats["urls"]["queued"] == 0


def test_killed_crawl_goes_on_and_loses_nothing(
    crawl: Crawler, large_site: WebSite, whole: Crawled
) -> None:
    group = groups_of(10)
    killed = _interrupt(crawl, large_site, "/40", signal.SIGKILL, python=group)
    assert killed.status == -signal.SIGKILL
    n_recorded = sum(killed.records().values())
    assert 0 < n_recorded < _SIZE
    large_site.asked.clear()
    _check_complete(crawl("site", url=large_site.url, python=group), whole)
    assert large_site.asked


def test_interrupted_crawl_stops_cleanly_and_goes_on(
    crawl: Crawler, large_site: WebSite, whole: Crawled
) -> None:
    stopped = _interrupt(crawl, large_site, "/40", signal.SIGINT)
    assert stopped.status == 0
    assert "Traceback" not in stopped.output
    assert "rerun the same command to resume" in stopped.output
    assert stopped.stats["reason"] == "shutdown"
    stopped.check_reconciled()
    fetched = set(stopped.stored(large_site))
    large_site.asked.clear()
    resumed = crawl("site", url=large_site.url)
    assert not fetched & set(large_site.asked)
    _check_complete(resumed, whole)


def _interrupt(
    crawl: Crawler, site: WebSite, target: str, number: signal.Signals, python: Any = ()
) -> Crawled:
    """Crawl until `target` is asked for, and send the signal then."""
    ready = threading.Event()

    def on_request(asked: str) -> None:
        if asked == target and ready.wait(60):
            os.kill(crawling.process.pid, number)

    site.on_request = on_request
    crawling = crawl.start("site", url=site.url, python=python)
    ready.set()
    crawled = crawling.finish()
    site.on_request = lambda asked: None
    return crawled


def test_a_job_that_goes_on_has_one_url_filter_with_room_for_more(crawl, make):
    pages = {f"/{number}": make.page(f"page {number}") for number in range(7)}
    with make.WebSite({"/": make.page("start", *pages), **pages}) as site:
        small = {"url": site.url, "python": with_constants({"job.urls._CAPACITY": 1})}
        assert crawl("site", max_pages=2, **small).stats["urls"]["seen"] == 8
        assert crawl("site", **small).stats["urls"]["bloom"]["capacity"] == 10


@pytest.mark.parametrize("processes", [0, 2])
def test_short_pages_that_declare_no_encoding_are_in_that_of_their_host(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, processes: int
) -> None:
    names = [f"/{number}" for number in range(12)]
    links = "".join(f'<p><a href="{name}">{name}</a></p>' for name in names)
    start = f"<meta charset=gb2312><title>茶</title><h1>茶</h1><p>{'茶馆开门了。' * 20}</p>{links}"
    routes = {"/": make.Answer(start.encode("gb18030"), content_type="text/html")}
    for number, name in enumerate(names):
        body = f"<title>{number}</title><p>茶馆开门{number}</p><a href='/s?q=茶'>q</a>"
        routes[name] = make.Answer(body.encode("gb18030"), content_type="text/html")
    site.routes |= routes | {"/s?q=%B2%E8": make.page("found")}
    crawled = crawl("site", "-s", f"DEDUP_READ_PROCESSES={processes}", url=site.url)
    assert crawled.status == 0, crawled.output
    texts = {
        _path(url): encoding for url, encoding in crawled.rows("SELECT url, encoding FROM pages")
    }
    assert {texts[name] for name in names} == {"gb18030"}
    assert "/s?q=%B2%E8" in site.asked  # their links, too
    assert crawled.rows("SELECT encoding, pages FROM encodings") == [("gb18030", 1)]


def test_redirects_with_characters_outside_ascii_are_followed_as_browsers_do(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    def sent(text: str, encoding: str = "utf-8") -> Any:
        return make.redirect(text.encode(encoding).decode("latin-1"))

    other_spelling = site.url.replace("127.0.0.1", "127。0。0。1")
    site.routes |= {
        "/": make.page("/", "/utf-8", "/gbk", "/host", "/nowhere"),
        "/utf-8": sent("/中?中"),
        "/%E4%B8%AD?%E4%B8%AD": make.page("by UTF-8"),
        "/gbk": sent("/中", "gbk"),
        "/%D6%D0": make.page("by GBK"),
        "/host": sent(other_spelling + "there"),
        "/there": make.page("there"),
        "/nowhere": sent("http://faß .de/"),
    }
    crawled = crawl("site", url=site.url)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stored(site) == {"/", "/%E4%B8%AD?%E4%B8%AD", "/%D6%D0", "/there"}
    assert crawled.skipped(site) == {"/nowhere": "redirect_invalid"}
