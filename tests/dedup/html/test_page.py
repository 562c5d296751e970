from urllib.parse import urldefrag

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.html import parse_page
from dedup.urls import canonical_url

URL = "http://example.com/a/b.html?q=1"


def links(html, url=URL):
    return parse_page(html, url).links()


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n  page &amp; more </title>", "A page & more"),
        ("<svg><title>icon</title></svg><title>real</title>", "real"),
        ("<title>first</title><title>second</title>", "first"),
        ("<title></title><title>second</title>", ""),
        ("<textarea><title>x</title></textarea>", ""),
        ("", ""),
    ],
)
def test_title(html, title):
    assert parse_page(html, URL).title == title


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=' zh-CN '>", "zh-cn"),
        ("<html lang><meta http-equiv=content-language content=DE>", "de"),
        ("<html lang=en><meta http-equiv=content-language content=de>", "en"),
        ("<meta http-equiv=content-language content='de, en'>", ""),
        ("<p lang=fr>", ""),
    ],
)
def test_language(html, language):
    assert parse_page(html, URL).language == language


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/c>", "http://example.com/c"),
        ("<link rel='alternate CANONICAL' href=c>", "http://example.com/a/c"),
        ("<base href=https://other.org/x/><link rel=canonical href=c>", "https://other.org/x/c"),
        # a tracker's image does not end the head
        ("<noscript><img src=t></noscript><link rel=canonical href=/c>", "http://example.com/c"),
        ("<body><link rel=canonical href=/c>", None),  # a visitor's comment may hold one
        ("<link rel=canonical href=ftp://example.com/c>", None),
        ("<link rel=canonical href>", None),
        ("<link rel=canonical href='http://['>", None),
    ],
)
def test_canonical_url(html, canonical):
    assert parse_page(html, URL).canonical_url == canonical


@pytest.mark.parametrize(
    ("html", "refresh"),
    [
        ("<meta http-equiv=refresh content='0; url=/next'>", "http://example.com/next"),
        ("<meta http-equiv=Refresh content=\"5;URL='n'\">", "http://example.com/a/n"),
        ("<meta http-equiv=refresh content='3 /next'>", "http://example.com/next"),
        ("<meta http-equiv=refresh content='.5, n#f'>", "http://example.com/a/n"),
        ("<meta http-equiv=refresh content='30'>", None),
        ("<meta http-equiv=refresh content='\u0665; url=/next'>", None),  # no ASCII digit
        ("<meta http-equiv=refresh content='\u00a05; url=/next'>", None),  # no ASCII white space
        ("<meta http-equiv=refresh content='0;url=b.html?q=1#top'>", None),  # itself
        ("<meta http-equiv=refresh content='0;url=javascript:x'>", None),
        *(
            (f"<{tag}><meta http-equiv=refresh content='0;url=/n'></{tag}>", None)
            for tag in ("noscript", "textarea", "template", "title")
        ),
    ],
)
def test_refresh_url(html, refresh):
    assert parse_page(html, URL).refresh_url == refresh


@pytest.mark.parametrize(
    ("html", "headers", "noindex", "nofollow"),
    [
        ("<meta name=robots content='NoIndex, follow'>", [], True, False),
        ("<meta name=ROBOTS content=none>", [], True, True),
        ("<meta name=robots content=nofollow><meta name=robots content=noindex>", [], True, True),
        ("<meta name=googlebot content=noindex>", [], False, False),
        ("<meta name=robots>", ["noindex"], True, False),
        ("", ["max-snippet: 5, nofollow", "all"], False, True),
        ("", ["otherbot: noindex, nofollow"], False, False),
        ("", ["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], True, False),
    ],
)
def test_robots(html, headers, noindex, nofollow):
    page = parse_page(html, URL, robots_headers=headers)
    assert (page.is_noindex, page.is_nofollow) == (noindex, nofollow)


def test_hrefs_in_document_order_without_repeats():
    html = (
        "<a href=b>1</a><map><area href=c></map><iframe src=d></iframe><a href=b>2</a>"
        "<a rel='external NOFOLLOW' href=e>3</a><noscript><a href=g>4</a></noscript>"
        "</html><a href=f>5</a>"
    )
    assert parse_page(html, URL).hrefs == ("b", "c", "d", "e", "f", "g")
    assert parse_page("<frameset><frame src=x></frameset>", URL).hrefs == ("x",)


@pytest.mark.parametrize(
    ("html", "followed", "every"),
    [
        ("<a rel='external NOFOLLOW' href=b>", [], ["b"]),
        ("<a rel=nofollow href=b><a href=b>", ["b"], ["b"]),  # one link is enough
        ("<a href=b><a rel=nofollow href=b>", ["b"], ["b"]),
        ("<a rel=nofollow href=b><a href=' b '>", ["b"], ["b"]),
        ("<a rel=nofollow href=b><noscript><a href=b></a></noscript>", ["b"], ["b"]),
        ("<a href=b></a><noscript><a rel=nofollow href=c></a></noscript>", ["b"], ["b", "c"]),
        ("<a rel=nofollow href=b><a href=c>", ["c"], ["b", "c"]),  # in document order
    ],
)
def test_nofollow_links_are_marked(html, followed, every):
    page = parse_page(html, URL)
    base = "http://example.com/a/"
    assert page.links() == [base + name for name in followed]
    assert page.links(with_nofollow=True) == [base + name for name in every]


@pytest.mark.parametrize(
    "href",
    ["", "#", "#top", "javascript:x()", " JavaScript:x", "java\nscript:x", "mailto:a@b.c", "tel:1",
     "data:text/html,x", "about:blank", "ftp://example.com/"],
)  # fmt: skip
def test_hrefs_omits_other_resources(href):
    assert parse_page(f"<a href='{href}'>x</a><a href>null</a>", URL).hrefs == ()


def test_links_to_routes_are_kept_where_asked_for():
    html = (
        "<a href='#/b c'>1</a><a href='x?y#!/b'>2</a><a href=#top>3</a><a href=#!>4</a>"
        "<a href='http://b.example/c#/d'>5</a><a href=y#z>6</a>"
        "<noscript><a href=#/e></a></noscript>"
    )
    url = "http://example.com/a/#/now"
    assert parse_page(html, url, has_routes=True).links() == [
        "http://example.com/a/#/b c",
        "http://example.com/a/x?y#!/b",
        "http://example.com/a/",  # a route is left for the page itself
        "http://b.example/c#/d",
        "http://example.com/a/y",
        "http://example.com/a/#/e",
    ]
    assert parse_page(html, url).links() == [
        "http://example.com/a/x?y",
        "http://b.example/c",
        "http://example.com/a/y",
    ]
    with_base = parse_page("<base href=/app/><a href=#/b>", url, has_routes=True)
    assert with_base.links() == ["http://example.com/app/#/b"]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("c.html#f", "http://example.com/a/c.html"),
        ("/c", "http://example.com/c"),
        ("//other.org/c", "http://other.org/c"),
        ("?p=2", "http://example.com/a/b.html?p=2"),
        ("../c", "http://example.com/c"),
        ("../../../c", "http://example.com/c"),
        ("./c", "http://example.com/a/c"),
        ("..", "http://example.com/"),
        ("/x/../c?u=http://o.org/./", "http://example.com/c?u=http://o.org/./"),
        ("  c\n\td  ", "http://example.com/a/cd"),
        ("c d", "http://example.com/a/c d"),
        ("\\c\\d?e\\f", "http://example.com/c/d?e\\f"),
        ("中文", "http://example.com/a/%E4%B8%AD%E6%96%87"),
        ("HTTP://Other.org:8080/c", "http://other.org:8080/c"),
        ("/redirect?to=http://other.org", "http://example.com/redirect?to=http://other.org"),
    ],
)
def test_links_resolution(href, url):
    assert links(f"<a href='{href}'>x</a>") == [url]


@pytest.mark.parametrize(
    "href", ["http://[", "http://", "http:///", "http://a:port/", "//", "https://a:99999/"]
)
def test_links_leaves_out_urls_without_host(href):
    assert links(f"<a href='{href}'>x</a>") == []


@pytest.mark.parametrize(
    ("encoding", "query"),
    [
        ("utf-8", "%E4%B8%AD%E6%96%87"),
        ("gb18030", "%D6%D0%CE%C4"),
        ("utf-16-le", "%E4%B8%AD%E6%96%87"),
        ("windows-1252", "%26%2320013%3B%26%2325991%3B"),
        ("no-such-encoding", "%E4%B8%AD%E6%96%87"),
    ],
)
def test_links_ask_for_queries_in_the_encoding_of_the_page(encoding, query):
    page = parse_page("<a href='/中文?q=中文'>x</a>", URL, encoding=encoding)
    assert page.links() == [f"http://example.com/%E4%B8%AD%E6%96%87?q={query}"]


def test_links_drops_repeats_that_differ_by_fragment():
    assert links("<a href=c#1>1</a><a href=c#2>2</a>") == ["http://example.com/a/c"]


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("/x/", "http://example.com/x/c"),
        ("https://other.org", "https://other.org/c"),
        ("javascript:x", "http://example.com/a/c"),
        ("http://[", "http://example.com/a/c"),
    ],
)
def test_base(base, url):
    assert links(f"<base href='{base}'><base href=/second/><a href=c>x</a>") == [url]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from(["a", "b.c", "..", ".", "?", "/", "d=1", ":", "é", "..x", "%2e"])),
    st.sampled_from(
        ["http://h.org", "http://h.org/", "https://h.org:81/a/b/c?d", "http://h.org/a"]
    ),
)
def test_links_agree_with_the_url_standard(parts, base):
    href = "".join(parts)
    try:
        expected = canonical_url(urldefrag(ada_url.join_url(base, href))[0])
    except ValueError:  # no URL, or one whose host no name server can know
        return
    found = links(f'<a href="{href}">x</a>', base)
    assert list(map(canonical_url, found)) == ([expected] if href else [])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            ["<a href=", "'", '"', ">", "\0", "\ud800", "x", "<base href=//>", "<svg>", "<title>",
             "<template>", "<meta http-equiv=refresh content=", "0;url=", "<noscript>", "<html ",
             "<link rel=canonical href=", "&#0;", "http://[", "</html>", "<frameset>"]
        )
    ),
    st.sampled_from([URL, "", "http://[", "file:///x"]),
)  # fmt: skip
def test_parse_page_never_raises(parts, url):
    page = parse_page("".join(parts), url)
    assert all(link.startswith(("http://", "https://")) for link in page.links())
