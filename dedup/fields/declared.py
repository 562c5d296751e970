"""What a page declares about itself, and what of it a reader can see.

From meta elements, JSON-LD, microdata, `<time>` and `rel=author`, and the lines around the heading,
against which declarations are checked. It is plain data: kept in place of a body, it gives the same
fields. Comments, and lists of other pages, are left out where the page marks them as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from dedup.fields.json_ld import names_in, nodes_of
from dedup.fields.names import cut, name_parts
from dedup.html.bounds import Bounded
from dedup.html.page import Resolver
from dedup.html.unfolding import page_outline
from dedup.sites.outline import Line, Outline

_MAX_VALUES = 200
"""Of each kind. Pages have some dozens; hostile ones could have millions."""

_MAX_NAME_CHARACTERS = 1_000
_LINES_BEFORE = 4
_LINES_BEHIND = 14
_LINE_CHARACTERS = 160
_HEADINGS_LOOKED_AT = 40
_LINES_LOOKED_AT = 400
_LEAST_HEADING_CHARACTERS = 6
_TITLE_PARTS = re.compile(r"\s+[-–—|·]\s+|[_|]|\s[»«]\s|--?(?=[\u3400-\u9fff])")
_MAX_LINKED = 3

_PROPERTIES = (
    "[itemprop~=datepublished i], [itemprop~=datecreated i], [itemprop~=datemodified i],"
    " [itemprop~=author i]"
)
_OTHERS = re.compile(
    r"comment|respond|repl(?:y|ies)|related|sidebar|widget|recommend|recent|teaser|promo|footer"
    r"|carousel|popular|trending|latest|breaking|ticker|listing|more-?(?:news|stories|posts)",
    re.IGNORECASE,
)
"""In the class or id of an element: it is about other texts than the page's own."""

_OTHER_TAGS = frozenset(["aside", "footer", "nav"])
_STEPS_UP = 12


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page declares about itself.

    Attributes:
        base_url: what links are relative to.
        language: of the root element; "": none.
        title: of the document.
        meta: names in lower case, of `name`, `property` or `itemprop`, and contents, in order.
        icons: the values of `link rel=image_src`.
        nodes: objects of JSON-LD that describe the page or what is on it, long texts cut.
        properties: names in lower case and values of microdata about dates and authors.
        times: of each `<time>` that is not in a comment or beside the text: its classes and other
            hints in lower case, and its value.
        authors: texts of links with `rel=author`.
        heading: the line of the heading; "": there is none.
        lines: around the heading, if they are short.
        shown: which of the declared authors stand on the page, in lower case.
    """

    base_url: str = ""
    language: str = ""
    title: str = ""
    meta: Sequence[tuple[str, str]] = ()
    icons: Sequence[str] = ()
    nodes: Sequence[Mapping[str, Any]] = ()
    properties: Sequence[tuple[str, str]] = ()
    times: Sequence[tuple[str, str]] = ()
    authors: Sequence[str] = ()
    heading: str = ""
    lines: Sequence[str] = ()
    shown: Sequence[str] = field(default=())

    def first(self, *names: str) -> str:
        """The first content of the meta elements with the first of these names that has one."""
        return next(iter(self.every(*names)), "")

    def every(self, *names: str) -> Iterator[str]:
        """The contents of the meta elements with these names, name by name."""
        for name in names:
            yield from (content for each, content in self.meta if each == name)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Declared:
        """The value that `to_json` gave; what is missing is empty."""
        return cls(**{each.name: value[each.name] for each in fields(cls) if each.name in value})


def read_declared(page: Bounded, url: str, *, encoding: str = "utf-8") -> Declared:
    """Read what a page from `url` declares about itself."""
    tree = page.tree
    base = tree.css_first("base[href]")
    resolve = Resolver(url, encoding)
    base_url = (resolve(base.attributes["href"] or "") if base is not None else None) or url
    root, title = tree.css_first("html"), tree.css_first("title:not(svg title)")
    nodes = list(nodes_of(tree))
    properties = list(_properties(tree))
    meta = list(_meta(tree))
    authors = list(_linked_authors(tree))
    outline = page_outline(page)
    shown_title = cut(title.text()) if title is not None else ""
    heading, lines = _heading_lines(outline, shown_title)
    named = {*authors, *(value for name, value in properties if name == "author")}
    named |= {content for name, content in meta if "author" in name or "creator" in name}
    named |= set(names_in(nodes))
    return Declared(
        base_url=base_url,
        language=(root.attributes.get("lang") or "" if root is not None else "").strip(),
        title=shown_title,
        meta=meta,
        icons=[cut(each.attributes["href"]) for each in tree.css("link[rel=image_src][href]")][:1],
        nodes=nodes,
        properties=properties,
        times=list(_times(tree)),
        authors=authors,
        heading=heading,
        lines=lines,
        shown=sorted(_shown(named, outline)),
    )


def _meta(tree: Any) -> Iterator[tuple[str, str]]:
    for node in tree.css("meta[content]")[:_MAX_VALUES]:
        attributes = node.attributes
        content = cut(attributes["content"])
        names = {attributes.get(each) for each in ("property", "name", "itemprop")} - {None, ""}
        if not content or ("itemprop" in attributes and _is_of_another(node)):
            continue
        for name in sorted(str(each).strip().lower() for each in names):
            yield name, content


def _properties(tree: Any) -> Iterator[tuple[str, str]]:
    for node in tree.css(_PROPERTIES)[:_MAX_VALUES]:
        if node.tag == "meta" or _is_of_another(node):
            continue
        attributes = node.attributes
        name = (attributes["itemprop"] or "").lower()
        inner = node.css_first("[itemprop~=name i]") if "author" in name else None
        value = attributes.get("content") or attributes.get("datetime")
        if inner is not None:
            value = inner.attributes.get("content") or inner.text(separator=" ")
        for each in name.split():
            yield each, cut(value or node.text(separator=" "))


def _times(tree: Any) -> Iterator[tuple[str, str]]:
    for node in tree.css("time")[:_MAX_VALUES]:
        if _is_of_another(node):
            continue
        attributes = node.attributes
        hints = [attributes.get("class"), attributes.get("itemprop"), attributes.get("id")]
        hints.append("pubdate" if "pubdate" in attributes else None)
        value = attributes.get("datetime") or node.text(separator=" ")
        yield " ".join(filter(None, hints)).lower(), cut(value)


def _linked_authors(tree: Any) -> list[str]:
    """The texts of links to authors; those of more than three are other texts' authors."""
    found: dict[str, None] = {}
    for node in tree.css("body [rel~=author]")[:_MAX_VALUES]:
        name = cut(node.text(separator=" "))
        if name and not _is_of_another(node):
            found[name] = None
    return list(found) if len(found) <= _MAX_LINKED else []


def _is_of_another(node: Any) -> bool:
    """Does an element belong to a comment, to another page's teaser, or to a menu?"""
    for _ in range(_STEPS_UP):
        node = node.parent
        if node is None or node.tag in ("body", "html", "-undef"):
            return False
        if node.tag in _OTHER_TAGS:
            return True
        attributes = node.attributes
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        if len(names) <= _MAX_NAME_CHARACTERS and _OTHERS.search(names):
            return True
        kind = f"{attributes.get('itemtype') or ''} {attributes.get('itemprop') or ''}"
        if "omment" in kind:
            return True
    return False


def _heading_lines(outline: Outline | None, title: str) -> tuple[str, list[str]]:
    """The page's heading, and the short lines around it.

    It is the longest heading that is a part of the title, or another such line, or else the first
    heading of the highest level. The site's name is mostly the shorter part.
    """
    lines = outline.lines if outline is not None else []
    parts = {part.strip().lower() for part in (title, *_TITLE_PARTS.split(title))}
    parts = {part for part in parts if len(part) >= _LEAST_HEADING_CHARACTERS}
    headings = [at for at, line in enumerate(lines) if line.block in ("h1", "h2", "h3")]
    headings = headings[:_HEADINGS_LOOKED_AT]
    named = [at for at in headings if lines[at].text.lower() in parts] or [
        at
        for at, line in enumerate(lines[:_LINES_LOOKED_AT])
        if line.text.lower() in parts and line.plain
    ]
    chosen = named or sorted(headings, key=lambda at: (lines[at].block, at))
    if not chosen:
        return "", [line.text for line in lines[:_LINES_BEHIND] if _is_short(line)]
    at = max(chosen, key=lambda at: len(lines[at].text)) if named else chosen[0]
    around = lines[max(0, at - _LINES_BEFORE) : at + _LINES_BEHIND]
    return cut(lines[at].text), [line.text for line in around if _is_short(line)]


def _is_short(line: Line) -> bool:
    return len(line.text) <= _LINE_CHARACTERS and line.block != "pre"


def _shown(names: Iterable[str], outline: Outline | None) -> set[str]:
    """Which names stand on the page."""
    if outline is None:
        return set()
    text = " ".join(" ".join(line.text for line in outline.lines).lower().split())
    wanted = {part for name in names for part in name_parts(name)}
    return {name for each in wanted if (name := each.lower()) in text}
