"""The markup of a page's main part, including what is hidden until somebody clicks.

Rules for main text leave out everything hidden, and every `<aside>`. In a declared main part these
are tabs, notes, or the article itself behind a notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

_HIDDEN = (
    '[hidden], [aria-hidden="true" i], [style*="none" i], [style*="hidden" i], [class*="hid" i]'
)
_TAB = re.compile(r"(?i)(?:^|[\s_-])tab(?:s|-?(?:pane|panel|content|item))?(?:$|[\s_-])")
_ASIDE = re.compile(r"<(/?)(?i:aside)(?=[\s/>])")
_LARGE_SHARE = 0.5
_LOOKS = 4
_LOOK_CHARACTERS = 100
"""Hidden elements may be nested, so reading their texts is limited to `_LOOKS` times the length of
the whole text; each element also counts as `_LOOK_CHARACTERS`."""


def shown(element: LexborNode) -> str:
    """Return the element's markup, in which main parts are no longer hidden.

    These are the element itself, tabs, and elements with half of its text. `<aside>` is kept, too,
    unless it is mostly links. The tree is not changed.
    """
    copy = element.clone()
    _show(copy)
    length = len(copy.text())
    room = _LOOKS * length
    for node in copy.css(f"{_HIDDEN}, [role=tabpanel]"):
        if is_tab(node):
            _show(node)
        elif room > 0:
            size = len(node.text())
            room -= size + _LOOK_CHARACTERS
            if size >= _LARGE_SHARE * length:
                _show(node)
    room = _LOOKS * length
    for node in copy.css("aside"):
        if room <= 0:
            break
        room -= len(node.text()) + _LOOK_CHARACTERS
        if is_mostly_links(node):
            node.decompose()
    return _ASIDE.sub(r"<\1div", copy.html or "")


def around(element: LexborNode | None) -> Iterator[LexborNode]:
    """The element and those around it, up to the body, which is not one of them."""
    while element is not None and element.tag not in ("body", "html"):
        yield element
        element = element.parent


def is_tab(element: LexborNode) -> bool:
    attributes = element.attributes
    if attributes.get("role") == "tabpanel":
        return True
    return _TAB.search(attributes.get("class") or "") is not None


def is_mostly_links(element: LexborNode) -> bool:
    """Is at least half of the text in links? True if there is no text."""
    length = len("".join(element.text().split()))
    in_links = sum(len("".join(link.text().split())) for link in element.css("a"))
    return 2 * in_links >= length


def _show(element: LexborNode) -> None:
    """Remove what hides an element; rules for main text use the other names and attributes."""
    for name, value in element.attributes.items():
        words = (value or "").lower()
        if (
            name in ("hidden", "aria-hidden")
            or (name in ("class", "style") and "hid" in words)
            or (name == "style" and "none" in words)
        ):
            del element.attrs[name]
