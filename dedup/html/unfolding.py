"""Content that a script would unfold: in `<template>`, or in a `<script>` that contains markup.

Some manuals keep whole chapters there, and show almost nothing without scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser

from dedup.html.bounds import Bounded
from dedup.sites.outline import Outline, outline
from dedup.urls.parts import host_of, host_without_port

_TEMPLATE_TAG = re.compile(r"<(/?)(?i:template)(?=[\s/>])")
_SCRIPT = re.compile(r"<(?i:script)[^<>]*+>")
_FOLDING = re.compile(rf"{_TEMPLATE_TAG.pattern}|{_SCRIPT.pattern}")
_SCRIPT_END = re.compile(r"</(?i:script)[^>]*+>")
_SCHEMES = ("http:", "https:", "")
_TYPE = re.compile(r"""(?i)(?<![\w-])type\s*=\s*["']?\s*+[^"'\s<>]{0,80}?(?:template|text/html)""")


def has_folded_content(html: str) -> bool:
    """May the page have markup that scripts unfold? It takes linear time."""
    return any(
        tag[1] is not None or _TYPE.search(tag[0]) is not None for tag in _FOLDING.finditer(html)
    )


def unfolded(page: Bounded) -> LexborHTMLParser:
    """The page's tree; if more text is folded than shown, the tree of the unfolded page."""
    if page.is_flat or not has_folded_content(page.html):
        return page.tree
    return _unfolded(page)[0]


def page_outline(page: Bounded, url: str = "") -> Outline | None:
    """The outline of the page, unfolded if more text is folded than shown.

    None: it has no body, or is flat. `url`: the page's; without it, no link leads to another site.
    """
    found = None if page.is_flat else _unfolded(page, url)[1]
    return None if found is None else found.without_inner_boxes()


def _unfolded(page: Bounded, url: str = "") -> tuple[LexborHTMLParser, Outline | None]:
    shown = _outline_of(page.tree, url)
    if has_folded_content(page.html):
        tree = LexborHTMLParser(_unfold(page.html), scripting=True)
        found = _outline_of(tree, url)
        if _n_characters(found) > 2 * _n_characters(shown):
            return tree, found
    return page.tree, shown


def _outline_of(tree: LexborHTMLParser, url: str) -> Outline | None:
    return None if tree.body is None else outline(tree.body, leads_out=_leaves(tree, url))


def _leaves(tree: LexborHTMLParser, url: str) -> Callable[[str], bool] | None:
    """Tell links to other sites; None: the page's site is not known.

    Hosts with one parent are one site, such as `a.example.org` and `b.example.org`; so is the host
    that a mirrored page declares.
    """
    if not url:
        return None
    canonical = tree.css_first("link[rel=canonical]")
    declared = canonical.attributes.get("href") if canonical is not None else None
    own = {"", _site_of(url), _site_of(declared or "")}
    return lambda href: _site_of(href) not in own


def _site_of(url: str) -> str:
    """The last two labels of a URL's host; "" for a relative one, or one that is not of the web."""
    scheme, *parts = url.lstrip().split("/", 3)
    is_absolute = len(parts) > 1 and not parts[0] and scheme.lower() in _SCHEMES
    return _site_of_authority(parts[1]) if is_absolute else ""


@lru_cache(1_000)  # a page has hundreds of links, to few hosts
def _site_of_authority(authority: str) -> str:
    host = host_without_port(host_of(f"http://{authority}"))
    return host if host.replace(".", "").isdigit() else ".".join(host.split(".")[-2:])


def _n_characters(found: Outline | None) -> int:
    return 0 if found is None else sum(len(line.text) for line in found.lines)


def _unfold(html: str) -> str:
    kept, start = [], 0
    for tag in _SCRIPT.finditer(html):
        if tag.start() < start:  # in a script that is a template
            continue
        end = _SCRIPT_END.search(html, tag.end())
        stop, after = (len(html), len(html)) if end is None else (end.start(), end.end())
        if _TYPE.search(tag[0]):
            kept += [html[start : tag.start()], "<div>", html[tag.end() : stop], "</div>"]
        else:
            kept.append(html[start:after])
        start = after
    return _TEMPLATE_TAG.sub(r"<\1div", "".join((*kept, html[start:])))
