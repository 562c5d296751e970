"""Shells as frameworks build them need a browser; short, empty and rendered pages do not."""

from __future__ import annotations

import pytest

from dedup.deduplicator import Deduplicator
from dedup.document import Document
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.html.shell import needs_rendering

_MODULE = '<script type="module" crossorigin src="/assets/index-4f1c.js"></script>'
_LONG = " ".join(f"The keeper of lighthouse {n} wrote down the weather." for n in range(20))

SHELLS = {
    "React, Vite": f'<head>{_MODULE}</head><body><div id="root"></div></body>',
    "React, webpack": '<head><script defer src="/static/js/main.1.js"></script></head><body>'
    "<noscript>You need to enable JavaScript to run this app.</noscript>"
    '<div id="root"></div></body>',
    "Vue": f'<head>{_MODULE}</head><body><div id="app"></div></body>',
    "Svelte": '<head><link rel="modulepreload" href="/app.js"></head><body>'
    '<div style="display: contents"><script>import("/app.js")</script></div></body>',
    "Angular": '<body><app-root></app-root><script src="main.js" type="module"></script></body>',
    "Docusaurus": f'<head>{_MODULE}</head><body><div id="__docusaurus"></div></body>',
    "no element": '<body><script src="bootstrap.js" async></script></body>',
    "loading": f"<head>{_MODULE}</head><body><div><img src=l.svg><p>Loading…</p></div></body>",
    "asks": f"<head>{_MODULE}</head><body><p>请启用 JavaScript 后继续</p></body>",
    "long menu": f"<head>{_MODULE}</head><body><div class=menu><ul>"
    + "".join(f"<li><a href=/{n}>Lighthouses of the coast of {n} seas</a>" for n in range(60))
    + '</ul></div><main id="app"></main></body>',
    "menu": f"<head>{_MODULE}</head><body><nav><ul><li><a href=/a>Home</a></ul></nav>"
    '<div id="app"></div></body>',
}
PAGES = {
    "list of links": f"<head>{_MODULE}</head><body><main><ul>"
    + "".join(f"<li><a href=/{n}>Lighthouses of the coast of {n} seas</a>" for n in range(60))
    + "</ul></main></body>",
    "empty": "<body></body>",
    "short": "<head><script src=https://a.example/x.js></script></head><body><p>Sold out.</body>",
    "log-in": f"<head>{_MODULE}</head><body><noscript>Please enable JavaScript</noscript>"
    "<form><input name=user></form></body>",
    "rendered": f'<head>{_MODULE}</head><body><div id="__next"><p>{_LONG}</p></div></body>',
    "widget": f'<head>{_MODULE}</head><body><p>{_LONG}</p><div id="root"></div></body>',
    "article in JSON-LD": f'<head>{_MODULE}<script type="application/ld+json">'
    f'{{"articleBody": "{_LONG}"}}</script></head><body><div id="root"></div></body>',
}


@pytest.mark.parametrize("name", [*SHELLS, *PAGES])
def test_shells_are_told_from_pages(name: str) -> None:
    page = bounded({**SHELLS, **PAGES}[name])
    assert needs_rendering(page, page_text(page, "").text) == (name in SHELLS)


def test_shells_are_neither_copies_nor_originals() -> None:
    shells = [Document(id=str(n), text=_LONG, body=b"x", source="shell") for n in range(3)]
    page, copy = (Document(id=name, text=_LONG, body=b"x") for name in ("page", "copy"))
    documents = [*shells, page, shells[0], copy]
    for judge in (Deduplicator().process_many(documents), map(Deduplicator().process, documents)):
        assert [verdict.is_duplicate for verdict in judge] == [False] * 5 + [True]
