"""Pages of small sites, one site for each way in which themes put text around what a page says."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from dedup.html import bounded
from dedup.html.unfolding import page_outline
from dedup.sites.counts import Contribution
from dedup.sites.outline import Box, Line, Outline
from dedup.sites.site import PageText, Site, learn

_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi", "su") for b in "nrstv" for c in "aeiouy"]


def prose(name: object, n_words: int = 80) -> str:
    """Text that is the same for the same name, and unlike that of any other."""
    choose = random.Random(str(name))
    return " ".join(choose.choices(_WORDS, k=n_words)).capitalize() + "."


def parsed(body: str) -> Outline:
    found = page_outline(bounded(f"<body>{body}</body>"), url_of(0))
    assert found is not None
    return found


def title_of(number: int) -> str:
    return f"Page {number} - The site"


def url_of(number: int) -> str:
    return f"http://site.example/{number}"


def contribution_of(site: Site, body: Outline, number: int) -> Contribution:
    """What a page adds to what is known of its site."""
    own = site.read(body, title_of(number), url_of(number))
    assert own is not None
    return own.contribution


def learned(*bodies: str) -> Site:
    """What is known of a site after these pages, each of a name of its own."""
    pages = ((parsed(body), title_of(n), url_of(n)) for n, body in enumerate(bodies))
    return Site(learn(pages), version=1)


def read(site: Site, body: str, number: int = 99) -> PageText:
    """What a page says itself; it is the same after its outline was stored."""
    page = parsed(body)
    own = site.read(page, title_of(number), url_of(number))
    assert own is not None
    kept = site.read(Outline.from_json(page.to_json()), title_of(number), url_of(number))
    assert kept is not None
    assert (kept.text, kept.rest.to_bytes()) == (own.text, own.rest.to_bytes())
    return own


MENU = "".join(f"<li><a href=/{n}>{prose(f'menu {n}', 3)}</a></li>" for n in range(60))
FOOTER = prose("footer", 30)


def sphinx(number: int, *, content: str | None = None) -> str:
    """A side bar of links, longer than most pages, and a content box called so."""
    content = content or f"<p>{prose(number)}</p><pre>code {number}\n  more</pre>"
    return (
        f"<div class=document><div class=body><h1>Page {number}</h1>{content}</div></div>"
        f"<div class=sphinxsidebar><ul>{MENU}</ul></div><div class=footer>{FOOTER}</div>"
    )


def table_layout(number: int) -> str:
    """No names at all: a menu on the left, the text on the right."""
    return (
        f"<center><table><tr><td><font>{MENU}</font></td>"
        f"<td><b>Page {number}</b><br>{prose(number)}<br><br>{prose(f'{number} more')}</td>"
        f"</tr></table>{FOOTER}</center>"
    )


def generated_names(number: int) -> str:
    """Class names from a build, some of them of the page alone."""
    return (
        f"<div class='_a1 css-9x8'><div class='_BCFX p{number}'><nav>{MENU}</nav></div>"
        f"<div class='_QQYZ q{number}' id=page-{number}><h1>Page {number}</h1>"
        f"<p>{prose(number)}</p></div></div>"
    )


def flat(number: int) -> str:
    """No content box: headings and paragraphs between a header and a footer."""
    return (
        f"<div class=header><ul>{MENU}</ul></div><h1>Page {number}</h1><p>{prose(number)}</p>"
        f"<h2>Part</h2><p>{prose(f'{number} more')}</p><div class=footer>{FOOTER}</div>"
    )


def blog_post(number: int) -> str:
    return (
        f"<div id=main><article class='post' id=post-{number}><h1>Post {number}</h1>"
        f"<div class=entry><p>{prose(number)}</p></div><div class=share>Share this now</div>"
        f"</article><div class=next><a href=#>{prose(f'next {number}', 4)}</a></div></div>"
        f"<div class=widgets><p>{prose('about the author', 60)}</p></div>"
    )


def blog_index(number: int) -> str:
    entries = "".join(
        f"<article class='post excerpt'><h2>Post {n}</h2><p>{prose(n, 40)}</p></article>"
        for n in range(10 * number, 10 * number + 10)
    )
    return (
        f"<div id=main>{entries}</div>"
        f"<div class=widgets><p>{prose('about the author', 60)}</p></div>"
    )


SITES: dict[str, Callable[[int], str]] = {
    "side bar": sphinx,
    "table layout": table_layout,
    "generated names": generated_names,
    "no content box": flat,
    "blog": blog_post,
}


@pytest.fixture(params=SITES)
def page(request: pytest.FixtureRequest) -> Callable[[int], str]:
    return SITES[request.param]


@st.composite
def outlines(draw: st.DrawFn, max_lines: int = 30) -> Outline:
    """Any outline, of few different lines and boxes, so that some are equal; none needs to be."""
    texts = st.one_of(
        st.sampled_from(["a", "a b c d", "12", "中文字", "***", "\ud800", "See the other page"]),
        st.text(min_size=1, max_size=20).map(lambda text: " ".join(text.split()) or "x"),
    )
    names = st.lists(st.sampled_from(["a", "#b", "c1", "\ud800"]), max_size=3).map(tuple)
    boxes = [Box(-1, "body", ())]
    for number in range(draw(st.integers(0, 8))):
        parent = draw(st.integers(0, number))
        boxes.append(Box(parent, draw(st.sampled_from(["div", "ul"])), draw(names)))
    lines = []
    for _ in range(draw(st.integers(0, max_lines))):
        text, block = draw(texts), draw(st.sampled_from(["", "p", "h1", "h2"]))
        plain = draw(st.sampled_from([text, "", text[: len(text) // 2]]))
        lines.append(Line(draw(st.integers(0, len(boxes) - 1)), text, plain, block))
    return Outline(boxes, lines)
