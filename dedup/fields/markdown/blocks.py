"""Walks through a page's markup and writes its blocks as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from dedup.fields.addresses import HEADINGS, Addresses, heading_around, is_permalink
from dedup.fields.formulas import formula_of, is_rendering
from dedup.fields.grids import Grid, grid_of
from dedup.fields.markdown.escaping import destination, escaped
from dedup.fields.markdown.footnotes import Footnotes
from dedup.fields.markdown.inline import LINK, Inline
from dedup.fields.markdown.lists import Lists
from dedup.fields.markdown.writer import Cell, Sink, Writer
from dedup.fields.programs import language_of, program_of
from dedup.fields.segments import ends_line
from dedup.sites.outline import input_value

_EMPHASIS = {
    **dict.fromkeys(["b", "strong"], "**"),
    **dict.fromkeys(["dfn", "em", "i"], "*"),
    **dict.fromkeys(["del", "s", "strike"], "~~"),
}
_BOLD_BLOCKS = frozenset(["dt", "summary"])
_CODE = frozenset(["code", "kbd", "samp", "tt"])
_LISTS = frozenset(["dir", "menu", "ol", "ul"])
_TAGGED = frozenset(["sub", "sup"])
"""Markdown has no marks for these, and allows their tags."""

_Leave = Callable[[], None]


def to_markdown(markup: str, base_url: str, *, encoding: str = "utf-8") -> str:
    r"""Return markup as Markdown, in linear time.

    Headings keep their level, lists their depth, programs their lines and language; tables are
    GitHub's, formulae TeX between dollar signs, links and images absolute. Line numbers, and links
    of headings to themselves, are left out. A renderer shows each word of the markup.

    Args:
        markup: see `own_markup`.
        base_url: what links are relative to, see `HtmlPage.base_url`.
        encoding: of the page's bytes, for the queries of links.

    >>> to_markdown("<h2>A</h2><ul><li>1 * 2<li><a href=b>c</a></ul>", "http://example.com/")
    '## A\n\n- 1 \\* 2\n- [c](http://example.com/b)'
    """
    body = LexborHTMLParser(f"<body>{markup}", scripting=True).body
    if body is None:
        return ""
    writer = Writer()
    _Converter(writer, Addresses(base_url, encoding), Footnotes(body)).run(body)
    return writer.text()


class _Converter:
    """Converts an element, without recursion but for the cells of tables."""

    def __init__(self, out: Sink, addresses: Addresses, footnotes: Footnotes) -> None:
        self._out = out
        self._addresses, self._footnotes = addresses, footnotes
        self._inline = Inline()
        self._lists = Lists(out)
        self._code_depth = self._heading_depth = 0

    def run(self, root: Any) -> None:
        around: list[tuple[Any, _Leave]] = []
        node = root.first_child
        while node is not None or around:
            if node is None:
                node, leave = around.pop()
                leave()
                continue
            if (text := node.text_content) is not None:
                self._add_text(text)
            elif (leave_it := self._enter(node, node.tag or "-")) is not None:
                around.append((node.next, leave_it))
                node = node.first_child
                continue
            node = node.next
        self._flush()

    def _add_text(self, text: str) -> None:
        if self._code_depth:
            self._inline.add_code(text)
        else:
            self._inline.add_text(text)

    def _flush(self) -> None:
        """Write the paragraph so far."""
        if self._heading_depth:
            self._inline.add_space()
        elif text := self._inline.take(in_cell=self._out.is_cell):
            self._out.paragraph(text)

    def _enter(self, node: Any, tag: str) -> _Leave | None:
        """Write an element, or what is before its content; None: there is nothing more in it."""
        if tag in _VOID:
            _VOID[tag](self, node)
            return None
        if (formula := formula_of(node)) is not None:
            self._inline.add_formula(formula.tex, is_display=formula.is_display)
            return None
        if tag[0] in "-!" or tag == "script" or is_rendering(node):
            return None
        if tag in _ENTER:
            return _ENTER[tag](self, node)
        if tag in _EMPHASIS:
            return self._emphasis(_EMPHASIS[tag])
        if ends_line(tag):
            return self._block(node)
        return _nothing

    def _block(self, node: Any) -> _Leave:
        self._flush()
        if (label := self._footnotes.label_of(node)) is None:
            return self._flush
        self._out.begin(f"[^{label}]: ", width=4)
        return self._end_container

    def _end_container(self) -> None:
        self._flush()
        self._out.end()

    def _emphasis(self, mark: str) -> _Leave:
        is_heading = self._heading_depth and mark == "**"
        if self._code_depth or is_heading or self._inline.is_in(mark):
            return _nothing
        self._inline.begin(mark)
        return self._inline.end

    def _bold_block(self, _: Any) -> _Leave:
        self._flush()
        if self._inline.is_in("**"):
            return self._flush
        self._inline.begin("**")
        return self._end_bold_block

    def _end_bold_block(self) -> None:
        self._inline.end()
        self._flush()

    def _heading(self, node: Any) -> _Leave:
        self._flush()
        if self._out.is_cell:
            return self._flush
        self._heading_depth += 1
        level = int(node.tag[1])
        return lambda: self._end_heading(level)

    def _end_heading(self, level: int) -> None:
        self._heading_depth -= 1
        if not self._heading_depth and (text := self._inline.take(is_one_line=True)):
            text = re.sub(r"(^|\s)(#+)$", r"\1\\\2", text)
            self._out.lines([f"{'#' * level} {text}"])

    def _code(self, _: Any) -> _Leave:
        self._code_depth += 1
        return self._end_code

    def _end_code(self) -> None:
        self._code_depth -= 1

    def _link(self, node: Any) -> _Leave | None:
        if (label := self._footnotes.reference(node)) is not None:
            self._inline.add_raw(f"[^{label}]")
            return None
        if is_permalink(node) or self._footnotes.is_way_back(node):
            return None
        url = self._addresses.of_link(node)
        is_own = (node.attributes.get("href") or "").startswith("#")
        if not url or self._inline.is_in(LINK) or (is_own and heading_around(node) is not None):
            return _nothing
        self._inline.begin(LINK, url)
        return self._inline.end

    def _tagged(self, node: Any) -> _Leave | None:
        if self._footnotes.is_label(node):
            return None
        if self._code_depth or self._footnotes.is_around_reference(node):
            return _nothing
        tag = node.tag
        self._inline.add_raw(f"<{tag}>")
        return lambda: self._inline.add_raw(f"</{tag}>")

    def _quotation(self, _: Any) -> _Leave:
        self._flush()
        self._out.begin("> ")
        return self._end_container

    def _list(self, node: Any) -> _Leave:
        self._flush()
        self._lists.begin(node)
        return self._end_list

    def _end_list(self) -> None:
        self._flush()
        self._lists.end()

    def _item(self, node: Any) -> _Leave:
        self._flush()
        if (label := self._footnotes.label_of(node)) is not None:
            self._out.begin(f"[^{label}]: ", width=4)
            return self._end_container
        self._lists.begin_item(node)
        return self._end_item

    def _end_item(self) -> None:
        self._flush()
        self._lists.end_item()

    def _program(self, node: Any) -> None:
        self._flush()
        text = program_of(node)
        if text.strip():
            self._out.program(text, language_of(node))

    def _image(self, node: Any) -> None:
        if url := self._addresses.of_image(node):
            alt = escaped(" ".join((node.attributes.get("alt") or "").split()), in_link=True)
            self._inline.add_raw(f"![{alt}]({destination(url)})")

    def _break(self, _: Any) -> None:
        if self._heading_depth:
            self._inline.add_space()
        elif self._inline.ends_with_break:
            self._flush()
        else:
            self._inline.add_break()

    def _rule(self, _: Any) -> None:
        self._flush()
        self._out.lines(["---"])

    def _input(self, node: Any) -> None:
        attributes = node.attributes
        if attributes.get("type") == "checkbox":
            self._inline.add_raw("[x]" if "checked" in attributes else "[ ]")
            self._inline.add_space()
        elif value := input_value(node):
            self._inline.add_text(f" {value} ")

    def _table(self, node: Any) -> _Leave | None:
        self._flush()
        grid = None if self._out.is_cell else grid_of(node)
        if grid is None:
            return self._flush
        caption = node.css_first("caption")
        if caption is not None:
            self._out.paragraph(self._cell(caption))
        self._out.lines(self._rows(grid))
        return None

    def _rows(self, grid: Grid) -> list[str]:
        rows = [[self._cell(cell) for cell in row] for row in grid.rows]
        if not grid.has_header:
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        return [f"| {' | '.join(row)} |" for row in rows]

    def _cell(self, cell: Any) -> str:
        if cell is None:
            return ""
        out = Cell()
        _Converter(out, self._addresses, self._footnotes).run(cell)
        return out.text()


def _nothing() -> None:
    """Nothing is to be written behind an element."""


_VOID: dict[str, Callable[[_Converter, Any], None]] = {
    "br": _Converter._break,
    "hr": _Converter._rule,
    "img": _Converter._image,
    "input": _Converter._input,
    "pre": _Converter._program,
}
_ENTER: dict[str, Callable[[_Converter, Any], _Leave | None]] = {
    **dict.fromkeys(HEADINGS, _Converter._heading),
    **dict.fromkeys(_LISTS, _Converter._list),
    **dict.fromkeys(_CODE, _Converter._code),
    **dict.fromkeys(_TAGGED, _Converter._tagged),
    **dict.fromkeys(_BOLD_BLOCKS, _Converter._bold_block),
    "a": _Converter._link,
    "blockquote": _Converter._quotation,
    "li": _Converter._item,
    "table": _Converter._table,
}
