"""The template of a page: a sketch of the set of steps from element to element in its raw HTML."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode
from xxhash import xxh3_64_intdigest

from dedup.html.bounds import Bounded
from dedup.rendering.sketch import RawTemplate, sketch_of

_MAX_DEPTH = 8
_MAX_ELEMENTS = 2_000
_MAX_NAMES = 8
_MAX_NAME_CHARACTERS = 40
_CHANGING = re.compile(r"[0-9]+|--?[A-Za-z0-9_]*[0-9][A-Za-z0-9_]*")
"""Numbers, and what builds put after a name, such as `-1x2f`."""

_RUNS = "script, iframe, frame, object, embed"
_HANDLERS = re.compile(r"<[^>]+\son(?:load|error|click|toggle|animation\w+|focus\w*)\s*=", re.I)


def template_of(page: Bounded) -> RawTemplate:
    """The template of a page.

    A step is an element and a child of it, each by its tag, its id and its classes without numbers;
    of `<html>` and `<body>` the tag alone, as many pages have classes of their own there. Steps to
    a depth of 8 count, and the first 2,000 elements. Linear in these.
    """
    tree = page.tree
    may_change = tree.css_first(_RUNS) is not None or _HANDLERS.search(page.html) is not None
    steps = set() if tree.root is None or page.is_flat else _steps(tree.root)
    hashes = (xxh3_64_intdigest(each.encode("utf-8", "replace")) for each in steps)
    return RawTemplate(sketch_of(hashes), may_change)


def _steps(root: LexborNode) -> set[str]:
    found: set[str] = set()
    level = [(root, "html")]
    n_elements = 0
    for _ in range(_MAX_DEPTH):
        below = []
        for parent, name in level:
            for child in parent.iter():
                n_elements += 1
                if n_elements > _MAX_ELEMENTS:
                    return found
                child_name = _name(child)
                found.add(f"{name}>{child_name}")
                below.append((child, child_name))
        level = below
    return found


def _name(element: LexborNode) -> str:
    tag = str(element.tag)
    if tag == "body":
        return tag
    given = element.attributes
    names = [f"#{given['id']}"] if given.get("id") else []
    names += (given.get("class") or "").split()[:_MAX_NAMES]
    cut = sorted({_CHANGING.sub("", each[:_MAX_NAME_CHARACTERS]) for each in names})
    return " ".join((tag, *cut))
