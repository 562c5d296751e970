"""Is a page an empty shell, into which scripts put the text?

All pages of an application that scripts make may have the same bytes: these prove nothing.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from dedup.document import Document
from dedup.html.bounds import Bounded

_FEW_SHINGLES = 50
_MANY_CHARACTERS = 1_000
"""A longer text has more shingles, and is not hashed to count them."""

_NOTICE_CHARACTERS = 60

_SCRIPTS = "script[src], script[type=module i], link[rel=modulepreload i], link[as=script i]"
"""What can make a page: scripts in files of their own, or modules."""

_MOUNTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, #react-root, #app-root,"
    " [data-reactroot], [ng-app], app-root, main, [role=main]"
)
"""What frameworks fill by convention, and what a page declares to be its main part."""

_PARTS = "form, input, textarea, select, table, li, article, iframe, frame, video, audio, object"
_CONTENT = f"a[href], embed, {_PARTS}"
"""What a page may have instead of text. Images are in logos, too."""

_NO_MENU = "h2, pre, blockquote, td, dd, article, p + p"
"""What a page with a text of its own has, and a menu has not."""

_UNSHOWN = frozenset(["script", "style", "noscript", "template"])
_FURNITURE = _UNSHOWN | {"nav", "header", "footer", "aside"}

_LOADING = re.compile(
    r"""(?ix) \b(?:loading|please\ wait|lädt|laden|chargement|cargando|carregando|caricamento
        |загрузка|wczytywanie)\b | 加载中|正在加载|載入中|正在載入|読み込み中|로딩|불러오는"""
)
_SCRIPTING = re.compile(r"(?i)java\s?script")
_ASKS = re.compile(
    r"""(?ix) \b(?:enabl|disabl|activ|aktiv|ativ|attiv|habilit|turn|requir|need|without
        |включ|włącz) | 启用|啟用|开启|開啟|打开|有効|활성"""
)


def needs_rendering(page: Bounded, text: str) -> bool:
    """Is the page a shell, which shows its text only in a browser?

    It has scripts in files or modules, fewer than 50 shingles of text, and one of:

    - neither text nor links, forms, lists, tables or frames; a notice such as "Loading…", or that
      asks for JavaScript, is no text;
    - a `<noscript>` that mentions JavaScript, and no such parts;
    - an empty mount point (`#root`, `#app`, `<app-root>` and their like) or main part; then text
      in `<nav>`, `<header>`, `<footer>` and `<aside>` does not count, nor does that of links, as
      menus may be in any box.

    `<noscript>` and `<template>` are no text, but what `text` has of them is.

    Args:
        page: of bounded depth; a flat one is no shell.
        text: the page's main text.
    """
    tree = page.tree
    body = tree.body
    if body is None or page.is_flat:
        return False
    # What is cheap and true of most pages comes first.
    if len(text) > _MANY_CHARACTERS or not _is_short(_text(body, _FURNITURE)):
        if body.css_first(_NO_MENU) is not None or tree.css_first(_SCRIPTS) is None:
            return False
        is_shell = _has_empty_mount(page) and _is_short(_text(body, _FURNITURE | {"a"}))
        return is_shell and not _has_data(page)
    if tree.css_first(_SCRIPTS) is None:
        return False
    if _is_short(text):
        return _is_bare(page, body) or _has_empty_mount(page)
    return not _has_data(page) and _has_empty_mount(page)


def _has_data(page: Bounded) -> bool:
    """Is the page's text in data that is read?"""
    return "articleBody" in page.html or page.tree.css_first("template") is not None


def _is_bare(page: Bounded, body: LexborNode) -> bool:
    """Has the page nothing but boxes and notices?"""
    text = _text(body, _UNSHOWN)
    if not _is_short(text):
        return False
    if _asks(text):  # perhaps with a link to an explanation
        return body.css_first(_PARTS) is None
    if text and not _is_loading(text):
        notices = (node.text() for node in page.tree.css("noscript"))
        if not any(map(_SCRIPTING.search, notices)):
            return False
    return body.css_first(_CONTENT) is None


def _has_empty_mount(page: Bounded) -> bool:
    return any(map(_is_empty, page.tree.css(_MOUNTS)))


def _is_empty(mount: LexborNode) -> bool:
    if mount.css_first(_CONTENT) is not None:
        return False
    text = _text(mount, _UNSHOWN)
    return not text or _is_loading(text) or (_is_short(text) and _asks(text))


def _is_loading(text: str) -> bool:
    return len(text) <= _NOTICE_CHARACTERS and _LOADING.search(text) is not None


def _asks(text: str) -> bool:
    return _SCRIPTING.search(text) is not None and _ASKS.search(text) is not None


def _is_short(text: str) -> bool:
    if len(text) > _MANY_CHARACTERS or len(set(text.split())) > 2 * _FEW_SHINGLES:
        return False
    return len(Document(id="", text=text).shingles) < _FEW_SHINGLES


def _text(element: LexborNode, left_out: frozenset[str]) -> str:
    """The text of an element without that in some tags; of a long one the beginning."""
    found: list[str] = []
    n_characters = 0
    nodes = [element]
    while nodes and n_characters <= _MANY_CHARACTERS:
        node = nodes.pop()
        if node.tag == "-text":
            words = node.text_content.split() if node.text_content else []
            found.extend(words)
            n_characters += sum(map(len, words)) + len(words)
        elif node.tag not in left_out:
            nodes.extend(reversed(list(node.iter(include_text=True))))
    return " ".join(found)
