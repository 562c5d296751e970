"""Texts in the data that pages contain: articles in JSON-LD, and what scripts make a page of.

A page for subscribers may show only a notice, and have the whole text in JSON-LD, for search
engines.
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
_STATE = "#__NEXT_DATA__, #__NUXT_DATA__, script[type='application/json' i]"
_MAX_STATE_CHARACTERS = 200_000
_PROSE = re.compile(r"\w+\W+\w+\W+\w+\W+\w|[\u3040-\u30ff\u3400-\u9fff]{12}")
"""What is no name, URL or code: four words, or twelve characters without spaces."""

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


def state_text(page: Bounded) -> str:
    """The sentences in the data from which scripts make the page, each once, in their order.

    Which of them the page shows is not known: some are those of all pages, such as translations.
    """
    found: dict[str, None] = {}
    n_left = _MAX_STATE_CHARACTERS
    for script in page.tree.css(_STATE):
        for text in _strings(_loaded(script.text())):
            if " " not in text and text.isascii():
                continue
            plain = _plain(text) if "<" in text else text
            if _PROSE.search(plain) and "://" not in plain.split(maxsplit=1)[0]:
                found[plain.strip()] = None
                n_left -= len(plain)
            if n_left < 0:
                return "\n".join(found)
    return "\n".join(found)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth <= _MAX_DEPTH and isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each, depth + 1)


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
