"""What a page was made from, as the browser got it; or that this does not tell whether it is."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from dedup.rendering.inputs import MAX_ANSWERS, Answer, digest_of

if TYPE_CHECKING:
    from tests.crawler.rendered import Rendered

pytestmark = pytest.mark.slow

_SHOW = "fetch('/data').then(r => r.text()).then(t => document.body.append(t));"
_HOSTS = {"site.example", "a.example", "b.example"}
_ROUTES = {
    "/data": ("text/plain", "some data"),
    "/app.js": ("text/javascript", _SHOW),
    "/moved": ("redirect", "http://site.example/data"),
    "/frame": ("text/html", "<p>within"),
}


@pytest.fixture
def in_scope(rendered: Rendered) -> Iterator[Rendered]:
    """The browser of a crawl of `site.example`."""
    crawler = cast("Any", rendered.browser._crawler)
    crawler.spider = SimpleNamespace(scope=SimpleNamespace(hosts=_HOSTS))
    rendered.web.routes = {**_ROUTES}
    yield rendered
    crawler.spider = None


def made_from(rendered: Rendered, html: str) -> tuple[Answer, ...] | None:
    found: tuple[Answer, ...] | None = rendered.render(html).meta["rendering"].made_from
    return found


def test_a_page_is_made_from_its_scripts_and_their_data(in_scope: Rendered) -> None:
    data = Answer("http://site.example/data", digest_of(b"some data"))
    script = Answer("http://site.example/app.js", digest_of(_SHOW.encode()))
    for _ in range(2):  # from the browser's cache, too
        assert made_from(in_scope, "<body><script src=/app.js></script>") == (script, data)
    assert made_from(in_scope, "<p>made by none") == ()


@pytest.mark.parametrize("script", [
    "fetch('/data', {method: 'POST', body: '0'})",
    "fetch('http://other.example/data')",
    "fetch('/data?_=' + Date.now())",
    "fetch('/data?r=' + Math.random())",
    "fetch('/moved')",
    "new EventSource('/data')",
    "new WebSocket('ws://site.example/data')",
    "new Worker(URL.createObjectURL(new Blob(['0'])))",
    f"for (let n = 0; n <= {MAX_ANSWERS}; n++) fetch('/data?' + n)",
    "setInterval(() => fetch('/data'), 50)",
    "document.cookie || (document.cookie = 'a=b', location.reload())",
    "document.head.append(Object.assign(document.createElement('script'),"
    " {src: 'http://private.example/a.js'}))",
    "location = '/elsewhere'",
    "new SharedWorker('/app.js')",
])  # fmt: skip
def test_some_pages_cannot_be_told_by_their_answers(in_scope: Rendered, script: str) -> None:
    assert made_from(in_scope, f"<body><script>{script}</script>") is None


@pytest.mark.parametrize(
    ("host", "script"),
    [
        ("a.example", "localStorage.text = 'word '.repeat(999)"),
        ("b.example", "indexedDB.open('b')"),
    ],
)
def test_pages_of_a_site_that_keeps_data_cannot_be_told(
    in_scope: Rendered, host: str, script: str
) -> None:
    """The next page may have its text from it, and ask for nothing."""
    for html in (f"<script>{script}</script>", "<p>the next page"):
        record = in_scope.render(html, f"http://{host}/").meta["rendering"]
        assert record.made_from is None


@pytest.mark.parametrize("markup", [
    "<script>navigator.sendBeacon('/data', '0')</script>",
    "<script>fetch('https://www.google-analytics.com/collect', {method: 'POST'})</script>",
    "<script src=http://other.example/library.js></script>",
    "<script>fetch('data:text/plain,0')</script>",
    "<script>localStorage.theme = 'dark'</script>",
    "<img src=/picture.png><link rel=stylesheet href=/style.css>",
])  # fmt: skip
def test_what_makes_no_text_does_not_count(in_scope: Rendered, markup: str) -> None:
    assert made_from(in_scope, f"<body>{markup}") == ()


def test_an_answer_that_is_loaded_before_it_is_asked_for_counts(in_scope: Rendered) -> None:
    html = "<link rel=preload href=/data as=fetch crossorigin><body><script>setTimeout(() => SHOW)"
    data = Answer("http://site.example/data", digest_of(b"some data"))
    assert made_from(in_scope, html.replace("SHOW", _SHOW.rstrip(";")) + "</script>") == (data,)


def test_an_answer_that_is_another_one_at_once_tells_nothing(in_scope: Rendered) -> None:
    def turn(path: str) -> None:
        if path == "/turning":
            in_scope.web.routes["/turning"] = ("text/plain", f"{len(in_scope.web.asked)}")

    in_scope.web.on_ask = turn
    html = "<body><script>fetch('/turning').then(() => fetch('/turning'))</script>"
    assert made_from(in_scope, html) is None


def test_a_frame_of_the_site_counts_as_an_answer(in_scope: Rendered) -> None:
    frame = Answer("http://site.example/frame", digest_of(b"<p>within"))
    assert made_from(in_scope, "<iframe src=/frame></iframe>") == (frame,)
    assert made_from(in_scope, "<iframe src=http://other.example/frame></iframe>") is None
