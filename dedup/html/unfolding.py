"""Content that a script would unfold: in `<template>`, or in a `<script>` that contains markup.

Some manuals keep whole chapters there, and show almost nothing without scripts.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from dedup.html.bounds import Bounded
from dedup.sites.outline import Outline, outline

_TEMPLATE_TAG = re.compile(r"<(/?)(?i:template)(?=[\s/>])")
_SCRIPT = re.compile(r"<(?i:script)[^<>]*+>")
_FOLDING = re.compile(rf"{_TEMPLATE_TAG.pattern}|{_SCRIPT.pattern}")
_SCRIPT_END = re.compile(r"</(?i:script)[^>]*+>")
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


def page_outline(page: Bounded) -> Outline | None:
    """The outline of the page, unfolded if more text is folded than shown.

    None: it has no body, or is flat.
    """
    found = None if page.is_flat else _unfolded(page)[1]
    return None if found is None else found.without_inner_boxes()


def _unfolded(page: Bounded) -> tuple[LexborHTMLParser, Outline | None]:
    shown = _outline_of(page.tree)
    if has_folded_content(page.html):
        tree = LexborHTMLParser(_unfold(page.html), scripting=True)
        found = _outline_of(tree)
        if _n_characters(found) > 2 * _n_characters(shown):
            return tree, found
    return page.tree, shown


def _outline_of(tree: LexborHTMLParser) -> Outline | None:
    return None if tree.body is None else outline(tree.body)


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
