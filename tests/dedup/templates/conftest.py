"""Pages of small sites, one site for each way in which themes put text around what a page says."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser

from dedup.templates.measuring import Sample
from dedup.sites.outline import outline

_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi", "su") for b in "nrstv" for c in "aeiouy"]


def prose(name: object, n_words: int = 80) -> str:
    """Text that is the same for the same name, and unlike that of any other."""
    choose = random.Random(str(name))
    return " ".join(choose.choices(_WORDS, k=n_words)).capitalize() + "."


def sample(title: str, body: str) -> Sample:
    return Sample(title, outline(parsed(body)))


def parsed(body: str) -> object:
    return LexborHTMLParser(f"<body>{body}</body>", scripting=True).body


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
