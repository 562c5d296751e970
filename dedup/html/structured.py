"""The text of an article in JSON-LD, which pages contain for search engines.

A page for subscribers may show only a notice, and have the whole text there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from dedup.html.bounds import Bounded, bounded

_BODY = "articleBody"
_SCRIPTS = 'script[type="application/ld+json" i]'
_NOT_WORD = re.compile(r"\W+")
_LEAST_CHARACTERS = 500
_MAX_DEPTH = 10
_SNIPPETS = 20
_SNIPPET_CHARACTERS = 30
_SHARE = 0.5


def hidden_article(page: Bounded, text: str) -> str:
    """Return the article's text from JSON-LD if most of it is missing in `text`; else "".

    Source: https://schema.org/articleBody.
    """
    if _BODY not in page.html:
        return ""
    bodies = (
        body for script in page.tree.css(_SCRIPTS) for body in _bodies(_loaded(script.text()))
    )
    body = max(bodies, key=len, default="")
    if "<" in body:
        body = _plain(body)
    if len(body) < _LEAST_CHARACTERS or _is_mostly_in(body, text):
        return ""
    return body


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _bodies(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        if isinstance(body := value.get(_BODY), str):
            yield body
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _bodies(each, depth + 1)


def _plain(markup: str) -> str:
    body = LexborHTMLParser(bounded(markup).html).body
    return "" if body is None else body.text(separator=" ")


def _is_mostly_in(body: str, text: str) -> bool:
    """Are most of some pieces of `body` in `text`? Only letters and digits count."""
    letters, others = _NOT_WORD.sub("", body).lower(), _NOT_WORD.sub("", text).lower()
    step = max(1, (len(letters) - _SNIPPET_CHARACTERS) // (_SNIPPETS - 1))
    starts = range(0, max(1, len(letters) - _SNIPPET_CHARACTERS + 1), step)
    found = sum(letters[start : start + _SNIPPET_CHARACTERS] in others for start in starts)
    return found >= _SHARE * len(starts)
