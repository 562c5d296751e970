"""Content that a script would unfold: in `<template>`, or in a `<script>` that contains markup.

Some manuals keep whole chapters there, and show almost nothing without scripts.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from dedup.html.bounds import Bounded
from dedup.sites.outline import Outline, count_characters, outline

_TEMPLATE_TAG = re.compile(r"<(/?)(?i:template)(?=[\s/>])")
_SCRIPT = re.compile(r"<(?i:script)[^<>]*+>")
_SCRIPT_END = re.compile(r"</(?i:script)[^>]*+>")
_TYPE = re.compile(r"""(?i)(?<![\w-])type\s*=\s*["']?\s*+[^"'\s<>]{0,80}?(?:template|text/html)""")


def has_folded_content(html: str) -> bool:
    """May the page have markup that scripts unfold? It takes linear time."""
    return _TEMPLATE_TAG.search(html) is not None or any(
        _TYPE.search(tag[0]) is not None for tag in _SCRIPT.finditer(html)
    )


def unfolded(page: Bounded) -> LexborHTMLParser:
    """The page's tree; if more text is folded than shown, the tree of the unfolded page."""
    if page.is_flat or not has_folded_content(page.html):
        return page.tree
    tree = LexborHTMLParser(_unfold(page.html), scripting=True)
    is_more = count_characters(tree.body) > 2 * count_characters(page.tree.body)
    return tree if is_more else page.tree


def page_outline(page: Bounded) -> Outline | None:
    """The outline of the unfolded page; None: it has no body, or is flat."""
    body = None if page.is_flat else unfolded(page).body
    return None if body is None else outline(body).without_inner_boxes()


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
