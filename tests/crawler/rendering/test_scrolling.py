"""Lists that grow when they are scrolled or a button is pressed, and pages that abuse it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dedup.cli import main
from dedup.scrapy.rendering.bounds import Bounds
from tests.crawler.rendered import Rendered, needs_chromium

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from scrapy.http import HtmlResponse

    from tests.crawler.conftest import Crawler, WebSite

pytest.importorskip("scrapy_playwright", reason="needs the extra render")
pytestmark = [pytest.mark.slow, needs_chromium]

_SCROLLS, _FIRST, _ALL = 4, 5, 20

_LIST = f"""<!doctype html><body style="margin: 0"><div id="list"></div><script>
let n = 0, busy = false;
const add = (count) => {{
  for (let each = 0; each < count; each++)
    list.insertAdjacentHTML("beforeend", `<p style="height: 300px"><a href="/${{++n}}">i</a></p>`);
}};
const atEnd = (each, more) => {{
  if (busy || each.scrollTop + each.clientHeight < each.scrollHeight - 50) return;
  busy = true;
  setTimeout(() => {{ more(); busy = false; }}, 100);
}};
const onEnd = (more) => {{ onscroll = () => atEnd(document.scrollingElement, more); }};
const until20 = () => {{ if (n < {_ALL}) add(5); }};
add({_FIRST});
</script>"""

_INNER = """<div id="inner" style="height: 100vh; overflow-y: auto"></div><script>
inner.append(list);
inner.onscroll = () => atEnd(inner, until20);
</script>"""

_VIRTUAL = """<script>list.remove()</script><div id="view" style="height: 100vh; overflow: auto">
<div id="rows" style="height: 30000px; position: relative"></div></div><script>
const show = () => {
  const top = Math.floor(view.scrollTop / 100);
  rows.replaceChildren();
  for (let row = top; row < Math.min(300, top + 20); row++) rows.insertAdjacentHTML("beforeend",
    `<a style="position: absolute; top: ${row * 100}px" href="/row/${row}" rel="next">${row}</a>`);
};
view.onscroll = show;
show();
</script>"""

_PRESSED = """<form action="/go"><button onclick="add(5)">Load more</button></form>
<form action="/go"><label onclick="add(5)" role="button">Load more<input type="submit"></label>
</form><a href="/next" onclick="add(5)">Load more</a>
<a href="#" target="_blank" onclick="add(5)">Load more</a>
<button onclick="add(5)" style="display: none">Load more</button>
<button onclick="add(5)" style="visibility: hidden">Load more</button>
<button onclick="add(5)" disabled>Load more</button>
<button onclick="add(5)">Load more of these</button>"""

CASES = {
    # what follows the list; links in the end; how often more came; what ended it
    "scrolled": ("<script>onEnd(until20)</script>", _ALL, 3, None),
    "inner": (_INNER, _ALL, 3, None),
    "virtual": (_VIRTUAL, 300, 1, None),
    "pressed": ("<button onclick='until20()'>Load More ↓</button>", _ALL, 3, None),
    "chinese": ("<a href='javascript:until20()'> 加载更多… </a>", _ALL + 1, 3, None),
    "navigated": (
        "<script>onEnd(() => { until20(); history.pushState(0, 0, `/page/${n}`); })</script>",
        _ALL, 3, None,
    ),
    "not_pressed": (_PRESSED, _FIRST + 2, 0, None),
    "consent": (
        "<div id=cookieBox style='position: fixed'><a href='/policy'>Your privacy</a></div>"
        "<div class=cookies-open style='position: fixed'><main><a href='/app'>all</a></main></div>",
        _FIRST + 1, 0, None,
    ),
    "for_ever": ("<script>onEnd(() => add(5))</script>", 25, _SCROLLS, "budget"),
    "too_large": ("<script>onEnd(() => add(9 * n))</script>", 500, 2, "too_large"),
    "too_many": (
        "<script>onEnd(() => { for (let i = 0; i < 50; i++) fetch('/' + i); add(5) })</script>",
        10, 1, "too_many_requests",
    ),
    "crashes": (
        "<script>onEnd(() => { if (n > 9) for (a = [];;) a.push(Array(1e6).fill(.5)); add(5) })"
        "</script>",
        10, 1, "crashed",
    ),
    "reloads": ("<button onclick='add(5); location.reload()'>Show more</button>", 25, 4, "budget"),
    "leaves": ("<button onclick='location = `/2`'>Show more</button>", _FIRST, 0, None),
    "submits": (
        "<form id=f method=post><button type=button onclick='f.submit()'>Show more</button></form>",
        _FIRST, 0, None,
    ),
    "opens": (
        "<iframe></iframe><script>onEnd(() => { open('/2'); frames[0].open('/3'); until20(); })"
        "</script>",
        _ALL, 3, None,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, HtmlResponse]]:
    """All of the pages, each on a host of its own."""
    made = Rendered(
        Bounds(
            seconds=60,
            idle_seconds=1,
            max_nodes=2_000,
            max_requests=80,
            process_bytes=800 * 2**20,
            heap_mb=256,
            max_scrolls=_SCROLLS,
        )
    )
    pages = {f"http://{n}.example/": _LIST + rest for n, (rest, *_) in enumerate(CASES.values())}
    yield dict(zip(CASES, made.render_all(pages), strict=True))
    made.close()


@pytest.mark.parametrize("name", CASES)
def test_more_is_asked_for(found: dict[str, HtmlResponse], name: str) -> None:
    _, n_links, n_scrolls, stopped_by = CASES[name]
    page, url = found[name], f"http://{[*CASES].index(name)}.example/"
    record = page.meta["rendering"]
    assert (record.n_scrolls, record.stopped_by) == (n_scrolls, stopped_by)
    assert len({*page.css("[href]::attr(href)").getall()}) == n_links
    assert page.url == url
    assert record.leads_to == {"leaves": f"{url}2", "submits": url}.get(name)


def test_a_page_that_hangs_when_it_is_scrolled_is_kept() -> None:
    made = Rendered(Bounds(seconds=10, max_scrolls=_SCROLLS))
    hanging = "<script>onEnd(() => { for (;;); })</script>"
    page = made.render(_LIST + hanging)
    made.close()
    assert page.meta["rendering"].stopped_by == "timeout"
    assert len(page.css("a")) == _FIRST


_MORE_JS = b"""let next = 0;
onscroll = () => {
  if (innerHeight + scrollY < document.documentElement.scrollHeight - 50 || next === 3) return;
  document.querySelector("main").insertAdjacentHTML("beforeend",
    `<p style="height: 2000px"><a href="${location.pathname}/more/${next++}">more</a></p>`);
};"""


def test_lists_that_grow_are_learned(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, tmp_path: Path
) -> None:
    """The raw pages have all that the rendered ones show before they are scrolled."""
    lists = [f"/list/{n}" for n in range(6)]
    script, tall = '<script src="/more.js" defer></script>', '<p style="height: 2000px">'
    for each in lists:
        site.routes[each] = make.page(f"list {each}", head=script, body=tall)
        site.routes |= {f"{each}/more/{n}": make.page(f"more {each} {n}") for n in range(3)}
    site.routes["/more.js"] = make.Answer(_MORE_JS, content_type="text/javascript")
    site.routes["/"] = make.page("start", *lists)
    settings = ("DEDUP_RENDER=auto", "DEDUP_RENDER_SECONDS=120", "DEDUP_RENDER_SCROLLS=9")
    crawled = crawl("site", *[word for each in settings for word in ("-s", each)], url=site.url)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stats["pages"]["unique"] == 1 + 4 * len(lists)
    exported = tmp_path / "pages.jsonl"
    main(["export", str(crawled.folder), "-o", str(exported), "--fields", "url,rendered_why"])
    rows = map(json.loads, exported.read_text("utf-8").splitlines())
    why = {row["url"].removeprefix(site.url): row["rendered_why"] for row in rows}
    assert {why[each[1:]] for each in lists} == {"first", "template"}
