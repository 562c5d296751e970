"""Which columns of a row hold its text, its name and what else counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

from dedup.keys import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The names of the columns that count, and how the files are read that have them.

    A name that no column has may be a path to a nested field, its steps joined by dots.

    Attributes:
        text, html: the text, or the markup from which it is extracted where there is no text.
        id: names the row; where it has none its URL does, or else its number.
        url: where it came from.
        title: of the document.
        compare: columns that count beside the text.
        others: columns that options name.
        required: those of all these that the user has named: one that no row has is a mistake.
        delimiter: between the cells of CSV and TSV; None: a comma or a tab, by the file's ending.
        encoding: of text files, and of the binary columns that hold texts; None: files are UTF-8,
            and binary columns hold no texts.
        own: those of text, markup, URL, title and id.
        are_plain: can these be taken from a row without a further look?
        have_more: does anything else of a row count?
    """

    text: str = "text"
    html: str = "html"
    id: str = "id"
    url: str = "url"
    title: str = "title"
    compare: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    required: frozenset[str] = field(default_factory=frozenset)
    delimiter: str | None = None
    encoding: str | None = None
    own: tuple[str, ...] = field(init=False, repr=False)
    are_plain: bool = field(init=False, repr=False)
    have_more: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = self.text, self.html, self.url, self.title, self.id
        are_plain = self.encoding is None and "." not in "".join(own)
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "are_plain", are_plain)
        object.__setattr__(self, "have_more", bool(self.others or self.required or self.compare))

    @property
    def names(self) -> tuple[str, ...]:
        own = self.id, self.url, self.title, self.text, self.html
        return (*own, *self.compare, *self.others)

    def check(self, found: Iterable[str], file: str) -> None:
        """Check that a table has the columns.

        Raises:
            ValueError: neither text nor markup is there, or a column that the user has named.
        """
        names = list(found)
        if self.text not in names and self.html not in names:
            raise ValueError(f"{file}: {self.expected(names)}")
        for name in sorted(self.required - set(names)):
            raise ValueError(f"{file}: no column `{name}`{nearest(name, names)}")

    def expected(self, names: Iterable[str]) -> str:
        """A sentence for a row that has neither text nor markup."""
        return (
            f"expected a field `{self.text}` or `{self.html}` that is a string"
            f"{nearest(self.text, names)}"
        )


_SHOWN_CHARACTERS = 100


def nearest(name: str, names: Iterable[str]) -> str:
    """Return which of `names` may have been meant by one that is not among them.

    >>> nearest("text", ["Text", "id"])
    '; the nearest is `Text` (all: `Text`, `id`)'
    """
    known = [str(each)[:_SHOWN_CHARACTERS] for each in names if each != name]
    if not known:
        return ""
    folded = {each.casefold(): each for each in reversed(known)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    shown = ", ".join(f"`{each}`" for each in known[:10]) + (", …" if len(known) > 10 else "")
    if not close:
        return f"; columns: {shown}"
    return f"; the nearest is `{folded[close[0]]}` (all: {shown})"


class Fields(NamedTuple):
    """What a row says, by the columns that count.

    Attributes:
        id: as given; None: it has none.
        text: None: it is to be taken out of `html`.
        others: the values of `Columns.others`.
        present: which of `Columns.required` the row has.
        names: of all its columns, where it lacks one of these.
        key: of the values of `Columns.compare`, see `Document.key`.
    """

    id: Any
    url: str | None
    title: str
    text: str | None
    html: str | None
    others: tuple[Any, ...] = ()
    present: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    key: str = ""


class NoTextError(ValueError):
    """A row has neither text nor markup; `fields` is what else it says."""

    def __init__(self, reason: str, fields: Fields) -> None:
        super().__init__(reason)
        self.fields = fields


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """The value of a column, or of a nested field; None: the row has neither.

    >>> value_at({"a.b": 1, "a": {"b": 2, "c": 3}}, "a.b"), value_at({"a": {"c": 3}}, "a.c")
    (1, 3)
    """
    if name in row or "." not in name:
        return row.get(name)
    value: Any = row
    for step in name.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _has(row: Mapping[str, Any], name: str) -> bool:
    """Has a row the column, or the field that it is a path to?"""
    if name in row or "." not in name:
        return name in row
    path, _, last = name.rpartition(".")
    parent = value_at(row, path)
    return isinstance(parent, Mapping) and last in parent


def fields_of(row: Mapping[str, Any], columns: Columns) -> Fields:
    """Read a row.

    Raises:
        NoTextError: it has neither text nor markup.
        ValueError: it has bytes that cannot be decoded.
        RecursionError: a value that counts is nested too deeply.
    """
    if columns.are_plain:
        text, html, url, title, name = map(row.get, columns.own)
    else:
        text, html, url, title, name = (
            _decoded(value_at(row, each), each, columns.encoding) for each in columns.own
        )
    if html and text == "" and isinstance(html, str):
        text = None  # in CSV an empty cell is all that says that there is none
    has_text = isinstance(text, str)
    fields = Fields(
        None if name == "" else name,
        url if url and isinstance(url, str) else None,
        str(title) if title else "",
        text if has_text else None,
        None if has_text or not isinstance(html, str) else html,
    )
    if columns.have_more:
        present = frozenset(name for name in columns.required if _has(row, name))
        fields = fields._replace(
            others=tuple(value_at(row, each) for each in columns.others),
            present=present,
            names=() if len(present) == len(columns.required) else tuple(map(str, row)),
            key=key_of({name: value_at(row, name) for name in columns.compare}),
        )
    if fields.text is None and fields.html is None:
        raise NoTextError(_why_no_text(row, text, columns), fields)
    return fields


def _why_no_text(row: Mapping[str, Any], text: Any, columns: Columns) -> str:
    if text is not None:
        remedy = "; --encoding reads texts in it" if isinstance(text, bytes) else ""
        return f"expected a string in `{columns.text}`, found {type(text).__name__}{remedy}"
    if _has(row, columns.text) or _has(row, columns.html):
        return f"`{columns.text}` is empty (null)"
    return columns.expected(row)


def _decoded(value: Any, name: str, encoding: str | None) -> Any:
    """A value as it is, or the text that its bytes are in this encoding."""
    if encoding is None or not isinstance(value, bytes):
        return value
    try:
        return value.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"`{name}` is not {encoding} ({error.reason})") from None
