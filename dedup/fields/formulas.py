"""The TeX of formulae, where a page has it beside or instead of what it shows."""

from __future__ import annotations

from typing import Any, NamedTuple

_RENDERED = frozenset(
    ["MathJax", "MathJax_CHTML", "MathJax_Display", "MathJax_Preview", "MathJax_SVG"]
)
"""What MathJax shows in front of the script that has the formula."""

_NEAR = 3
_AROUND = frozenset(["katex", "katex-display", "mwe-math-element"])
"""Elements that contain a formula more than once."""


class Formula(NamedTuple):
    """A formula; `is_display`: it stands on lines of its own."""

    tex: str
    is_display: bool


def formula_of(node: Any) -> Formula | None:
    """The formula that an element shows; None: it is none, or its TeX is not known."""
    tag, attributes = node.tag, node.attributes
    if tag == "script":
        return Formula(node.text(), "mode=display" in (attributes.get("type") or ""))
    if tag == "math":
        return _of_math(node)
    names = set((attributes.get("class") or "").split())
    if names.isdisjoint(_AROUND):
        return None
    math = node.css_first("math")
    found = None if math is None else _of_math(math)
    return found and found._replace(is_display=found.is_display or "katex-display" in names)


def is_rendering(node: Any) -> bool:
    """Does an element show a formula that a script behind it has?"""
    names = (node.attributes.get("class") or "").split()
    if _RENDERED.isdisjoint(names):
        return False
    after = node.next
    for _ in range(_NEAR):  # the formula as it is before and after scripts have run
        if after is None or after.tag not in ("-text", "span", "div"):
            break
        after = after.next
    return after is not None and after.tag == "script"


def _of_math(node: Any) -> Formula | None:
    attributes = node.attributes
    is_display = attributes.get("display") == "block"
    for annotation in node.css("annotation"):
        if "tex" in (annotation.attributes.get("encoding") or "").lower():
            return Formula(annotation.text(), is_display)
    tex = attributes.get("alttext")
    return Formula(tex, is_display) if tex else None
