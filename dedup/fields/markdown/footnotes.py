"""Footnotes: which elements are, and which links lead to them and back."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

_NOTES = (
    ".footnotes li[id], .footnote-list li[id], [role=doc-endnotes] li[id], [data-footnotes] li[id],"
    " ol.references > li[id], .footnote-definition[id]"
)
_LABEL_CLASS = "footnote-definition-label"
_WAY_BACK = re.compile(r"(?i)back-?(?:ref|link)|reverse-?footnote|footnote-?back")
_LABEL = re.compile(r"[\w*†‡-]{1,12}")


class Footnotes:
    """The footnotes of a page's markup that are referred to."""

    def __init__(self, body: Any) -> None:
        notes = {node.attributes["id"]: node for node in body.css(_NOTES)}
        self._labels: dict[int, str] = {}
        self._references: dict[int, str] = {}
        self._around: set[int] = set()
        if not notes:
            return
        inside = {link.mem_id for note in notes.values() for link in note.css("a")}
        for link in body.css('a[href^="#"]'):
            note = notes.get(unquote((link.attributes["href"] or "")[1:]))
            if note is not None and link.mem_id not in inside:
                self._add(link, note)

    def _add(self, link: Any, note: Any) -> None:
        text = "".join(link.text().split()).strip("[]()")
        found = _LABEL.fullmatch(text)
        if found is None:
            return
        label = self._labels.setdefault(note.mem_id, text)
        self._references[link.mem_id] = label
        if link.parent is not None and link.parent.tag == "sup":
            self._around.add(link.parent.mem_id)

    def label_of(self, node: Any) -> str | None:
        """The label of a footnote; None: the element is none, or nothing refers to it."""
        return self._labels.get(node.mem_id) if self._labels else None

    def reference(self, link: Any) -> str | None:
        """The label of the footnote that a link refers to."""
        return self._references.get(link.mem_id) if self._references else None

    def is_around_reference(self, node: Any) -> bool:
        return node.mem_id in self._around

    def is_label(self, node: Any) -> bool:
        """Does an element show a footnote's label in front of its text?"""
        return bool(self._labels) and node.attributes.get("class") == _LABEL_CLASS

    def is_way_back(self, link: Any) -> bool:
        """Does a link lead from a footnote back to the text?"""
        attributes = link.attributes
        if not self._labels or not (attributes.get("href") or "").startswith("#"):
            return False
        names = f"{attributes.get('class') or ''} {attributes.get('role') or ''}"
        return _WAY_BACK.search(names) is not None or not re.search(r"\w", link.text())
