"""Programs in a page's markup: their text without line numbers, and their language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dedup.fields.segments import ends_line

_AROUND = 7
"""Languages are declared on one of this number of elements: from the program outwards."""

_PREFIXED = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|src-)([A-Za-z][\w+#.-]*)"
)
_BEHIND = re.compile(r"(?:^|\s)(?:highlight|hljs|sourceCode)\s+([A-Za-z][\w+#.]*)(?=\s|$)")
"""Classes that have the name of the language in them, and those that it stands behind."""

_NO_LANGUAGE = frozenset(
    """
    code default hljs highlight highlighter none notranslate nohighlight plain plaintext table text
    txt undefined wrap
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_NUMBERS = re.compile(
    r"(?i)(?:^|[\s_-])(?:line-?no|line-?nos|line-?num(?:ber)?s?|linenos?|gutter|lnt?)(?:$|[\s_-])"
)


def language_of(pre: Any) -> str:
    """The language that a program's element, or one around it, declares; "" if none does."""
    inner = pre.css_first("code")
    around = [inner] if inner is not None else []
    node = pre
    while (
        node is not None and len(around) < _AROUND and node.tag not in ("body", "article", "main")
    ):
        around.append(node)
        node = node.parent
    return next(filter(None, map(_declared, around)), "")


def _declared(node: Any) -> str:
    attributes = node.attributes
    for name in ("data-lang", "data-language"):
        if found := _cleaned(attributes.get(name) or ""):
            return found
    classes = attributes.get("class") or ""
    for pattern in (_PREFIXED, _BEHIND):
        if found := next(filter(None, map(_cleaned, pattern.findall(classes))), ""):
            return found
    return ""


def _cleaned(name: str) -> str:
    name = name.strip().lower().removeprefix("language-")
    return "" if name in _NO_LANGUAGE or re.search(r"[\s`]", name) else name


def program_of(pre: Any) -> str:
    """The text of a program as a browser shows it, without line numbers and a last line end."""
    return "".join(_pieces(pre)).rstrip("\n")


def _pieces(pre: Any) -> Iterator[str]:
    """Texts, and ends of lines where elements end them, at any depth."""
    last = "\n"
    waiting: list[tuple[Any, bool]] = []
    node = pre.first_child
    while node is not None or waiting:
        if node is None:
            node, is_block = waiting.pop()
            if is_block and not last.endswith("\n"):
                yield (last := "\n")
            continue
        if (text := node.text_content) is not None:
            if text:
                yield (last := text)
        elif node.tag == "br":
            yield (last := "\n")
        elif not _is_number(node):
            is_block = ends_line(node.tag or "-")
            if is_block and not last.endswith("\n"):
                yield (last := "\n")
            waiting.append((node.next, is_block))
            node = node.first_child
            continue
        node = node.next


def _is_number(node: Any) -> bool:
    attributes = node.attributes
    is_named = "data-line-number" in attributes or _NUMBERS.search(attributes.get("class") or "")
    return bool(is_named) and not re.search(r"[^\d\s]", node.text())
