"""Walks through a page's own markup and finds its atoms."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from dedup.fields.addresses import HEADINGS, is_permalink
from dedup.fields.formulas import formula_of, is_rendering
from dedup.fields.grids import grid_of
from dedup.fields.programs import program_of
from dedup.fields.segments import ends_line
from dedup.pieces.atoms import Around, Atom, AtomWriter
from dedup.pieces.words import Count
from dedup.sites.outline import input_value, outline

_BREAK_LEVEL, _SENTENCE_LEVEL = 1_000, 1_001
"""Of the end of a line and of a sentence: a paragraph is cut there only if it is too long."""

_MAX_HEADER_CHARACTERS = 2_000
"""Of markup: a longer row of names does not begin each part of a table."""

_WITH_NEXT = frozenset(["dt", "figcaption", "summary"])
"""What is behind these belongs to them."""

_SENTENCE_END = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’)\]]*+\s++(?=[^a-z])|[。！？；]+["”’」』）]*"""
)


def atoms_of(markup: str, count: Count) -> list[Atom]:
    """Return the atoms of a page's own markup in their order, in nearly linear time.

    Links are left out but for their text, and images: addresses say nothing about the words.

    Args:
        markup: see `own_markup`.
        count: the length of a text.
    """
    tree = LexborHTMLParser(f"<body>{markup}", scripting=True)
    for link in filter(is_permalink, tree.css("a")):
        link.decompose()
    tree.unwrap_tags(["a"])
    tree.strip_tags(["img"])
    walk = _Walk(AtomWriter(count))
    if tree.body is not None:
        tree.body.merge_text_nodes()
        walk.run(tree.body)
    return walk.out.finished()


class _Walk:
    def __init__(self, out: AtomWriter) -> None:
        self.out = out

    def run(self, root: Any) -> None:
        node = root.first_child
        while node is not None or self.out.around:
            if node is None:
                node = self._leave().next
            elif (text := node.text_content) is not None:
                self._add_text(text)
                node = node.next
            elif self._enter(node, node.tag or "-"):
                node = node.first_child
            else:
                node = node.next

    def _add_text(self, text: str) -> None:
        start = 0
        for found in _SENTENCE_END.finditer(text):
            self._add_sentence(text[start : found.end()])
            self.out.note_boundary(_SENTENCE_LEVEL)
            start = found.end()
        self._add_sentence(text[start:])

    def _add_sentence(self, text: str) -> None:
        if text:
            self.out.add(escape(text, quote=False), text)

    def _enter(self, node: Any, tag: str) -> bool:
        """Write an element, or its beginning: is its content to come?"""
        if tag in HEADINGS:
            if text := _text(node):
                self.out.add_heading(node.html, text, int(tag[1]))
        elif tag == "pre":
            self.out.note_boundary()
            self.out.add(node.html, program_of(node), is_program=True)
            self.out.note_boundary()
        elif (formula := formula_of(node)) is not None:
            self.out.add(node.html, f" {formula.tex} ")
        elif tag[0] in "-!" or tag == "script" or is_rendering(node):
            return False
        elif tag in ("br", "hr"):
            self.out.add("<br>")
            self.out.note_boundary(_BREAK_LEVEL if tag == "br" else None)
        elif tag == "input":
            self.out.add(node.html, f" {input_value(node)} ")
        elif tag == "table" and (grid := grid_of(node)) is not None:
            self._add_table(node, has_header=grid.has_header)
        else:
            if ends_line(tag):
                self.out.note_boundary()
            self.out.open(Around(node, tag))
            return True
        return False

    def _leave(self) -> Any:
        node, tag, *_ = self.out.close()
        if ends_line(tag):
            self.out.note_boundary()
        if tag in _WITH_NEXT:
            self.out.keep_with_next()
        return node

    def _add_table(self, table: Any, *, has_header: bool) -> None:
        """Add a table of data row by row; each part of it begins with the names of its columns."""
        self.out.note_boundary()
        rows = [row for row in table.css("tr") if row.css_first("td, th") is not None]
        header, text = (
            (f"<thead>{rows[0].html}</thead>", _text(rows[0])) if has_header else ("", "")
        )
        is_short = len(header) <= _MAX_HEADER_CHARACTERS
        self.out.open(Around(table, "table", *((header, text) if is_short else ("", ""))))
        if (caption := table.css_first("caption")) is not None:
            self.out.add(caption.html, f"{_text(caption)} ")
            self.out.keep_with_next()
        if has_header:
            self.out.add(header, f"{text} ")
            self.out.keep_with_next()
        for row in rows[has_header:]:
            self.out.note_boundary()
            self.out.add(row.html, f"{_text(row)} ")
        self._leave()


def _text(node: Any) -> str:
    return " ".join(line.text for line in outline(node, with_links=False).lines)
